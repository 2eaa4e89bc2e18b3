package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// checkOutput refuses a file that could not be written later, before any work
// is done for it. A folder may be read-only even for root, so it is tried.
func checkOutput(path string, overwrite bool) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder; give the name of a file", path)
	case err == nil && !overwrite:
		return fmt.Errorf("%s exists; give another name, or -f to overwrite it", path)
	case err == nil && !info.Mode().IsRegular():
		return nil // a pipe or a device is opened when there is something to write
	}
	folder := filepath.Dir(path)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return fmt.Errorf("folder %s does not exist; make it, or give another place for %s", folder, filepath.Base(path))
	}
	probe, err := os.CreateTemp(folder, ".culprit-*")
	if err != nil {
		var pathError *fs.PathError
		if errors.As(err, &pathError) {
			err = pathError.Err
		}
		return fmt.Errorf("write into folder %s: %w; give another place for %s", folder, err, filepath.Base(path))
	}
	err = probe.Close()
	if removed := os.Remove(probe.Name()); err == nil {
		err = removed
	}
	if err != nil {
		return fmt.Errorf("write into folder %s: %w", folder, err)
	}
	return nil
}

// leastSpace is what the smallest recordings take, in bytes.
const leastSpace = 32 << 10

// checkRecording refuses a place for a recording that could not be written later: it is a file, and
// comes whole.
func checkRecording(path string, overwrite bool) error {
	if path == "-" {
		return errors.New("a recording cannot go to standard output; give the name of a file (one called -: ./-)")
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return fmt.Errorf("%s is not a file, and a recording cannot go through it; give the name of a file", path)
	}
	if err := checkOutput(path, overwrite); err != nil {
		return err
	}
	var space unix.Statfs_t
	folder := filepath.Dir(path)
	if err := unix.Statfs(folder, &space); err == nil && space.Blocks > 0 &&
		space.Bavail*uint64(space.Bsize) < leastSpace {
		return fmt.Errorf("no space left in %s (free some or choose another place for %s)", folder, filepath.Base(path))
	}
	return nil
}

// writeJSON writes a document to a file, or to standard output where the path is "-".
func writeJSON(w world, path string, document any) error {
	return writeOut(w, path, func(out io.Writer) error {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(document)
	})
}

// writeOut writes to a file, whole or not at all, or to standard output where the path is "-".
func writeOut(w world, path string, write func(io.Writer) error) error {
	if path == "-" {
		if err := write(w.stdout); err != nil {
			return fmt.Errorf("write JSON: %w", err)
		}
		return nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeThrough(path, write)
	}
	return writeFile(path, write)
}

// writeThrough writes into what is there already, a pipe or a device: a rename would replace it by
// a file.
func writeThrough(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		err = write(file)
		if closed := file.Close(); err == nil {
			err = closed
		}
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
