package knob

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

const sysctlFolder = "/proc/sys/"

var sysctlName = regexp.MustCompile(`^[a-z0-9_-]+(\.[A-Za-z0-9_:@/-]+)+$`)

// sysctlAliases are short names for what experiments ask for most.
var sysctlAliases = map[string]string{
	"swappiness":           "vm.swappiness",
	"nmi_watchdog":         "kernel.nmi_watchdog",
	"perf.max_sample_rate": "kernel.perf_event_max_sample_rate",
	"perf.max_cpu_percent": "kernel.perf_cpu_time_max_percent",
	"perf.paranoid":        "kernel.perf_event_paranoid",
	"perf.mlock_kb":        "kernel.perf_event_mlock_kb",
}

// sysctlTwins are two spellings of one setting: writing either makes the other 0, and 0 cannot be
// written. The one that is not 0 is what counts and what is put back (mm/page-writeback.c:
// dirty_bytes_handler and its three neighbours; mm/util.c: overcommit_kbytes_handler).
var sysctlTwins = map[string]string{
	"vm.dirty_bytes":            "vm.dirty_ratio",
	"vm.dirty_background_bytes": "vm.dirty_background_ratio",
	"vm.overcommit_kbytes":      "vm.overcommit_ratio",
}

// washOuts are how long the traces of an old value last, where that is not over at once.
var washOuts = []struct {
	prefix string
	after  time.Duration
}{
	{"vm.dirty_expire", 30 * time.Second}, // what is dirty keeps the age it has
	{"vm.dirty", 5 * time.Second},         // the flusher's next round
	{"vm.", 2 * time.Second},
	{"net.", time.Second},
}

// findSysctl makes the knob of any setting of /proc/sys by its dotted name. As with
// sysctl(8), a dot inside a part of the name is written as a slash.
func findSysctl(name string, target Target) (Knob, bool, error) {
	dotted := name
	if full, known := sysctlAliases[name]; known {
		dotted = full
	}
	folder, _, _ := strings.Cut(dotted, ".")
	if !sysctlName.MatchString(dotted) || !target.exists(sysctlFolder+folder) || strings.Contains(dotted, "..") {
		return Knob{}, false, nil
	}
	if reason, listed := oneWaySysctl(dotted); listed {
		return Knob{}, true, errors.New(reason)
	}
	path := sysctlFile(dotted)
	if !target.exists(path) {
		return Knob{}, true, fmt.Errorf("%w: this host has no %s", ErrUnknown, path)
	}
	about := About{Text: "the sysctl " + dotted, Numeric: true}
	for _, each := range washOuts {
		if about.WashOut == 0 && strings.HasPrefix(dotted, each.prefix) {
			about.WashOut = each.after
		}
	}
	knob := fileKnob(name, target, path, about)
	for bytes, ratio := range sysctlTwins {
		if dotted == bytes || dotted == ratio {
			return twinKnob(knob, bytes, ratio), true, nil
		}
	}
	knob.check = func(value string) (string, error) { return strings.Join(strings.Fields(value), " "), nil }
	place := knob.about.Place
	knob.parts = func() ([]part, error) {
		only := filePart(place)
		only.canon = func(value string) string { return strings.Join(strings.Fields(value), " ") }
		read := only.read
		only.read = func() (string, error) { // several numbers stand apart by tabs
			value, err := read()
			return only.canon(value), err
		}
		return []part{only}, nil
	}
	return knob, true, nil
}

func sysctlFile(dotted string) string {
	return sysctlFolder + strings.NewReplacer(".", "/", "/", ".").Replace(dotted)
}

// twinKnob has one part for both spellings. Its values are "name value" of the one that counts.
func twinKnob(knob Knob, first, second string) Knob {
	own := strings.ReplaceAll(strings.TrimPrefix(knob.about.Place.Path, sysctlFolder), "/", ".")
	root := knob.target.Root
	place := func(dotted string) Place { return Place{Root: root, Path: sysctlFile(dotted)} }
	read := func() (string, error) {
		value, err := readSetting(place(first))
		if err == nil && value != "0" {
			return first + " " + value, nil
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			value, err = readSetting(place(second))
		}
		return second + " " + value, err
	}
	write := func(state string) error {
		dotted, value, _ := strings.Cut(state, " ")
		if dotted != first && dotted != second {
			return fmt.Errorf("write setting %s: it is neither %s nor %s", dotted, first, second)
		}
		return writeSetting(place(dotted), value)
	}
	knob.parts = func() ([]part, error) {
		return []part{{id: sysctlFile(first), path: filepath.Join(root, sysctlFile(own)), read: read, write: write,
			want: func(value string) string {
				if value == "0" && own == first { // nothing but the other one can say so
					return second + " 0"
				}
				return own + " " + value
			},
			fix: func(state string) string {
				dotted, value, _ := strings.Cut(state, " ")
				return fmt.Sprintf("echo %s > %s", value, filepath.Join(root, sysctlFile(dotted)))
			}}}, nil
	}
	knob.check = func(value string) (string, error) {
		if value == "0" && own == first {
			return "", fmt.Errorf("0 cannot be written: it means that %s counts: set that one", second)
		}
		return value, nil
	}
	knob.join = func(values []string) string {
		dotted, value, _ := strings.Cut(values[0], " ")
		if dotted != own {
			return "0" // the other one counts
		}
		return value
	}
	return knob
}
