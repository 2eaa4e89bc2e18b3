// Package child starts what a case runs so that it dies with the case: after a kill -9 of the case
// culprit must not go on with the experiment. Culprit's own guardian then puts back what was
// changed.
//
//	child.Bind()
//	command := child.Command(ctx, "bin/culprit", "try", …)
package child

import (
	"context"
	"os/exec"
	"runtime"
	"syscall"
)

// Bind keeps the calling goroutine on its thread. The kernel sends the signal when the thread ends
// that started the child, not the process (prctl(2)), so main calls it first and starts all
// children itself.
func Bind() { runtime.LockOSThread() }

// Unbind undoes one Bind, where the children have ended.
func Unbind() { runtime.UnlockOSThread() }

// Command is exec.CommandContext for a child that is killed when its starter ends.
func Command(ctx context.Context, program string, words ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, program, words...)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return command
}
