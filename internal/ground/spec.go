// Package ground makes the ground that a command stands on: a fresh file system of
// a given kind on a loop device of its own, if wanted behind a disk that is made
// slow. All of it (folder, image, loop devices, throttle, mounts) is journaled before
// it is made and removed with the ground, by knob's guardian when culprit is killed,
// or by `culprit restore`.
//
// It refuses kinds whose tools are missing, with the package that brings them, and
// options that could reach outside: it never touches a disk or a file system that is
// there already.
//
//	spec, err := ground.Parse("ext4:data=writeback@slow")
//	made, err := ground.Prepare(ctx, spec)
//	if err != nil {
//		return err
//	}
//	defer made.Close()
//	command.Dir = made.Path
package ground

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Spec is a file system to be made.
type Spec struct {
	Kind     string   // ext4, xfs, btrfs or tmpfs
	Features []string // of mkfs.ext4 -O: "^has_journal"
	Mount    []string // mount options: "data=writeback"
	Slow     bool     // on a disk that is made slow
	RAM      bool     // the image is in memory; of a slow disk it always is
	Bytes    int64    // its size
}

const (
	mebi = 1 << 20
	gibi = 1 << 30

	smallest     = 64 * mebi
	largest      = 1 << 40
	defaultBytes = 2 * gibi
	optionsMax   = 20
)

// kinds are the file systems, what makes them, and the Debian package with that.
var kinds = map[string]struct {
	tool, pack string
	smallest   int64
}{
	"ext4":  {"mkfs.ext4", "e2fsprogs", smallest},
	"xfs":   {"mkfs.xfs", "xfsprogs", 300 * mebi}, // mkfs.xfs refuses less since 5.19
	"btrfs": {"mkfs.btrfs", "btrfs-progs", 256 * mebi},
	"tmpfs": {"", "", mebi},
}

// features are what mkfs.ext4 -O knows and what changes how it performs.
var features = []string{"has_journal", "extent", "64bit", "flex_bg", "metadata_csum", "dir_index", "fast_commit",
	"bigalloc", "inline_data", "orphan_file", "sparse_super", "uninit_bg", "huge_file", "ea_inode", "filetype"}

var option = regexp.MustCompile(`^[a-z0-9_]{1,32}(=[A-Za-z0-9_.:-]{1,32})?$`)

// Parse reads KIND[:OPTION[+OPTION…]][@slow][@ram][@size=1G]. An option that begins
// with ^, or names a feature of ext4, goes to mkfs; the others are mount options.
func Parse(text string) (Spec, error) {
	words := strings.Split(text, "@")
	kind, options, given := strings.Cut(words[0], ":")
	spec := Spec{Kind: kind, Bytes: defaultBytes}
	if _, known := kinds[kind]; !known {
		return Spec{}, fmt.Errorf("read ground %.80q: there is no kind %.20q; there are ext4 xfs btrfs tmpfs, such as "+
			"ext4:data=writeback@slow", text, kind)
	}
	if given {
		if err := spec.addOptions(options); err != nil {
			return Spec{}, fmt.Errorf("read ground %.80q: %w", text, err)
		}
	}
	for _, word := range words[1:] {
		size, sized := strings.CutPrefix(word, "size=")
		var err error
		switch {
		case word == "slow":
			spec.Slow, spec.RAM = true, true
		case word == "ram":
			spec.RAM = true
		case sized:
			spec.Bytes, err = parseSize(size)
		default:
			err = fmt.Errorf("%q is none of @slow @ram @size=1G", "@"+word)
		}
		if err != nil {
			return Spec{}, fmt.Errorf("read ground %.80q: %w", text, err)
		}
	}
	if err := spec.check(); err != nil {
		return Spec{}, fmt.Errorf("read ground %.80q: %w", text, err)
	}
	return spec, nil
}

func (spec *Spec) addOptions(text string) error {
	words := strings.Split(text, "+")
	if len(words) > optionsMax {
		return fmt.Errorf("more than %d options", optionsMax)
	}
	for _, word := range words {
		feature := strings.TrimPrefix(word, "^")
		switch {
		case slices.Contains(features, feature):
			if spec.Kind != "ext4" {
				return fmt.Errorf("%s is a feature of ext4", feature)
			}
			spec.Features = append(spec.Features, word)
		case feature != word:
			return fmt.Errorf("%q is no feature of ext4 that is known here (%s)", feature, strings.Join(features, " "))
		case !option.MatchString(word):
			return fmt.Errorf("%q is no mount option", word)
		case word == "ro" || strings.HasPrefix(word, "size=") || strings.HasPrefix(word, "device="):
			return fmt.Errorf("option %q is not for an experiment (a size is given as @size=1G)", word)
		default:
			spec.Mount = append(spec.Mount, word)
		}
	}
	return nil
}

func parseSize(text string) (int64, error) {
	scale := int64(1)
	for i, unit := range []string{"K", "M", "G"} {
		if shorter, found := strings.CutSuffix(strings.ToUpper(text), unit); found {
			text, scale = shorter, 1<<(10*(i+1))
		}
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number <= 0 || number > largest/scale {
		return 0, errors.New("a size such as 512M or 2G is needed, at most 1T")
	}
	return number * scale, nil
}

func (spec Spec) check() error {
	if least := kinds[spec.Kind].smallest; spec.Bytes < least {
		return fmt.Errorf("%s needs at least %dM", spec.Kind, least/mebi)
	}
	if spec.Kind == "tmpfs" && spec.Slow {
		return errors.New("tmpfs has no disk that could be slow")
	}
	return nil
}

// String is the text that Parse reads.
func (spec Spec) String() string {
	text := spec.Kind
	if options := append(slices.Clone(spec.Features), spec.Mount...); len(options) > 0 {
		text += ":" + strings.Join(options, "+")
	}
	switch {
	case spec.Slow:
		text += "@slow"
	case spec.RAM:
		text += "@ram"
	}
	if spec.Bytes != defaultBytes {
		text += fmt.Sprintf("@size=%dK", spec.Bytes/1024)
	}
	return text
}

// Supported says what is missing on this host for the ground; nothing is changed.
func (spec Spec) Supported() error {
	kind := kinds[spec.Kind]
	if kind.tool != "" {
		if _, err := exec.LookPath(kind.tool); err != nil {
			return fmt.Errorf("prepare ground %s: %s is missing: apt-get install %s", spec, kind.tool, kind.pack)
		}
	}
	return spec.hasSpace()
}
