package count

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Processes are those in a cgroup and below it.
func Processes(folder string) ([]int, error) {
	var pids []int
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() != "cgroup.procs" {
			return nil // a cgroup that was removed meanwhile
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil // a threaded cgroup has its processes above
		}
		for _, word := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list processes of %s: %w", folder, err)
	}
	if len(pids) == 0 {
		return nil, fmt.Errorf("no process is in %s or below; count it --by cgroup", folder)
	}
	return pids, nil
}
