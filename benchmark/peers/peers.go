// Package peers runs other tools beside what the benchmarks measure, and reads what the measured
// process and the host did meanwhile.
//
//	stop, err := peers.Start([]string{"strace", "-c", "-p", "PID", "-o", "FILE"}, pid, file, time.Second)
//	defer stop()
//
// ErrNotHere is the error of a tool that this host does not have or refuses.
package peers

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrNotHere says that a peer does not work on this host; its row is left out.
var ErrNotHere = errors.New("could not be run here")

// patience is how long a peer may take to end before it is killed, attachPatience how long to
// begin, and attachPause how often it is looked whether it has.
const (
	patience       = 20 * time.Second
	attachPatience = time.Minute
	// interruptPatience is how long it may take to end by an interrupt.
	interruptPatience = 5 * time.Second
	attachPause       = 100 * time.Millisecond
)

// Start starts a peer, gives it time to attach, and returns what ends it. Of the words PID stands
// for the process and FILE for an output file.
func Start(words []string, pid int, file string, attaches time.Duration) (stop func(), err error) {
	began := time.Now()
	return StartWhen(words, pid, file, func(int) bool { return time.Since(began) >= attaches })
}

// StartWhen starts a peer and waits until attached says of its process that it is at work: on a
// busy host the time that it takes varies much, and what is measured before is the process alone.
func StartWhen(words []string, pid int, file string, attached func(peer int) bool) (stop func(), err error) {
	named := slices.Clone(words)
	for i := range named {
		switch named[i] {
		case "PID":
			named[i] = strconv.Itoa(pid)
		case "FILE":
			named[i] = file
		}
	}
	var said bytes.Buffer
	command := exec.Command(named[0], named[1:]...)
	command.Stdout, command.Stderr = &said, &said
	command.SysProcAttr = EndsWithOwner()
	if err := command.Start(); errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("%w: %s is not installed", ErrNotHere, words[0])
	} else if err != nil {
		return nil, fmt.Errorf("start %s: %w", words[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	stop = func() {
		_ = command.Process.Signal(os.Interrupt) // it may have ended just now
		select {
		case <-ended:
			return
		case <-time.After(interruptPatience): // a shell's background jobs ignore interrupts, and so does what they start
			_ = command.Process.Signal(syscall.SIGTERM)
		}
		select {
		case <-ended:
		case <-time.After(patience):
			_ = command.Process.Kill()
			<-ended
		}
	}
	for until := time.Now().Add(attachPatience); !attached(command.Process.Pid); {
		select {
		case err := <-ended:
			return nil, fmt.Errorf("%w: %s ended at once (%v): %s", ErrNotHere, words[0], err, FirstLine(said.String()))
		case <-time.After(attachPause):
		}
		if time.Now().After(until) {
			stop()
			return nil, fmt.Errorf("%w: %s did not attach within %v", ErrNotHere, words[0], attachPatience)
		}
	}
	return stop, nil
}

// HasPrograms reports whether a process, or one below it, holds BPF programs that are attached to
// the kernel.
func HasPrograms(pid int) bool {
	infos, err := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	if err != nil {
		return false
	}
	for _, info := range infos {
		if text, err := os.ReadFile(info); err == nil && bytes.Contains(text, []byte("link_type:")) {
			return true
		}
	}
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return false
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // it has ended
		}
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil && HasPrograms(child) {
				return true
			}
		}
	}
	return false
}

// EndsWithOwner has the kernel end a child when this program is killed.
func EndsWithOwner() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// FirstLine is what of a tool's words is told.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// CPU is the CPU time of a process in ns, by its own clock (see clock_getcpuclockid).
func CPU(pid int) (int64, error) {
	var used unix.Timespec
	if err := unix.ClockGettime(int32(^pid)<<3|2, &used); err != nil {
		return 0, fmt.Errorf("read the CPU clock of process %d: %w", pid, err)
	}
	return used.Nano(), nil
}

// HostLoad is how many threads wanted to run in the last minute, on average.
func HostLoad() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	load, _, _ := strings.Cut(string(text), " ")
	return load
}
