package knob

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	deviceName   = regexp.MustCompile(`^[A-Za-z0-9!_-]+$`)
	deviceNumber = regexp.MustCompile(`^[0-9]{1,6}:[0-9]{1,8}$`)
)

// queueSettings are the files of a block device's queue that are knobs, and their
// values: nil for a number.
var queueSettings = map[string][]string{
	"scheduler": nil, "nr_requests": nil, "read_ahead_kb": nil, "max_sectors_kb": nil, "wbt_lat_usec": nil,
	"io_timeout": nil, "nomerges": {"0", "1", "2"}, "rq_affinity": {"0", "1", "2"}, "rotational": {"0", "1"},
	"add_random": {"0", "1"}, "iostats": {"0", "1"}, "stable_writes": {"0", "1"}, "io_poll": {"0", "1"},
	"write_cache": {"write back", "write through"},
}

// resetByScheduler are settings that the kernel sets anew when a queue gets
// another scheduler (elevator_switch, wbt_enable_default).
var resetByScheduler = []string{"nr_requests", "wbt_lat_usec", "read_ahead_kb"}

// findBlock makes "block.DEV.SETTING" of a queue's settings.
func findBlock(name string, target Target) (Knob, bool, error) {
	rest, ours := strings.CutPrefix(name, "block.")
	device, setting, _ := strings.Cut(rest, ".")
	if !ours {
		return Knob{}, false, nil
	}
	values, known := queueSettings[setting]
	if !known || !deviceName.MatchString(device) {
		return Knob{}, true, fmt.Errorf("%w: block.DEVICE.SETTING with one of %s", ErrUnknown, keys(queueSettings))
	}
	folder := "/sys/block/" + device + "/queue/"
	if !target.exists(folder + setting) {
		return Knob{}, true, fmt.Errorf("%w: this host has no %s", ErrUnknown, folder+setting)
	}
	about := About{Text: "the queue of " + device + ": " + setting, WashOut: time.Second, Numeric: values == nil}
	if setting == "scheduler" {
		about.Numeric = false
		knob := choiceKnob(name, target, folder+setting, about)
		knob.parts = withFollowers(knob, target, folder)
		return knob, true, nil
	}
	knob := fileKnob(name, target, folder+setting, about)
	if values != nil {
		knob.offers = offer(values...)
	} else {
		knob.check = checkInteger
	}
	return knob, true, nil
}

// withFollowers puts before a part those that the kernel changes along with it: they
// are put back after it.
func withFollowers(knob Knob, target Target, folder string) func() ([]part, error) {
	plain := knob.parts
	return func() ([]part, error) {
		var parts []part
		for _, setting := range resetByScheduler {
			if target.exists(folder + setting) {
				follower := filePart(Place{Root: target.Root, Path: folder + setting})
				follower.follows = true
				parts = append(parts, follower)
			}
		}
		own, err := plain()
		return append(parts, own...), err
	}
}

func checkInteger(value string) (string, error) {
	number, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return "", errors.New("a whole number is needed")
	}
	return strconv.FormatInt(number, 10), nil
}

// bdiSettings are the limits of what may be dirty for one device. max_bytes and
// max_ratio are views of one number (mm/page-writeback.c: bdi_set_max_bytes), which
// max_ratio_fine shows exactly; the same goes for min.
var bdiSettings = map[string]string{"max_ratio": "max_ratio_fine", "max_bytes": "max_ratio_fine",
	"min_ratio": "min_ratio_fine", "min_bytes": "min_ratio_fine", "strict_limit": "", "read_ahead_kb": ""}

// findBacking makes "bdi.MAJ:MIN.SETTING" of a device's writeback limits.
func findBacking(name string, target Target) (Knob, bool, error) {
	rest, ours := strings.CutPrefix(name, "bdi.")
	device, setting, _ := strings.Cut(rest, ".")
	if !ours {
		return Knob{}, false, nil
	}
	exact, known := bdiSettings[setting]
	if !known || !deviceNumber.MatchString(device) && !deviceName.MatchString(device) {
		return Knob{}, true, fmt.Errorf("%w: bdi.MAJOR:MINOR.SETTING with one of %s", ErrUnknown, keys(bdiSettings))
	}
	folder := "/sys/class/bdi/" + device + "/"
	if !target.exists(folder + setting) {
		return Knob{}, true, fmt.Errorf("%w: this host has no %s", ErrUnknown, folder+setting)
	}
	knob := fileKnob(name, target, folder+setting,
		About{Text: "writeback of device " + device + ": " + setting, WashOut: 5 * time.Second, Numeric: true})
	knob.check = checkInteger
	if exact != "" && exact != setting && target.exists(folder+exact) {
		knob.parts = viewParts(knob.about.Place, Place{Root: target.Root, Path: folder + exact})
	}
	return knob, true, nil
}

// viewParts are an exact number, which is put back last, and a rounded view of it, which is
// written.
func viewParts(view, exact Place) func() ([]part, error) {
	return func() ([]part, error) {
		follower, written := filePart(exact), filePart(view)
		follower.follows, written.view = true, true
		return []part{follower, written}, nil
	}
}

func keys[V any](set map[string]V) string {
	var names []string
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
