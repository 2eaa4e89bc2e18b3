package knob

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// mountPrefix begins the knob of a file system's options: "mount:/var/lib/x", whose
// values are options joined by '+', such as noatime or lazytime+nodiscard.
const mountPrefix = "mount:"

// remountOption is an option that a remount can turn on and that another turns off.
type remountOption struct {
	undo string // the option that takes it away
	flag uintptr
}

// remountOptions are those that can be undone; all others are refused: most keep
// what they were when a remount does not name them (ext4(5), "Mount options").
var remountOptions = map[string]remountOption{
	"noatime": {undo: "atime", flag: unix.MS_NOATIME}, "relatime": {undo: "atime", flag: unix.MS_RELATIME},
	"strictatime": {undo: "atime", flag: unix.MS_STRICTATIME},
	"nodiratime":  {undo: "diratime", flag: unix.MS_NODIRATIME},
	"lazytime":    {undo: "nolazytime", flag: unix.MS_LAZYTIME},
	"sync":        {undo: "async", flag: unix.MS_SYNCHRONOUS}, "dirsync": {undo: "nodirsync", flag: unix.MS_DIRSYNC},
	"nobarrier": {undo: "barrier"}, "discard": {undo: "nodiscard"},
	"noauto_da_alloc": {undo: "auto_da_alloc"},
	"commit":          {undo: "commit=0"},
}

// defaults are what a mount has when it names nothing: setting them takes others away.
var mountDefaults = map[string]string{"barrier": "nobarrier", "auto_da_alloc": "noauto_da_alloc",
	"nolazytime": "lazytime", "async": "sync",
	"nodirsync": "dirsync", "diratime": "nodiratime", "nodiscard": "discard"}

// findMount makes the knob of a mounted file system's options.
func findMount(name string, target Target) (Knob, bool, error) {
	point, ours := strings.CutPrefix(name, mountPrefix)
	if !ours {
		return Knob{}, false, nil
	}
	if !filepath.IsAbs(point) || filepath.Clean(point) != point {
		return Knob{}, true, fmt.Errorf("%smount point is needed, such as mount:/var", mountPrefix)
	}
	if _, err := mountedAt(target.Root, point); err != nil {
		return Knob{}, true, err
	}
	about := About{Text: "mount options of " + point, Effect: Remount, WashOut: 5 * time.Second,
		Place: Place{Root: target.Root, Path: point}}
	knob := Knob{name: name, target: target, about: about, check: checkMountOptions,
		parts: func() ([]part, error) {
			return []part{{id: name, path: point, rounds: true,
				read:  func() (string, error) { return mountedAt(target.Root, point) },
				write: func(value string) error { return remount(target.Root, point, value) },
				fix: func(original string) string {
					return fmt.Sprintf("mount -o remount,%s %s", strings.ReplaceAll(original, "+", ","), point)
				}}}, nil
		}}
	return knob, true, nil
}

func checkMountOptions(value string) (string, error) {
	for _, option := range strings.Split(value, "+") {
		word, number, _ := strings.Cut(option, "=")
		_, known := remountOptions[word]
		_, isDefault := mountDefaults[word]
		if !known && !isDefault || word == "commit" && !isNumber(number) || word != "commit" && number != "" {
			return "", fmt.Errorf("option %q: %w; those that a remount can undo: %s commit=SECONDS", option, ErrRefused,
				keys(remountOptions))
		}
	}
	return value, nil
}

// mountedAt lists the options of the file system that is on top at a mount point.
func mountedAt(root, point string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "/proc/self/mountinfo"))
	if err != nil || len(text) > tableLimit {
		return "", fmt.Errorf("read mounts: the table cannot be read: %v", err)
	}
	found := ""
	for line := range strings.Lines(string(text)) {
		before, after, cut := strings.Cut(line, " - ")
		fields, super := strings.Fields(before), strings.Fields(after)
		if !cut || len(fields) < 6 || len(super) < 3 || unescape(fields[4]) != point {
			continue
		}
		options := distinct(append(strings.Split(fields[5], ","), strings.Split(super[2], ",")...))
		slices.Sort(options)
		found = strings.Join(options, "+")
	}
	if found == "" {
		return "", fmt.Errorf("nothing is mounted at %s: %w", point, errGone)
	}
	return found, nil
}

