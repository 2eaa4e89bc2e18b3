package trial

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"culprit/internal/host"
)

// group is a cgroup (version 2) below the one that culprit runs in, with no controller turned on:
// it changes nothing for the command. It is what lets the kernel kill a tree in one step and count
// the CPU time of processes that nobody waits for. A nil group means that this host does not allow
// one.
type group struct {
	path      string
	directory *os.File
}

// newGroup makes the cgroup, or says why there is none.
func newGroup(root string, pid int) (*group, error) {
	parent, err := host.OwnGroup(root)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(parent, fmt.Sprintf("culprit-trial-%d", pid))
	// One of that name was left by an earlier process with the same number.
	if err := removeGroups(path); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("remove stale cgroup: %w", err)
	}
	g, err := makeGroup(path)
	if err != nil {
		return nil, err
	}
	if err := g.try(); err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

// try starts a shell inside, which a container's system call filter may not allow.
func (g *group) try() error {
	attributes := &syscall.ProcAttr{Sys: &syscall.SysProcAttr{}}
	g.enter(attributes.Sys)
	pid, err := syscall.ForkExec("/bin/sh", []string{"/bin/sh", "-c", ":"}, attributes)
	if err != nil {
		return fmt.Errorf("start a process in a cgroup: %w", err)
	}
	status, _, err := wait(pid, 0)
	if err != nil {
		return fmt.Errorf("start a process in a cgroup: %w", err)
	}
	if status != 0 {
		return fmt.Errorf("start a process in a cgroup: it ended with wait status %#x", int(status))
	}
	if _, counts := g.cpu(); !counts {
		return errors.New("start a process in a cgroup: it does not count CPU time")
	}
	return nil
}

// forRun makes a cgroup for one run inside that of the runner. Each run needs a fresh one: seen on
// Linux 6.18, a process that is started into a cgroup (CLONE_INTO_CGROUP) where cgroup.kill was
// ever written is killed at once, it seems because the kernel compares the kill counts of two
// different cgroups (cgroup_css_set_fork, kill_seq).
func (g *group) forRun(order int) (*group, error) {
	if g == nil {
		return nil, nil
	}
	return makeGroup(filepath.Join(g.path, fmt.Sprintf("run-%d", order)))
}

func makeGroup(path string) (*group, error) {
	if err := os.Mkdir(path, 0o755); err != nil {
		return nil, fmt.Errorf("make cgroup: %w", err)
	}
	directory, err := os.Open(path)
	if err != nil {
		_ = os.Remove(path) // an empty cgroup that stays costs nothing
		return nil, fmt.Errorf("open cgroup: %w", err)
	}
	return &group{path: path, directory: directory}, nil
}

// enter makes the kernel start a child inside the cgroup.
func (g *group) enter(attributes *syscall.SysProcAttr) {
	if g == nil {
		return
	}
	attributes.UseCgroupFD = true
	attributes.CgroupFD = int(g.directory.Fd())
}

// cpu returns the CPU time used in the cgroup since it was made.
func (g *group) cpu() (time.Duration, bool) {
	if g == nil {
		return 0, false
	}
	if text, err := os.ReadFile(filepath.Join(g.path, "cpuacct.usage")); err == nil { // of version 1
		nanos, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		return time.Duration(nanos), err == nil
	}
	text, err := os.ReadFile(filepath.Join(g.path, "cpu.stat"))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, "usage_usec "); found {
			micros, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			return time.Duration(micros) * time.Microsecond, err == nil
		}
	}
	return 0, false
}

// pids lists the processes in the cgroup and below it. Those that have ended and are not waited for
// are not among them.
func (g *group) pids() (pids []int) {
	if g == nil {
		return nil
	}
	_ = filepath.WalkDir(g.path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return nil // one that was removed meanwhile
		}
		text, _ := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		for _, word := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
		return nil
	})
	return pids
}

// kill ends every process in the cgroup in one step (Linux 5.14; before that the tree is killed one
// by one).
func (g *group) kill() {
	if g == nil {
		return
	}
	// What is left is killed one by one.
	_ = os.WriteFile(filepath.Join(g.path, "cgroup.kill"), []byte("1"), 0)
}

// close removes the cgroup with those that a command made below it.
func (g *group) close() error {
	if g == nil {
		return nil
	}
	g.kill()
	g.directory.Close()
	var err error
	// A killed process leaves its cgroup a moment after it can be waited for.
	for wait := time.Millisecond; wait < 500*time.Millisecond; wait *= 2 {
		if err = removeGroups(g.path); err == nil || os.IsNotExist(err) {
			return nil
		}
		time.Sleep(wait)
	}
	return fmt.Errorf("remove cgroup: %w", err)
}

func removeGroups(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			if err := removeGroups(filepath.Join(path, entry.Name())); err != nil {
				return err
			}
		}
	}
	return syscall.Rmdir(path)
}

// forServer makes a cgroup for one server inside that of the runner.
func (g *group) forServer(number int) (*group, error) {
	if g == nil {
		return nil, nil
	}
	return makeGroup(filepath.Join(g.path, fmt.Sprintf("server-%d", number)))
}
