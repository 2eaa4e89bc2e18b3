package host

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// OwnGroup finds the directory of culprit's own cgroup in the version 2 hierarchy.
func OwnGroup(root string) (string, error) {
	own, err := groupOf(root, "self")
	if err != nil {
		return "", fmt.Errorf("find own cgroup: %w", err)
	}
	return own, nil
}

// GroupOf finds the directory of a process's cgroup in the version 2 hierarchy.
func GroupOf(root string, pid int) (string, error) {
	found, err := groupOf(root, strconv.Itoa(pid))
	if err != nil {
		return "", fmt.Errorf("find cgroup of process %d: %w", pid, err)
	}
	return found, nil
}

func groupOf(root, process string) (string, error) {
	membership, err := os.ReadFile(filepath.Join(root, "proc", process, "cgroup"))
	if err != nil {
		return "", err
	}
	mounts, err := os.ReadFile(filepath.Join(root, "proc/self/mountinfo"))
	if err != nil {
		return "", err
	}
	own := ""
	for line := range strings.Lines(string(membership)) {
		if path, found := strings.CutPrefix(strings.TrimSpace(line), "0::"); found {
			own = path
		}
	}
	if own == "" || strings.HasPrefix(own, "/..") {
		return "", errors.New("none of version 2 within reach")
	}
	scanner := bufio.NewScanner(bytes.NewReader(mounts))
	for scanner.Scan() {
		before, after, found := strings.Cut(scanner.Text(), " - ")
		fields := strings.Fields(before)
		if !found || len(fields) < 5 || !strings.HasPrefix(after, "cgroup2 ") {
			continue
		}
		if inside, err := filepath.Rel(fields[3], own); err == nil && !strings.HasPrefix(inside, "..") {
			return filepath.Join(root, fields[4], inside), nil
		}
	}
	return "", errors.New("no cgroup2 file system is mounted")
}
