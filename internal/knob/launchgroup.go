package knob

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Launch prepares settings for a new command. Those of a cgroup take one of our own
// for each controller, which is made here, limited, and removed with the change;
// what is left in it then is killed. The same settings give the same cgroups again.
func (change *Change) Launch(ctx context.Context, levels ...Level) (*Launch, error) {
	launch := &Launch{}
	byController := map[string][]Level{}
	for _, level := range levels {
		if err := CheckLaunch(level); err != nil {
			return nil, err
		}
		if !isGroupName(level.Name) {
			launch.levels = append(launch.levels, level)
			continue
		}
		controller := "blkio"
		if setting, known := groupSettings()[aliasOfGroup(level.Name)]; known {
			controller = setting.controller
		}
		folder, err := newGroupParent(controller)
		if err != nil {
			return nil, fmt.Errorf("launch with %s: %w", level.Name, err)
		}
		byController[folder] = append(byController[folder], level)
	}
	for parent, limits := range byController {
		folder, err := change.group(ctx, parent, limits)
		if err != nil {
			return nil, err
		}
		launch.groups = append(launch.groups, folder)
	}
	return launch, nil
}

// newGroupParent is the folder in which a cgroup of ours is made: culprit's own, so that
// the command does not escape its limits. In version 2 a cgroup with processes
// cannot hand controllers down, so it is the one above.
func newGroupParent(controller string) (string, error) {
	tree, err := hierarchyOf("/", controller)
	if err != nil {
		return "", err
	}
	path, err := pathOf("/", os.Getpid(), controller, tree.version)
	if err != nil {
		return "", err
	}
	if tree.version == 2 {
		path = filepath.Dir(path)
	}
	return filepath.Join(tree.folder, path), nil
}

// group makes a limited cgroup, or finds the one that was made for the same limits.
func (change *Change) group(ctx context.Context, parent string, limits []Level) (string, error) {
	key := parent + fmt.Sprint(limits)
	change.mutex.Lock()
	folder, made := change.groups[key]
	number := len(change.groups)
	change.mutex.Unlock()
	if made {
		return folder, nil
	}
	folder = filepath.Join(parent, fmt.Sprintf("%s%d-%d-%d", groupFolderPrefix, os.Getpid(),
		change.entry.Begun.UnixNano(), number))
	err := change.Make(ctx, Thing{Group, folder}, func() error {
		if err := os.Mkdir(folder, 0o755); err != nil {
			return fmt.Errorf("%w (run as root)", err)
		}
		if err := inheritCPUSet(parent, folder); err != nil {
			return err
		}
		return limitGroup(folder, limits)
	})
	if err != nil {
		return "", err
	}
	change.mutex.Lock()
	defer change.mutex.Unlock()
	change.groups[key] = folder
	return folder, nil
}

// inheritCPUSet fills what version 1 leaves empty: no process can enter before.
func inheritCPUSet(parent, folder string) error {
	for _, name := range []string{"cpuset.mems", "cpuset.cpus"} {
		value, err := readSetting(Place{Root: folder, Path: "/" + name})
		if err != nil || value != "" {
			continue // another controller, or version 2, where empty means the parent's
		}
		inherited, err := readSetting(Place{Root: parent, Path: "/" + name})
		if err != nil || inherited == "" {
			continue
		}
		if err := writeSetting(Place{Root: folder, Path: "/" + name}, inherited); err != nil {
			return err
		}
	}
	return nil
}

// limitGroup writes limits into a cgroup of ours and reads them back. They need no
// journal: they end with it.
func limitGroup(folder string, limits []Level) error {
	for _, level := range limits {
		knob, err := lookup(level.Name, Target{Cgroup: folder})
		if err != nil {
			return err
		}
		spelled, err := knob.spelled(level.Value)
		if err != nil {
			return err
		}
		parts, err := knob.parts()
		if err != nil {
			return err
		}
		for _, each := range parts {
			wanted := each.wanted(spelled)
			if err := each.write(wanted); err != nil {
				return err
			}
			if found, err := each.read(); err != nil || !each.same(found, wanted) {
				return both(err, fmt.Errorf("%s=%s: the kernel did not take it: reading back gives %q", level.Name,
					level.Value, strings.TrimSpace(found)))
			}
		}
	}
	return nil
}
