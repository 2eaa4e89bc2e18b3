package symbol

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrForeign marks a map that belongs to somebody who may not name this process's code.
var ErrForeign = errors.New("its owner is neither the process's user nor root")

// OpenJITMap opens the map of a process's own code (see JITMap): /tmp/perf-N.map in the process's
// root, N its number in its own namespace, else /tmp/perf-PID.map of this host, where an agent
// outside of a container puts it. proc is where procfs is mounted, "/proc".
//
// Anybody can write to /tmp: the file must be a regular one, no link, and belong to the process's
// user or to root; links on the way to it stay within the process's root. Errors: fs.ErrNotExist,
// ErrForeign.
func OpenJITMap(proc string, pid int) (*os.File, error) {
	folder := fmt.Sprintf("%s/%d", proc, pid)
	inner, user, err := Identity(folder)
	if err != nil {
		return nil, err
	}
	file, err := openMapBelow(folder+"/root", inner, user)
	if errors.Is(err, os.ErrNotExist) && inner != pid {
		file, err = openMapBelow("/", pid, user)
	}
	if err != nil {
		return nil, fmt.Errorf("open the JIT map of process %d: %w", pid, err)
	}
	return file, nil
}

// openMapBelow opens the map of a number below a root.
func openMapBelow(root string, number int, user uint32) (*os.File, error) {
	file, err := openInRoot(root, fmt.Sprintf("/tmp/perf-%d.map", number), unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	status, err := file.Stat()
	if err == nil && !status.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err == nil {
		owner := status.Sys().(*syscall.Stat_t).Uid
		if owner != user && owner != 0 {
			err = ErrForeign
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// maxStatus bounds what is read of a process's status file.
const maxStatus = 64 << 10

// Identity reads, out of a process's folder below /proc or a thread's below that, its number in its
// innermost namespace and its effective user.
func Identity(folder string) (inner int, user uint32, err error) {
	file, err := os.Open(folder + "/status")
	if err != nil {
		return 0, 0, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxStatus))
	if err != nil {
		return 0, 0, err
	}
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		switch {
		case len(fields) < 2:
		case string(fields[0]) == "NSpid:":
			inner, err = strconv.Atoi(string(fields[len(fields)-1]))
		case string(fields[0]) == "Uid:" && len(fields) > 2:
			var effective uint64
			effective, err = strconv.ParseUint(string(fields[2]), 10, 32)
			user = uint32(effective)
		}
		if err != nil {
			return 0, 0, fmt.Errorf("read %s/status: %w", folder, err)
		}
	}
	if inner == 0 {
		return 0, 0, fmt.Errorf("read %s/status: no NSpid (kernel before 4.1)", folder)
	}
	return inner, user, nil
}
