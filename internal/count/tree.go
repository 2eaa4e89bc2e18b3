package count

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/counters"
)

// treeLimit bounds how many cgroups are looked at.
const treeLimit = 1 << 17

// tree knows the paths of cgroups by their ids, which are the inode numbers of their directories.
type tree struct {
	mount string
	paths map[uint64]string
	// unknown are ids that no directory has: a cgroup that was removed, or one outside of our
	// namespace.
	unknown map[uint64]bool
}

// Mount is where the cgroups of version 2 are: below "root".
func Mount(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join("/", root, "proc/self/mounts"))
	if err != nil {
		return "", fmt.Errorf("find cgroups: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 2 && words[2] == "cgroup2" {
			return words[1], nil
		}
	}
	return "", errors.New("cgroup 2 is mounted nowhere, and by cgroup means one of version 2; " +
		"mount it (mount -t cgroup2 none DIR), or count by process")
}

func newTree(root string) (*tree, error) {
	mount, err := Mount(root)
	if err != nil {
		return nil, err
	}
	t := &tree{mount: mount, paths: map[uint64]string{}, unknown: map[uint64]bool{}}
	t.walk()
	return t, nil
}

// walk looks at all cgroups. Those that were removed keep their paths.
func (t *tree) walk() {
	seen := 0
	_ = filepath.WalkDir(t.mount, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return nil // removed meanwhile; files are of no interest
		}
		if seen++; seen > treeLimit {
			return fs.SkipAll
		}
		if id, err := idOf(name); err == nil {
			t.paths[id] = bpf.Clean(path.Join("/", strings.TrimPrefix(name, t.mount)))
		}
		return nil
	})
}

// idOf is the id of the cgroup with this directory.
func idOf(folder string) (uint64, error) {
	info, err := os.Lstat(folder)
	if err != nil {
		return 0, err
	}
	status, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("%s has no inode number", folder)
	}
	return status.Ino, nil
}

// path of a cgroup; one that was made and removed between two looks is told by its id.
func (t *tree) path(id uint64) string {
	if found, ok := t.paths[id]; ok {
		return found
	}
	if !t.unknown[id] {
		t.walk()
		if found, ok := t.paths[id]; ok {
			return found
		}
		t.unknown[id] = true
	}
	return "(removed " + strconv.FormatUint(id, 10) + ")"
}

// within tells whether a cgroup is another one or below it.
func within(key, above string) bool {
	return key == above || above == "/" && strings.HasPrefix(key, "/") || strings.HasPrefix(key, above+"/")
}

// nested adds to each cgroup what is below it.
func nested(own map[string]*Row) map[string]*Row {
	all := map[string]*Row{}
	at := func(key string, like *Row) *Row {
		if all[key] == nil {
			all[key] = like.empty(key)
		}
		return all[key]
	}
	for key, row := range own {
		alone := at(key, row)
		alone.merge(row)
		alone.own = row.windows
		above := key
		switch {
		case key == IdleKey || key == RestKey || key == "/":
			continue
		case !strings.HasPrefix(key, "/"): // removed: it was somewhere below
			above = "/" + key
		}
		for above != "/" {
			above = path.Dir(above)
			sum := at(above, row)
			sum.merge(row)
			sum.below = true
		}
	}
	for _, row := range all {
		if row.own == nil {
			row.own = row.empty(row.Key).windows
		}
	}
	return all
}

// empty is a row without counts for the same events.
func (r *Row) empty(key string) *Row {
	return &Row{Key: key, windows: make([]windows, len(r.windows))}
}

// there tells whether somebody still exists.
func (s *Session) there(who identity) bool {
	if s.options.By != ByCgroup {
		_, err := os.Lstat("/proc/" + strconv.FormatUint(who.ID, 10))
		return err == nil
	}
	found, known := s.tree.paths[who.ID]
	if !known {
		return false
	}
	id, err := idOf(filepath.Join(s.tree.mount, found))
	return err == nil && id == who.ID
}

// commOf is the name of a process or thread: as it is now, as it was when it was last named for one
// that has ended.
func commOf(who identity, row *counters.Row) string {
	text, err := os.ReadFile("/proc/" + strconv.FormatUint(who.ID, 10) + "/comm")
	if err != nil {
		return row.Comm
	}
	return bpf.Clean(strings.TrimSuffix(string(text), "\n"))
}
