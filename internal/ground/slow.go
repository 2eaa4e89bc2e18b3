package ground

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"culprit/internal/knob"
)

// What makes a disk slow, as it was found to give the stalls of real ones: a rate
// that background writing saturates, and a queue so short that submitters block.
// See the notes on write stalls, and docs/reference/knobs.md.
const (
	slowBytesPerSecond = "104857600"
	slowWritesEach     = "2000"
	dirtyBackground    = "33554432"
)

var slowQueue = []struct{ setting, value string }{
	{"wbt_lat_usec", "0"}, {"nr_requests", "32"}, {"max_sectors_kb", "128"}}

// narrow shortens the queue of the upper device.
func (ground *Ground) narrow() error {
	name := filepath.Base(ground.Device)
	for _, each := range slowQueue {
		if err := ground.set("block."+name+"."+each.setting, each.value, knob.Target{}); err != nil {
			return err
		}
	}
	return nil
}

// throttle limits the lower device for everybody: the limit of the root cgroup also
// holds for the kernel's own threads, which write what is dirty.
func (ground *Ground) throttle() error {
	device, err := numberOf(ground.Below)
	if err != nil {
		return err
	}
	for kind, value := range map[string]string{"wbps": slowBytesPerSecond, "wiops": slowWritesEach} {
		if err := ground.set("cgroup.io."+kind+"."+device, value, knob.Target{Cgroup: "/"}); err != nil {
			return fmt.Errorf("a slow disk takes the throttle of cgroup version 1 (blkio): %w", err)
		}
	}
	err = ground.set("vm.dirty_background_bytes", dirtyBackground, knob.Target{})
	if errors.Is(err, knob.ErrHeld) {
		ground.Notes = append(ground.Notes, "vm.dirty_background_bytes is being varied, so it is not the recipe's "+
			dirtyBackground)
		return nil
	}
	return err
}

// set takes a knob into the ground's change and sets it.
func (ground *Ground) set(name, value string, target knob.Target) error {
	found, err := knob.Find(name, target)
	if err != nil {
		return err
	}
	if err := ground.change.Add(found); err != nil {
		return err
	}
	return ground.change.Set(name, value)
}

// numberOf is the MAJOR:MINOR of a device.
func numberOf(device string) (string, error) {
	var status unix.Stat_t
	if err := unix.Stat(device, &status); err != nil {
		return "", fmt.Errorf("find %s: %w", strings.TrimSpace(device), err)
	}
	return fmt.Sprintf("%d:%d", unix.Major(status.Rdev), unix.Minor(status.Rdev)), nil
}
