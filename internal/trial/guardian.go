package trial

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// guardianScript outlives culprit: its standard input is a pipe that only culprit holds open. Each
// line names the process group of the run that is on, 0 between runs; or one of a server that is up
// beside the runs ("up 123"), or is no more ("down 123"). When the pipe ends without the word
// "done", culprit has been killed, and the guardian ends what it left running.
const guardianScript = `trap '' HUP INT QUIT TERM
running=0 servers=' '
while read -r word group; do
	case $word in
	done) exit 0 ;;
	up) servers="$servers$group " ;;
	down) servers="${servers%% $group *} ${servers#* $group }" ;;
	*) running=$word ;;
	esac
done
for group in $running $servers; do
	if [ "$group" -gt 1 ]; then kill -9 "-$group"; fi
done
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

// serves tells the guardian that the process group of a server is up, or is no more.
func (g *guardian) serves(processGroup int, up bool) error {
	word := "down"
	if up {
		word = "up"
	}
	if _, err := fmt.Fprintf(g.lines, "%s %d\n", word, processGroup); err != nil {
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
