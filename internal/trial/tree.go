package trial

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/host"
)

// tree is what a run started: every child that culprit got since the tree was begun, and everything
// below those. culprit is a subreaper, so that a process whose parent has ended becomes a child of
// culprit instead of getting lost; and it waits for each by its own pid, so that other children
// (the recorder) are left to whom they belong to.
type tree struct {
	self   int
	others map[int]bool // children of culprit that are not of the tree
	group  *group
	beside func() map[int]bool // processes of servers that are up beside the run; nil: none
	// What was reaped so far.
	usage        unix.Rusage
	leaderPeakKB int64
	peakKB       int64 // of the other processes
	killed       int
}

// killTimeout is how long the kernel may take to end a killed tree; a process in an uninterruptible
// wait needs longer.
const killTimeout = 10 * time.Second

// newTree begins a tree: children that culprit has now are not of it.
func newTree(spared []int, group *group) *tree {
	t := &tree{self: os.Getpid(), others: map[int]bool{}, group: group}
	for _, pid := range spared {
		t.others[pid] = true
	}
	for _, pid := range host.Children(t.self) {
		t.others[pid] = true
	}
	return t
}

// roots lists the children of culprit that are of the tree.
func (t *tree) roots() []int {
	children := host.Children(t.self)
	if t.beside != nil && slices.ContainsFunc(children, func(pid int) bool { return !t.others[pid] }) {
		for pid := range t.beside() { // a server's worker whose parent has just ended
			t.others[pid] = true
		}
	}
	return slices.DeleteFunc(children, func(pid int) bool { return t.others[pid] })
}

// descendants lists the whole tree as it is now.
func (t *tree) descendants() []int {
	seen := map[int]bool{}
	queue := t.roots()
	var all []int
	for len(queue) > 0 {
		pid := queue[0]
		queue = queue[1:]
		if seen[pid] || t.others[pid] {
			continue
		}
		seen[pid] = true
		all = append(all, pid)
		queue = append(queue, host.Children(pid)...)
	}
	return all
}

// kill ends the tree: the process group, the cgroup, and what is left, one by one. The leader must
// not have been reaped yet: as long as it is a zombie its number cannot belong to another process
// group.
func (t *tree) kill(leader int) {
	unix.Kill(-leader, unix.SIGKILL)
	t.group.kill()
	for _, pid := range t.descendants() {
		unix.Kill(pid, unix.SIGKILL)
	}
}

// reap waits for the leader, which has ended, and then kills and waits for everything that outlived
// it.
func (t *tree) reap(leader int) (unix.WaitStatus, error) {
	// Killed before the leader is reaped: see kill.
	t.kill(leader)
	status, usage, err := wait(leader, 0)
	if err != nil {
		return status, fmt.Errorf("wait for process %d: %w", leader, err)
	}
	t.leaderPeakKB = usage.Maxrss
	t.add(usage)
	return status, t.sweep()
}

// sweep kills and waits until no process of the tree is left.
func (t *tree) sweep() error {
	deadline := time.Now().Add(killTimeout)
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 20*time.Millisecond) {
		reaped := false
		for _, pid := range t.roots() {
			unix.Kill(pid, unix.SIGKILL)
			status, usage, err := wait(pid, unix.WNOHANG)
			if errors.Is(err, unix.EAGAIN) {
				continue
			}
			reaped = true
			if err != nil {
				t.others[pid] = true // somebody else waited for it
				continue
			}
			if status.Signaled() && status.Signal() == unix.SIGKILL {
				t.killed++
			}
			t.peakKB = max(t.peakKB, usage.Maxrss)
			t.add(usage)
		}
		left := t.descendants()
		if len(left) == 0 {
			return nil
		}
		for _, pid := range left {
			unix.Kill(pid, unix.SIGKILL)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("kill process tree: process %d (%s) has not ended after %s; it waits in the kernel",
				left[0], processName(left[0]), killTimeout)
		}
		if !reaped {
			time.Sleep(pause)
		}
	}
}

// wait reaps one process; EAGAIN when it has not ended.
func wait(pid, options int) (unix.WaitStatus, unix.Rusage, error) {
	for {
		var status unix.WaitStatus
		var usage unix.Rusage
		got, err := unix.Wait4(pid, &status, options, &usage)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return status, usage, err
		case got == 0:
			return status, usage, unix.EAGAIN
		}
		return status, usage, nil
	}
}

// add sums up what the kernel charged to a process and to the descendants that it waited for.
func (t *tree) add(usage unix.Rusage) {
	t.usage.Utime = unix.NsecToTimeval(t.usage.Utime.Nano() + usage.Utime.Nano())
	t.usage.Stime = unix.NsecToTimeval(t.usage.Stime.Nano() + usage.Stime.Nano())
	t.usage.Minflt += usage.Minflt
	t.usage.Majflt += usage.Majflt
	t.usage.Nvcsw += usage.Nvcsw
	t.usage.Nivcsw += usage.Nivcsw
}

// processName returns the name of a process for a message.
func processName(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return "gone"
	}
	return oneLine(string(text), 16)
}
