package knob

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const groupPrefix = "cgroup."

// groupSetting is a limit of a cgroup under the name that version 2 gives it.
type groupSetting struct {
	controller, first string // of version 1, where it differs: the file
	file              string // of version 2
	text              string
	check             func(value string) (string, error)
	numeric           bool
}

// groupSettings are the limits that both versions have, or one of them.
func groupSettings() map[string]groupSetting {
	return map[string]groupSetting{
		"cgroup.cpu.max": {controller: "cpu", file: "cpu.max", text: "CPU time, as quota and period in µs",
			check: checkCPUMax},
		"cgroup.cpu.weight": {controller: "cpu", file: "cpu.weight", first: "cpu.shares", check: checkWeight,
			text: "share of a busy CPU, 100 is usual", numeric: true},
		"cgroup.cpuset.cpus": {controller: "cpuset", file: "cpuset.cpus", text: "CPUs", check: checkCPUs},
		"cgroup.cpuset.mems": {controller: "cpuset", file: "cpuset.mems", text: "memory nodes"},
		"cgroup.memory.max": {controller: "memory", file: "memory.max", first: "memory.limit_in_bytes",
			text: "memory in bytes", check: checkBytes, numeric: true},
		"cgroup.memory.high": {controller: "memory", file: "memory.high", first: "-", text: "memory above which it is " +
			"reclaimed, in bytes", check: checkBytes, numeric: true},
		"cgroup.memory.swappiness": {controller: "memory", file: "-", first: "memory.swappiness",
			text: "swapping rather than dropping the cache", check: checkInteger, numeric: true},
		"cgroup.pids.max": {controller: "pids", file: "pids.max", text: "processes", check: checkCount, numeric: true},
	}
}

// isGroupName tells whether a name is a limit of a cgroup.
func isGroupName(name string) bool {
	_, known := groupSettings()[aliasOfGroup(name)]
	return known || isThrottleName(name)
}

func aliasOfGroup(name string) string {
	if name == "cpuset" {
		return "cgroup.cpuset.cpus"
	}
	return name
}

// checkGroupLevel checks a limit for a cgroup that is yet to be made.
func checkGroupLevel(level Level) error {
	check := checkBytes
	if setting, known := groupSettings()[aliasOfGroup(level.Name)]; known {
		check = setting.check
	}
	if check == nil {
		return nil
	}
	if _, err := check(level.Value); err != nil {
		return fmt.Errorf("launch with %s=%s: %w", level.Name, level.Value, err)
	}
	return nil
}

// findGroup makes the knobs of a target's cgroup.
func findGroup(name string, target Target) (Knob, bool, error) {
	if isThrottleName(name) {
		return throttleKnob(name, target)
	}
	setting, known := groupSettings()[aliasOfGroup(name)]
	if !known {
		if strings.HasPrefix(name, groupPrefix) {
			return Knob{}, true, fmt.Errorf("%w of a cgroup: there are %s and cgroup.io.{rbps,wbps,riops,wiops}.MAJOR:MINOR",
				ErrUnknown, keys(groupSettings()))
		}
		return Knob{}, false, nil
	}
	folder, tree, err := groupFolder(target, setting.controller)
	if err != nil {
		return Knob{}, true, err
	}
	target.Cgroup, target.Pid = folder, 0 // the journal must not depend on a process
	file := setting.file
	if tree.version == 1 && setting.first != "" {
		file = setting.first
	}
	if tree.version == 1 && name == "cgroup.cpu.max" {
		file = "cpu.cfs_quota_us"
	}
	if !target.exists(filepath.Join(folder, file)) {
		return Knob{}, true, fmt.Errorf("cgroup %s has no %s (the root cgroup has no limits, and version 2 only those "+
			"of controllers that its parent turns on)", folder, file)
	}
	knob := fileKnob(name, target, filepath.Join(folder, file),
		About{Text: "the cgroup's " + setting.text, WashOut: time.Second, Numeric: setting.numeric})
	knob.check = setting.check
	if tree.version == 1 {
		firstVersion(&knob, folder)
	} else {
		withCanon(&knob, setting.check)
	}
	return knob, true, nil
}

// withCanon compares values of a knob of one file by the spelling that check gives.
func withCanon(knob *Knob, check func(string) (string, error)) {
	if check == nil {
		return
	}
	place := knob.about.Place
	knob.parts = func() ([]part, error) {
		only := filePart(place)
		only.canon = func(value string) string {
			if spelled, err := check(value); err == nil {
				return spelled
			}
			return value
		}
		return []part{only}, nil
	}
}

