package trial

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// holdScript waits for one line on descriptor 3, then becomes the command.
const holdScript = `read -r _ <&3 || exit 125; exec 3<&-; exec "$@"`

// Held is a command with its caller's own input and output, held before it
// begins: for a recording that must see it from its first instruction.
type Held struct {
	command *exec.Cmd
	open    *os.File
}

// HoldWords starts a shell that becomes the command given as words once Release
// is called, with this process's input and standard error, and stdout. A command that does not
// exist shows then, as exit status 127.
func HoldWords(words []string, stdout io.Writer) (*Held, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make gate: %w", err)
	}
	defer read.Close()
	command := exec.Command("/bin/sh", append([]string{"-c", holdScript, "/bin/sh"}, words...)...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, stdout, os.Stderr
	command.ExtraFiles = []*os.File{read}
	if err := command.Start(); err != nil {
		write.Close()
		return nil, fmt.Errorf("start /bin/sh: %w", err)
	}
	return &Held{command: command, open: write}, nil
}

// Pid of the process that becomes the command.
func (h *Held) Pid() int { return h.command.Process.Pid }

// Release lets the command begin.
func (h *Held) Release() error {
	defer h.open.Close()
	if _, err := h.open.Write([]byte{'\n'}); err != nil {
		return fmt.Errorf("open gate: %w", err)
	}
	return nil
}

// Cancel ends a command that was not released.
func (h *Held) Cancel() {
	h.open.Close()
	_ = h.command.Wait() // 125: the gate was closed
}

// Signal passes a signal on to the command.
func (h *Held) Signal(signal os.Signal) {
	_ = h.command.Process.Signal(signal) // it may have ended
}

// Wait returns the command's exit status as a shell would: 128 + n after signal n.
func (h *Held) Wait() (int, error) {
	err := h.command.Wait()
	if err == nil {
		return 0, nil
	}
	status, ok := h.command.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case !ok:
		return 0, fmt.Errorf("wait for command: %w", err)
	case status.Signaled():
		return 128 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}
