package record

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"culprit/internal/host"
)

// The words that name what runs already, before a colon.
const (
	namedPid    = "pid"
	namedCgroup = "cgroup"
	namedUnit   = "unit"
	namedPort   = "port"
)

// ParseTarget reads what runs already: pid:4711, cgroup:DIR, unit:NAME of systemd, or port:8080 for
// the process that listens there with all below it. named is false where a text is none of these,
// but a command.
func ParseTarget(text string) (target Target, named bool, err error) {
	kind, name, found := strings.Cut(text, ":")
	if !found || strings.ContainsAny(kind, " \t/") ||
		!slices.Contains([]string{namedPid, namedCgroup, namedUnit, namedPort}, kind) {
		return Target{}, false, nil
	}
	if name == "" {
		return Target{}, true, fmt.Errorf("%q names nothing; give pid:N, cgroup:DIR, unit:NAME or port:N", text)
	}
	target, err = Target{Named: text}.Find()
	return target, true, err
}

// Find looks again for what was named: a service that was restarted is another process by now.
func (t Target) Find() (Target, error) {
	kind, name, _ := strings.Cut(t.Named, ":")
	switch kind {
	case namedPid:
		pid, err := strconv.Atoi(name)
		if err != nil || pid <= 0 {
			return t, fmt.Errorf("%s: give the number of a process, such as pid:4711", t.Named)
		}
		return t.process(pid)
	case namedCgroup:
		t.Kind, t.Cgroup = "cgroup", name
		return t, t.checkCgroup()
	case namedUnit:
		folder, err := unitGroup("/", name)
		if err != nil {
			return t, err
		}
		t.Kind, t.Cgroup = "cgroup", folder
		return t, t.checkCgroup()
	case namedPort:
		port, err := strconv.Atoi(name)
		if err != nil || port <= 0 || port > 65535 {
			return t, fmt.Errorf("%s: give a TCP port, such as port:8080", t.Named)
		}
		pid, err := listenerRoot(port)
		if err != nil {
			return t, err
		}
		return t.process(pid)
	}
	return t, nil
}

// process makes the target a process with all below it.
func (t Target) process(pid int) (Target, error) {
	if fields := host.StatFields(pid); len(fields) == 0 || fields[0] == "Z" {
		return t, fmt.Errorf("no process %d; `ps` lists those that run", pid)
	}
	t.Kind, t.Pid = "pid", pid
	return t, nil
}

func (t Target) checkCgroup() error {
	if _, err := os.Stat(filepath.Join(t.Cgroup, "cgroup.procs")); err != nil {
		return fmt.Errorf("%s is no cgroup; give its folder below /sys/fs/cgroup", t.Cgroup)
	}
	if pids, err := cgroupPids(t.Cgroup); err != nil {
		return err
	} else if slices.Contains(pids, os.Getpid()) {
		return fmt.Errorf("culprit itself is in cgroup %s: name one that holds the service alone", t.Cgroup)
	}
	return nil
}

// Pids lists the processes of a target as they are now.
func (t Target) Pids() ([]int, error) { return targetPids(t) }

// listenerRoot is the process above all others that listen on a port: a master's workers share its
// socket.
func listenerRoot(port int) (int, error) {
	pids, err := host.WhoListens("/", port)
	if err != nil {
		return 0, err
	}
	// A service manager that holds the socket for a service that was started by it is not meant.
	if rest := slices.DeleteFunc(slices.Clone(pids), func(pid int) bool { return pid == 1 }); len(rest) > 0 {
		pids = rest
	}
	var roots []int
	for _, pid := range pids {
		if !slices.ContainsFunc(pids, func(other int) bool { return other != pid && isBelow(pid, other) }) {
			roots = append(roots, pid)
		}
	}
	if len(roots) == 1 {
		return roots[0], nil
	}
	var names []string
	for _, pid := range roots[:min(len(roots), 3)] {
		names = append(names, fmt.Sprintf("%d", pid))
	}
	return 0, fmt.Errorf("port %d is listened on by %d processes that have no parent in common (%s …): give pid:N of one "+
		"of them, or cgroup:DIR of all", port, len(roots), strings.Join(names, ", "))
}

// isBelow tells whether a process descends from another.
func isBelow(pid, above int) bool {
	for range 64 {
		fields := host.StatFields(pid)
		if len(fields) < 2 {
			return false
		}
		parent, err := strconv.Atoi(fields[1])
		if err != nil || parent <= 1 {
			return false
		}
		if parent == above {
			return true
		}
		pid = parent
	}
	return false
}

// unitDepth is how deep below a hierarchy's top a unit's cgroup may lie.
const unitDepth = 8

// unitGroup finds the cgroup of a unit of systemd, which is called like the unit.
func unitGroup(root, name string) (string, error) {
	if name == "" || strings.ContainsAny(name, "/\x00") {
		return "", fmt.Errorf("unit:%s: give the name of a unit, such as unit:nginx.service", name)
	}
	if !strings.Contains(name, ".") {
		name += ".service"
	}
	top, found := filepath.Join(root, "sys/fs/cgroup"), ""
	_ = filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || !entry.IsDir():
			return nil // one that was removed meanwhile
		case strings.Count(strings.TrimPrefix(path, top), "/") > unitDepth:
			return filepath.SkipDir
		case entry.Name() == name:
			// Below the first match are the unit's own.
			if pids, err := cgroupPids(path); err == nil && len(pids) > 0 {
				found = path
				return filepath.SkipAll
			}
			return filepath.SkipDir
		}
		return nil
	})
	if found != "" {
		return found, nil
	}
	for _, folder := range []string{"etc/systemd/system", "run/systemd/system", "usr/lib/systemd/system",
		"lib/systemd/system"} {
		if _, err := os.Stat(filepath.Join(root, folder, name)); err == nil {
			return "", fmt.Errorf("unit %s does not run; `systemctl status %s` says why", name, name)
		}
	}
	return "", fmt.Errorf("no unit %s runs, and none of that name is installed; `systemctl list-units` lists them", name)
}
