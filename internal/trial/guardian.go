package trial

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// guardianScript outlives culprit: its standard input is a pipe that only culprit holds open. Each
// line names the process group of the run that is on, 0 between runs. When the pipe ends without
// the word "done", culprit has been killed, and the guardian ends what it left running.
const guardianScript = `trap '' HUP INT QUIT TERM
running=0
while read -r word; do
	case $word in
	done) exit 0 ;;
	*) running=$word ;;
	esac
done
if [ "$running" -gt 1 ]; then kill -9 "-$running"; fi
[ -n "$1" ] || exit 0
echo 1 >"$1/cgroup.kill"
for _ in 1 2 3 4 5 6 7 8 9; do
	rmdir "$1"/*/*/* "$1"/*/* "$1"/*
	rmdir "$1" && exit 0
	sleep 0.1
done`

// guardian is a shell that kills the tree of a run when culprit itself is killed.
type guardian struct {
	pid   int
	lines *os.File
}

// newGuardian starts the shell, outside the runs' cgroup and in a process group of its own.
func newGuardian(groupPath string) (*guardian, error) {
	linesRead, linesWrite, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make guardian: %w", err)
	}
	defer linesRead.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		linesWrite.Close()
		return nil, fmt.Errorf("make guardian: %w", err)
	}
	defer null.Close()
	pid, err := syscall.ForkExec("/bin/sh", []string{"/bin/sh", "-c", guardianScript, "culprit-guardian", groupPath},
		&syscall.ProcAttr{
			Dir:   "/",
			Env:   []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
			Files: []uintptr{linesRead.Fd(), null.Fd(), null.Fd()},
			Sys:   &syscall.SysProcAttr{Setpgid: true},
		})
	if err != nil {
		linesWrite.Close()
		return nil, fmt.Errorf("start guardian: %w", err)
	}
	return &guardian{pid: pid, lines: linesWrite}, nil
}

// watch tells the guardian which process group runs now, 0 for none.
func (g *guardian) watch(processGroup int) error {
	if _, err := g.lines.WriteString(strconv.Itoa(processGroup) + "\n"); err != nil {
		return fmt.Errorf("tell guardian: %w", err)
	}
	return nil
}

// close lets the guardian go and waits for its end.
func (g *guardian) close() error {
	_, err := g.lines.WriteString("done\n")
	g.lines.Close()
	var status syscall.WaitStatus
	for {
		_, errWait := syscall.Wait4(g.pid, &status, 0, nil)
		if errWait == syscall.EINTR {
			continue
		}
		if err == nil {
			err = errWait
		}
		break
	}
	if err != nil {
		return fmt.Errorf("end guardian: %w", err)
	}
	return nil
}