// atimeOptions exclude each other.
var atimeOptions = []string{"noatime", "relatime", "strictatime"}

// remount gives a mounted file system options. What it has and the value does not
// speak of stays, when the value is some options; a value that is a whole state, as
// mountedAt gives it, takes away what it does not name.
func remount(root, point, value string) error {
	now, err := mountedAt(root, point)
	if err != nil {
		return err
	}
	have, wanted := strings.Split(now, "+"), strings.Split(value, "+")
	whole := slices.Contains(wanted, "rw") || slices.Contains(wanted, "ro")
	flags, data := mergeOptions(have, wanted, whole)
	if err := unix.Mount("none", point, "", flags|unix.MS_REMOUNT, strings.Join(data, ",")); err != nil {
		if errors.Is(err, unix.EPERM) {
			return fmt.Errorf("remount %s: %w (run as root)", point, err)
		}
		return fmt.Errorf("remount %s with %s: %w", point, value, err)
	}
	return checkRemounted(root, point, wanted, whole, value)
}

// checkRemounted reads back whether what was asked for is there.
func checkRemounted(root, point string, wanted []string, whole bool, value string) error {
	now, err := mountedAt(root, point)
	if err != nil {
		return err
	}
	if whole && now != value {
		return fmt.Errorf("remount %s: it has %q, not %q", point, now, value)
	}
	have := strings.Split(now, "+")
	for _, option := range wanted {
		opposite, isDefault := mountDefaults[option]
		missing := !isDefault && option != "strictatime" && !slices.Contains(have, option)
		if !whole && (missing || isDefault && slices.Contains(have, opposite)) {
			return fmt.Errorf("remount %s with %s: the file system did not take %q", point, value, option)
		}
	}
	return nil
}

// plainFlags are options that are flags of the mount and that no value changes.
var plainFlags = map[string]uintptr{"ro": unix.MS_RDONLY, "nosuid": unix.MS_NOSUID, "nodev": unix.MS_NODEV,
	"noexec": unix.MS_NOEXEC}

// mergeOptions gives the flags and the text for a remount.
func mergeOptions(have, wanted []string, whole bool) (flags uintptr, data []string) {
	var gone []string
	result := slices.Clone(wanted)
	for _, option := range have {
		if slices.Contains(wanted, option) {
			continue
		}
		if whole || excluded(option, wanted) {
			gone = append(gone, option)
		} else {
			result = append(result, option)
		}
	}
	for _, option := range result {
		word, _, _ := strings.Cut(option, "=")
		known, undoable := remountOptions[word]
		flags |= plainFlags[option] | known.flag
		if _, isDefault := mountDefaults[option]; undoable && known.flag == 0 || isDefault && !isFlag(mountDefaults[option]) {
			data = append(data, option)
		}
	}
	if flags&(unix.MS_NOATIME|unix.MS_RELATIME) == 0 {
		flags |= unix.MS_STRICTATIME // no atime option is shown: that is what it is
	}
	for _, option := range gone {
		word, _, _ := strings.Cut(option, "=")
		if known, undoable := remountOptions[word]; undoable && known.flag == 0 && !named(data, word) {
			data = append(data, known.undo)
		}
	}
	return flags, data
}

func isFlag(option string) bool { return remountOptions[option].flag != 0 }

func named(options []string, word string) bool {
	return slices.ContainsFunc(options, func(option string) bool {
		first, _, _ := strings.Cut(option, "=")
		return first == word
	})
}

// excluded tells whether an option cannot stand beside those that are wanted.
func excluded(option string, wanted []string) bool {
	word, _, _ := strings.Cut(option, "=")
	for _, other := range wanted {
		first, _, _ := strings.Cut(other, "=")
		bothAtime := slices.Contains(atimeOptions, option) && slices.Contains(atimeOptions, other)
		if bothAtime || first == word || mountDefaults[other] == option || remountOptions[word].undo == other {
			return true
		}
	}
	return false
}
