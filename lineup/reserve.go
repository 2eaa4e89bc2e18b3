package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// reserved is a folder that this lineup alone writes to.
type reserved struct {
	path string
	lock *os.File
}

// reserve takes the folder, or one of its own inside where another lineup is at work in it.
func reserve(path string) (reserved, error) {
	for _, candidate := range []string{path, filepath.Join(path, "beside-"+strconv.Itoa(os.Getpid()))} {
		if err := os.MkdirAll(candidate, 0o755); err != nil {
			return reserved{}, fmt.Errorf("make folder: %w", err)
		}
		lock, err := os.OpenFile(filepath.Join(candidate, ".lock"), os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return reserved{}, fmt.Errorf("lock folder: %w", err)
		}
		// The kernel gives the lock back when this process ends, however it ends.
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return reserved{candidate, lock}, nil
		}
		_ = lock.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return reserved{}, fmt.Errorf("lock folder %s: %w", candidate, err)
		}
	}
	return reserved{}, fmt.Errorf("lineups are at work in %s: name another folder by -out", path)
}

func (r reserved) release() { _ = r.lock.Close() }

const (
	// cgroupRoot is where cgroups are, with one folder per controller in version 1.
	cgroupRoot = "/sys/fs/cgroup"
	// groupPrefix begins the name of a cgroup that a scenario makes; the lineup's pid follows.
	groupPrefix = "culprit-lineup-"
)

// groupName is what {group} stands for: two lineups at the same time have cgroups of their own.
func groupName() string { return groupPrefix + strconv.Itoa(os.Getpid()) }

// removeLeftGroups removes the cgroups of lineups that were killed before their cleanup.
// One that still has processes stays: the kernel refuses.
func removeLeftGroups(root string) {
	for _, pattern := range []string{groupPrefix + "*", "*/" + groupPrefix + "*"} {
		groups, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, group := range groups {
			digits, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(group), groupPrefix), "-")
			pid, err := strconv.Atoi(digits)
			if err == nil && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
				_ = unix.Rmdir(group)
			}
		}
	}
}
