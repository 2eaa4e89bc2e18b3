// Package child runs culprit itself as a child: what reads files that others wrote is bounded in
// memory, time and output, and what acts is ended by an interrupt and has time to put everything
// back.
//
//	err := child.Child{Program: "/proc/self/exe", Args: []string{"explain", name}, Judges: true}.Run(ctx)
//
// Where its parent is killed, the kernel ends it.
package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/report"
)

// Limits of a child that judges files of the library: they may be hostile, and the server has to
// stay.
const (
	judgeTime   = 3 * time.Minute
	judgeMemory = 3 << 30 // of private memory
	judgeFile   = 1 << 30 // of what it writes
	judgeNice   = 10
	graceTime   = time.Minute // from the interrupt to the kill
	saidMax     = 64 << 10    // of what a child prints is kept
)

// Child is one run of culprit itself.
type Child struct {
	Program string // the executable
	Args    []string
	Dir     string
	Files   []*os.File // its descriptors 3, 4, …
	Stdout  io.Writer  // nil: nobody reads what it prints
	// Judges bounds memory, files and time: it reads what others wrote and acts on nothing. What
	// acts is ended by an interrupt and has time to put everything back.
	Judges bool
	Begun  func() // told when it has its descriptors; nil: nobody
}

// Errors of children that are not what they said.
var (
	ErrTooLong = fmt.Errorf("it took longer than %v", judgeTime)
	errMemory  = fmt.Errorf("it needs more than the %d GiB of memory that a page may take", judgeMemory>>30)
)

// Run runs it to its end. The error is its own line, without its name; the status is 0 or 1 without
// one.
func (c Child) Run(ctx context.Context) error {
	if c.Judges {
		var end context.CancelFunc
		ctx, end = context.WithTimeoutCause(ctx, judgeTime, ErrTooLong)
		defer end()
	}
	return c.execute(ctx)
}

// execute starts the child and waits. The kernel ends the child when the thread that started it is
// gone, so that thread is kept until then: with a server that is killed nothing stays behind.
func (c Child) execute(ctx context.Context) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	said := &lastBytes{}
	command := exec.CommandContext(ctx, c.Program, c.Args...)
	command.Args[0] = "culprit"
	command.Dir, command.ExtraFiles, command.Stdout, command.Stderr = c.Dir, c.Files, c.Stdout, said
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	command.WaitDelay = graceTime
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGINT) }
	if c.Judges {
		command.Env = append(os.Environ(), fmt.Sprintf("GOMEMLIMIT=%d", judgeMemory/3*2), "GOMAXPROCS=2")
		command.SysProcAttr.Pdeathsig = syscall.SIGKILL
		command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
		command.WaitDelay = time.Second
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", c.Args[0], err)
	}
	if c.Begun != nil {
		c.Begun()
	}
	if c.Judges {
		if err := confine(command.Process.Pid); err != nil {
			_ = command.Cancel() // Wait tells that it ended
			_ = command.Wait()
			return err
		}
	}
	err := command.Wait()
	return c.verdict(ctx, err, said.String())
}

// confine bounds a child that has just been started and has read nothing yet that matters.
func confine(pid int) error {
	for resource, limit := range map[int]uint64{unix.RLIMIT_DATA: judgeMemory, unix.RLIMIT_FSIZE: judgeFile,
		unix.RLIMIT_CORE: 0, unix.RLIMIT_CPU: uint64(judgeTime/time.Second) * 2} {
		bound := &unix.Rlimit{Cur: limit, Max: limit}
		if err := unix.Prlimit(pid, resource, bound, nil); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("bound what a page may take: %w", err)
		}
	}
	// Trials of an investigation may be running: what is only looked at gives way.
	if err := unix.Setpriority(unix.PRIO_PGRP, pid, judgeNice); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("lower the priority of a page: %w", err)
	}
	return nil
}

// verdict makes one line of how a child ended.
func (c Child) verdict(ctx context.Context, err error, said string) error {
	var failed *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && c.Judges:
		return context.Cause(ctx)
	case errors.As(err, &failed) && failed.ExitCode() == 1 && !strings.Contains(said, "culprit: "):
		return nil // the answer is "worse"
	case c.Judges && (strings.Contains(said, "out of memory") || strings.Contains(said, "cannot allocate memory")):
		return errMemory
	}
	if line := lineOf(said); line != "" {
		return errors.New(line)
	}
	return fmt.Errorf("culprit %s: %w", c.Args[0], err)
}

// lineOf is the last line that culprit said as an error, without its name.
func lineOf(said string) string {
	found := ""
	for line := range strings.Lines(said) {
		if text, own := strings.CutPrefix(line, "culprit: "); own {
			found = report.Line(errors.New(strings.TrimSpace(text)))
		}
	}
	return found
}

// lastBytes keeps the end of what is written.
type lastBytes struct {
	mutex sync.Mutex
	text  []byte
}

// Write keeps the end.
func (l *lastBytes) Write(p []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.text = append(l.text, p[max(0, len(p)-saidMax):]...)
	if over := len(l.text) - saidMax; over > 0 {
		l.text = append(l.text[:0], l.text[over:]...)
	}
	return len(p), nil
}

func (l *lastBytes) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return string(bytes.ToValidUTF8(l.text, []byte("?")))
}
