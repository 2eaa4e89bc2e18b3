package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// pidWord stands for the process of a live side in the command of what watches it.
const pidWord = "{pid}"

const (
	monitorSettles = 2 * time.Second // until it has attached
	monitorStops   = 3 * time.Second // after an interrupt, until it is killed
)

// monitor is what watches a live side. It is no child of it: the side's processes are those below
// its own.
type monitor struct {
	command *exec.Cmd
	ended   chan error
}

// watch starts one and gives it time to attach; one that ends by itself is an error.
func watch(ctx context.Context, text, folder string, pid int) (*monitor, error) {
	text = strings.ReplaceAll(text, pidWord, strconv.Itoa(pid))
	m := &monitor{ended: make(chan error, 1),
		command: exec.CommandContext(context.WithoutCancel(ctx), "/bin/sh", "-c", text)}
	m.command.Dir = folder
	m.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var said tail
	m.command.Stderr = &said
	if err := m.command.Start(); err != nil {
		return nil, fmt.Errorf("start monitor: %w", err)
	}
	go func() { m.ended <- m.command.Wait() }()
	select {
	case err := <-m.ended:
		return nil, fmt.Errorf("the monitor %q ended: %v: %s", text, err, lastLines(said.String(), 3))
	case <-time.After(monitorSettles):
		return m, nil
	}
}

// stop interrupts it, as a user does, and kills what is left of it.
func (m *monitor) stop() {
	group := -m.command.Process.Pid
	_ = syscall.Kill(group, syscall.SIGINT) // it may have ended
	select {
	case <-m.ended:
	case <-time.After(monitorStops):
		_ = syscall.Kill(group, syscall.SIGKILL)
		<-m.ended
	}
}
