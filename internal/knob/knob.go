// Package knob holds the settings of a host that an experiment can flip, and
// makes sure that nothing stays flipped: every change is journaled to disk
// before it is written, verified by reading it back, and restored by its owner,
// by a guardian process when the owner is killed, or by `culprit restore` after
// anything else.
//
// It refuses values that the kernel does not offer, knobs that another culprit
// holds, journals that others could have written, and to overwrite what
// somebody else changed meanwhile (see Change.Restore for the rule).
//
//	change, err := knob.Begin(knob.ClockSource("/"))
//	if err != nil {
//		return err
//	}
//	defer change.Restore()
//	err = change.Set("kvm-clock")
package knob

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Knob is one setting of the host that can be read and written at run time.
type Knob interface {
	// Name is what users type; it also names the journal's file: small letters, digits, '.', '_' and '-'.
	Name() string
	// Current reads the setting.
	Current() (string, error)
	// Allowed lists the values that can be set here and now.
	Allowed() ([]string, error)
	// Set writes a value of Allowed. The caller reads it back.
	Set(value string) error
	// Place says where the setting lives, for the journal.
	Place() Place
}

// Place is where a setting lives.
type Place struct {
	Root         string // the root that the knob was made with, "/" for the running machine
	Path         string // of the file that is written, below Root
	SurvivesBoot bool   // false: a reboot sets it back by itself
}

// ErrRefused marks a value that is not offered; its message lists those that are.
var ErrRefused = errors.New("not offered by this host")

// allowed checks a value against what a knob offers.
func allowed(knob Knob, value string) error {
	values, err := knob.Allowed()
	if err != nil {
		return err
	}
	if !slices.Contains(values, value) {
		return fmt.Errorf("set %s to %q: %w (available: %s)", knob.Name(), value, ErrRefused, strings.Join(values, " "))
	}
	return nil
}

// valueLimit is the longest setting that is read, in bytes.
const valueLimit = 4096

// readSetting reads a small file of /proc or /sys as one line.
func readSetting(place Place) (string, error) {
	path := filepath.Join(place.Root, place.Path)
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return "", fmt.Errorf("read setting: %w", err)
	}
	defer file.Close()
	buffer := make([]byte, valueLimit+1)
	length, err := file.Read(buffer)
	if err != nil {
		return "", fmt.Errorf("read setting %s: %w", path, err)
	}
	if length > valueLimit {
		return "", fmt.Errorf("read setting %s: longer than %d bytes", path, valueLimit)
	}
	return strings.TrimSpace(string(buffer[:length])), nil
}

// writeSetting writes one value in one system call, as the kernel's files want it.
func writeSetting(place Place, value string) error {
	path := filepath.Join(place.Root, place.Path)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("write setting: %w (run as root, where /sys and /proc/sys are writable)", err)
	}
	if err != nil {
		return fmt.Errorf("write setting: %w", err)
	}
	_, err = file.WriteString(value + "\n")
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("write setting %q: %w", value, err)
	}
	return nil
}

// both joins two errors, either of which may be nil, in one line: errors.Join
// makes several lines, and an error of ours is printed as one.
func both(first, second error) error {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return fmt.Errorf("%w; %w", first, second)
}