// firstVersion adapts a knob to the files of version 1.
func firstVersion(knob *Knob, folder string) {
	place := knob.about.Place
	switch knob.name {
	case "cgroup.cpu.max":
		knob.parts = func() ([]part, error) {
			period := filePart(Place{Root: place.Root, Path: filepath.Join(folder, "cpu.cfs_period_us")})
			period.want = func(value string) string { return secondOf(value) }
			quota := filePart(place)
			quota.want = func(value string) string {
				if first, _, _ := strings.Cut(value, " "); first != noLimit {
					return first
				}
				return "-1"
			}
			return []part{period, quota}, nil
		}
		knob.join = func(values []string) string {
			if len(values) != 2 || strings.HasPrefix(values[1], "-") {
				return noLimit + " " + values[0]
			}
			return values[1] + " " + values[0]
		}
	case "cgroup.cpu.weight":
		translate(knob, func(weight int64) int64 { return weight * 1024 / 100 },
			func(shares int64) int64 { return (shares*100 + 512) / 1024 })
	case "cgroup.memory.max":
		knob.parts = func() ([]part, error) {
			only := filePart(place)
			only.want = func(value string) string {
				if value == noLimit {
					return "-1"
				}
				return value
			}
			only.canon = canonBytes
			return []part{only}, nil
		}
		knob.join = func(values []string) string { return canonBytes(values[0]) }
	default:
		withCanon(knob, knob.check)
	}
}

// translate makes a knob of one file whose numbers have another scale there.
func translate(knob *Knob, to, from func(int64) int64) {
	place := knob.about.Place
	convert := func(value string, by func(int64) int64) string {
		number, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return value
		}
		return strconv.FormatInt(by(number), 10)
	}
	knob.parts = func() ([]part, error) {
		only := filePart(place)
		only.want = func(value string) string { return convert(value, to) }
		return []part{only}, nil
	}
	knob.join = func(values []string) string { return convert(values[0], from) }
}

func secondOf(value string) string {
	_, second, _ := strings.Cut(value, " ")
	return second
}

// throttles are the limits of one device: their names, and the files of version 1.
var throttles = map[string]string{"rbps": "read_bps", "wbps": "write_bps", "riops": "read_iops", "wiops": "write_iops"}

func throttleParts(name string) (kind, device string, ours bool) {
	rest, found := strings.CutPrefix(name, "cgroup.io.")
	kind, device, _ = strings.Cut(rest, ".")
	_, known := throttles[kind]
	return kind, device, found && known && deviceNumber.MatchString(device)
}

func isThrottleName(name string) bool {
	_, _, ours := throttleParts(name)
	return ours
}

// throttleKnob makes "cgroup.io.wbps.254:0": a rate that a cgroup may use of a device.
func throttleKnob(name string, target Target) (Knob, bool, error) {
	kind, device, _ := throttleParts(name)
	tree, err := hierarchyOf(target.Root, "blkio")
	if err != nil {
		return Knob{}, true, err
	}
	controller, file := "io", "io.max"
	if tree.version == 1 {
		controller, file = "blkio", "blkio.throttle."+throttles[kind]+"_device"
	}
	folder, _, err := groupFolder(target, controller)
	if controller == "io" && err == nil && !target.exists(filepath.Join(folder, file)) {
		err = fmt.Errorf("cgroup %s has no %s", folder, file)
	}
	if err != nil {
		return Knob{}, true, err
	}
	target.Cgroup, target.Pid = folder, 0
	knob := fileKnob(name, target, filepath.Join(folder, file),
		About{Text: "what the cgroup may use of device " + device + ": " + kind, WashOut: time.Second, Numeric: true})
	knob.check = checkCount
	place := knob.about.Place
	knob.parts = func() ([]part, error) {
		return []part{{id: place.Path + " " + kind + " " + device, path: filepath.Join(place.Root, place.Path),
			read: func() (string, error) { return readThrottle(place, kind, device, tree.version) },
			write: func(value string) error {
				if tree.version == 2 {
					return writeSetting(place, device+" "+kind+"="+value)
				}
				if value == noLimit {
					value = "0"
				}
				err := writeSetting(place, device+" "+value)
				if value == "0" && errors.Is(err, unix.ENODEV) {
					return errGone // the device is no more
				}
				return err
			}}}, nil
	}
	return knob, true, nil
}

// readThrottle reads one device's line.
func readThrottle(place Place, kind, device string, version int) (string, error) {
	text, err := readWhole(place)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != device {
			continue
		}
		if version == 1 {
			return fields[1], nil
		}
		for _, field := range fields[1:] {
			if value, found := strings.CutPrefix(field, kind+"="); found {
				return value, nil
			}
		}
	}
	return noLimit, nil
}
