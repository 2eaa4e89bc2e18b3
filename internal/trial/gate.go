package trial

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// gateScript holds the command until one line arrives on descriptor 3 and says on descriptor 4 that
// it is there. When culprit dies before it opens the gate, the read ends and the command never
// begins. The command replaces the gate's shell, so that its pid is known beforehand and nothing of
// the gate runs beside it.
const gateScript = `echo >&4; read -r _ <&3 || exit 125; exec 3<&- 4>&-; exec /bin/sh -c "$1"`

// gateTimeout is how long a shell may take to start on a host that is very busy.
const gateTimeout = 10 * time.Second

// gate is a command that is held before it begins.
type gate struct {
	pid  int
	open *os.File // one line written here lets the command begin
}

// holdCommand starts the gate's shell as the leader of a new process group, in the given cgroup if
// there is one.
func holdCommand(spec Spec, out *outputs, group *group) (*gate, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, fmt.Errorf("open standard input: %w", err)
	}
	defer null.Close()
	openRead, openWrite, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make gate: %w", err)
	}
	defer openRead.Close()
	thereRead, thereWrite, err := os.Pipe()
	if err != nil {
		openWrite.Close()
		return nil, fmt.Errorf("make gate: %w", err)
	}
	defer thereRead.Close()

	attributes := &syscall.ProcAttr{
		Dir: spec.Dir,
		Env: append(os.Environ(), spec.Env...),
		Files: []uintptr{null.Fd(), out.stdout.Fd(), out.stderr.Fd(),
			openRead.Fd(), thereWrite.Fd()},
		Sys: &syscall.SysProcAttr{Setpgid: true},
	}
	group.enter(attributes.Sys)
	pid, err := syscall.ForkExec("/bin/sh", []string{"/bin/sh", "-c", gateScript, "/bin/sh",
		cmp.Or(spec.Direct, spec.Command)}, attributes)
	thereWrite.Close()
	if err != nil {
		openWrite.Close()
		return nil, startError(spec, err)
	}
	held := &gate{pid: pid, open: openWrite}
	if err := held.awaitShell(thereRead); err != nil {
		openWrite.Close()
		return held, err
	}
	return held, nil
}

// startError names the limit of the kernel that a command text can meet.
func startError(spec Spec, err error) error {
	if errors.Is(err, syscall.E2BIG) {
		return fmt.Errorf("start command of %s: %w; put it into a script", spec.Side, err)
	}
	return fmt.Errorf("start /bin/sh for %s: %w", spec.Side, err)
}

// awaitShell returns when the gate's shell has started up.
func (g *gate) awaitShell(there *os.File) error {
	if err := there.SetReadDeadline(time.Now().Add(gateTimeout)); err != nil {
		return fmt.Errorf("wait for /bin/sh: %w", err)
	}
	var line [1]byte
	if n, err := there.Read(line[:]); n != 1 {
		return fmt.Errorf("wait for /bin/sh: it did not start: %w", err)
	}
	return nil
}

// release opens the gate and returns the time at which it did.
func (g *gate) release() (time.Time, error) {
	opened := time.Now()
	if _, err := g.open.Write([]byte{'\n'}); err != nil {
		return opened, fmt.Errorf("open gate: %w", err)
	}
	return opened, nil
}

// close forgets the gate; a command that was not released ends.
func (g *gate) close() { g.open.Close() }
