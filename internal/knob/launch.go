package knob

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Launch is what a command is given before it begins: its attributes, and the
// cgroup that it starts in. Nothing of it needs to be put back, since it ends with
// the command; the cgroup belongs to the change that made it.
//
//	launch, err := change.Launch(knob.Level{"affinity", "0"}, knob.Level{"cgroup.cpu.max", "50000 100000"})
//	spec.Ready = launch.Apply
type Launch struct {
	levels []Level
	groups []string // folders of cgroups
}

// OfCommand tells whether a name is a setting that Launch gives to a new command.
func OfCommand(name string) bool {
	_, known := attributeOf(name)
	return known || isGroupName(name)
}

// CheckLaunch says what is wrong with a setting for a new command, before anything is done.
func CheckLaunch(level Level) error {
	if isGroupName(level.Name) {
		return checkGroupLevel(level)
	}
	attribute, known := attributeOf(level.Name)
	if !known {
		return fmt.Errorf("launch with %s: %w of a command", level.Name, ErrUnknown)
	}
	if _, err := attribute.spelled(level.Value); err != nil {
		return fmt.Errorf("launch with %s=%s: %w", level.Name, level.Value, err)
	}
	return nil
}

// NewLaunch checks attributes of a new command; nothing on the host is touched.
// Limits of a cgroup need Change.Launch.
func NewLaunch(levels ...Level) (*Launch, error) {
	launch := &Launch{}
	for _, level := range levels {
		if err := CheckLaunch(level); err != nil {
			return nil, err
		}
		if isGroupName(level.Name) {
			return nil, fmt.Errorf("launch with %s: it takes a cgroup, which is made in a change", level.Name)
		}
		launch.levels = append(launch.levels, level)
	}
	return launch, nil
}

// Apply gives a process that has not yet begun its settings: all its threads, which
// is one. Each is read back.
func (launch *Launch) Apply(pid int) error {
	for _, folder := range launch.groups {
		file := filepath.Join(folder, "cgroup.procs")
		if err := os.WriteFile(file, []byte(strconv.Itoa(pid)), 0); err != nil {
			return fmt.Errorf("launch in cgroup: %w", err)
		}
	}
	for _, level := range launch.levels {
		attribute, known := attributeOf(level.Name)
		if !known {
			return fmt.Errorf("launch with %s: %w", level.Name, ErrUnknown)
		}
		if err := attribute.apply(pid, level.Value); err != nil {
			return fmt.Errorf("launch with %s=%s: %w", level.Name, level.Value, err)
		}
	}
	return nil
}

func (a attribute) apply(pid int, value string) error {
	spelled, err := a.spelled(value)
	if err != nil {
		return err
	}
	for _, tid := range threads(pid, a.whole) {
		if err := a.write(tid, spelled); err != nil {
			return err
		}
		found, err := a.read(tid)
		if err != nil {
			return err
		}
		soft, _, _ := strings.Cut(found, ":")
		if found != spelled && (!a.whole || soft != spelled) {
			return fmt.Errorf("the kernel did not take it: reading back gives %q", found)
		}
	}
	return nil
}
