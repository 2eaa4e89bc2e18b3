package knob

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// hierarchy is one mounted tree of cgroups.
type hierarchy struct {
	folder  string // where it is mounted, below the root
	version int
}

// tableLimit bounds what is read of a table of mounts or cgroups, in bytes.
const tableLimit = 4 << 20

// hierarchyOf finds where a controller lives ("" for version 2 itself). Version 1 is
// asked first: a controller can be in one of them only.
func hierarchyOf(root, controller string) (hierarchy, error) {
	text, err := os.ReadFile(filepath.Join(root, "/proc/self/mounts"))
	if err != nil || len(text) > tableLimit {
		return hierarchy{}, fmt.Errorf("find cgroups: the table of mounts cannot be read: %v", err)
	}
	second := hierarchy{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 4 {
			continue
		}
		folder := unescape(fields[1])
		switch {
		case fields[2] == "cgroup" && controller != "" && slices.Contains(strings.Split(fields[3], ","), controller):
			return hierarchy{folder, 1}, nil
		case fields[2] == "cgroup2" && second.version == 0:
			second = hierarchy{folder, 2}
		}
	}
	if second.version == 0 {
		return hierarchy{}, fmt.Errorf("find cgroups: no cgroup file system with %s is mounted", controller)
	}
	return second, nil
}

// unescape undoes the octal escapes of /proc/mounts.
func unescape(text string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(text)
}

// pathOf is the cgroup of a process in a hierarchy, as below its mount.
func pathOf(root string, pid int, controller string, version int) (string, error) {
	file := filepath.Join(root, "/proc", fmt.Sprint(pid), "cgroup")
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("find the cgroup of process %d: %w", pid, err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) != 3 {
			continue
		}
		listed := slices.Contains(strings.Split(fields[1], ","), controller)
		if version == 1 && listed || version == 2 && fields[0] == "0" {
			if strings.HasPrefix(fields[2], "/..") {
				return "", errors.New("the process is in a cgroup outside this container's view")
			}
			return filepath.Clean(fields[2]), nil
		}
	}
	return "", fmt.Errorf("find the cgroup of process %d: %s does not name %s", pid, file, controller)
}

// groupFolder is the folder of a target's cgroup for a controller, below the root.
func groupFolder(target Target, controller string) (string, hierarchy, error) {
	tree, err := hierarchyOf(target.Root, controller)
	if err != nil {
		return "", tree, err
	}
	path := target.Cgroup
	switch {
	case path != "":
		path = withoutMount(target.Root, path)
	case target.Pid > 0:
		if path, err = pathOf(target.Root, target.Pid, controller, tree.version); err != nil {
			return "", tree, err
		}
	default:
		return "", tree, errors.New("it is a knob of cgroups: name one (--cgroup PATH), or a command to start")
	}
	folder := filepath.Join(tree.folder, filepath.Clean("/"+path))
	if !target.exists(folder) {
		return "", tree, fmt.Errorf("there is no cgroup %s", filepath.Join(target.Root, folder))
	}
	return folder, tree, nil
}

// withoutMount turns the folder of a cgroup in any hierarchy into its path there.
func withoutMount(root, path string) string {
	path = filepath.Clean("/" + path)
	text, err := os.ReadFile(filepath.Join(root, "/proc/self/mounts"))
	if err != nil {
		return path
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[2] != "cgroup" && fields[2] != "cgroup2" {
			continue
		}
		if below, inside := strings.CutPrefix(path, unescape(fields[1])); inside && (below == "" || below[0] == '/') {
			return filepath.Clean("/" + below)
		}
	}
	return path
}
