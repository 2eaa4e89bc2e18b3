package knob

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// valueLimit is the longest setting that is read, in bytes.
const valueLimit = 4096

// fileKnob is a knob whose value is what one file holds.
func fileKnob(name string, target Target, path string, about About) Knob {
	about.Place = Place{Root: target.Root, Path: path}
	if about.Effect == "" {
		about.Effect = AtOnce
	}
	return Knob{name: name, target: target, about: about,
		parts: func() ([]part, error) { return []part{filePart(about.Place)}, nil }}
}

// filePart is a file that holds one value.
func filePart(place Place) part {
	return part{id: place.Path, path: filepath.Join(place.Root, place.Path),
		read:  func() (string, error) { return readSetting(place) },
		write: func(value string) error { return writeSetting(place, value) }}
}

// exists tells whether a file of the machine is there.
func (target Target) exists(path string) bool {
	_, err := os.Lstat(filepath.Join(target.Root, path))
	return err == nil
}

// readSetting reads a small file of /proc or /sys as one line.
func readSetting(place Place) (string, error) {
	text, err := readWhole(place)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(text), nil
}

func readWhole(place Place) (string, error) {
	path := filepath.Join(place.Root, place.Path)
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return "", fmt.Errorf("read setting: %w", err)
	}
	defer file.Close()
	buffer := make([]byte, valueLimit+1)
	length, err := file.Read(buffer)
	if err != nil && length == 0 && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read setting %s: %w", path, err)
	}
	if length > valueLimit {
		return "", fmt.Errorf("read setting %s: longer than %d bytes", path, valueLimit)
	}
	return string(buffer[:length]), nil
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

// chosen reads a file that lists all its values and marks one: "always [madvise] never".
func chosen(place Place) (string, error) {
	text, err := readSetting(place)
	if err != nil {
		return "", err
	}
	_, after, found := strings.Cut(text, "[")
	value, _, closed := strings.Cut(after, "]")
	if !found || !closed {
		return "", fmt.Errorf("read setting %s: none of %q is marked", filepath.Join(place.Root, place.Path), text)
	}
	return value, nil
}

// choiceKnob is a knob whose file lists its values and marks the one that is set.
func choiceKnob(name string, target Target, path string, about About) Knob {
	knob := fileKnob(name, target, path, about)
	place := knob.about.Place
	knob.parts = func() ([]part, error) {
		only := filePart(place)
		only.read = func() (string, error) { return chosen(place) }
		return []part{only}, nil
	}
	knob.offers = func() ([]string, error) {
		text, err := readSetting(place)
		return strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(text)), err
	}
	return knob
}
