package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// interrupted is why the context ended: the signal that asked for it.
type interrupted struct{ signal os.Signal }

func (i interrupted) Error() string {
	return fmt.Sprintf("interrupted (signal %q): what was begun is ended and put back", i.signal)
}

// untilSignal returns a context that the first signal ends, so that everything
// is put back in order. The second signal kills at once, but for an echo of the first: guardians
// put back what is left then. A signal that was ignored at the start (nohup) stays ignored.
func untilSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	for _, wanted := range []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP} {
		if !signal.Ignored(wanted) {
			signal.Notify(signals, wanted)
		}
	}
	go func() {
		select {
		case got := <-signals:
			if got != unix.SIGTERM {
				signal.Stop(signals)
			}
			cancel(interrupted{got})
			other := awaitEchoes(signals, got)
			signal.Stop(signals) // the kernel's own way with the next one
			if other != nil {
				_ = unix.Kill(unix.Getpid(), other.(unix.Signal)) // which it would have ended by
			}
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// echoes is how long a SIGTERM may come again without being another one. Chosen: a server with
// dozens of threads ends within a tenth of it.
const echoes = time.Second / 2

// awaitEchoes passes over what is the same SIGTERM again. The kernel sends the signal of a parent's
// death (PR_SET_PDEATHSIG) when the thread ends that started the child, and once more for each
// other thread that the child is handed on to meanwhile (forget_original_parent in kernel/exit.c).
// It returns at once where another signal comes, with that.
func awaitEchoes(signals <-chan os.Signal, first os.Signal) (other os.Signal) {
	if first != unix.SIGTERM {
		return nil
	}
	over := time.After(echoes)
	for {
		select {
		case got := <-signals:
			if got != first {
				return got
			}
		case <-over:
			return nil
		}
	}
}

// interruption returns the signal that ended a context, if one did.
func interruption(ctx context.Context) (interrupted, bool) {
	var by interrupted
	ok := errors.As(context.Cause(ctx), &by)
	return by, ok
}

// inForeground tells whether this process belongs to the group that the
// terminal sends its signals to: a command started by it has them already.
func inForeground() bool {
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer terminal.Close()
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
