// Package baseline is what hubs keep for checks in CI: batches, each the measurement of one command
// with its recordings, by the name of a baseline and the time at which they were taken. A batch
// travels as a zip.
//
//	err := baseline.Pack(file, "check/20261123-120000")
//	err = baseline.Unpack(reader, size, "stored/20261123-120000")
//
// It refuses names that lead elsewhere, members that are no part of a batch, and what expands
// beyond its limits.
package baseline

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// Limits of a batch. Recordings are compressed already.
const (
	MaxBytes    = 256 << 20 // of the zip
	maxExpanded = 1 << 30
	maxMembers  = 65
)

// The members of a batch.
const (
	caseName   = "case.json"
	recordings = "recordings"
)

// Batch is one that a hub keeps.
type Batch struct {
	Name  string `json:"batch"`
	Bytes int64  `json:"bytes"`
}

// Listed is a baseline with its batches, in the order of time.
type Listed struct {
	Name    string  `json:"baseline"`
	Batches []Batch `json:"batches"`
}

// ErrRefused says that a zip is no batch, and will be none another time.
var ErrRefused = errors.New("this is no batch")

// batchForm is the name of a batch: the time it was taken, in UTC.
const batchForm = "20060102-150405"

var (
	nameForm   = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)
	memberForm = regexp.MustCompile(`^(case\.json|recordings/[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\.culprit)$`)
	batchDigit = regexp.MustCompile(`^\d{8}-\d{6}$`)
)

// IsName tells whether text can name a baseline, which is a folder of a hub.
func IsName(text string) bool { return nameForm.MatchString(text) }

// BatchOf names a batch by its time.
func BatchOf(taken time.Time) string { return taken.UTC().Format(batchForm) }

// Taken is when a batch was taken; false for a name that is none.
func Taken(name string) (time.Time, bool) {
	taken, err := time.Parse(batchForm, name)
	return taken, err == nil && batchDigit.MatchString(name)
}

// Pack writes the batch of a folder: its case, and its recordings.
func Pack(w io.Writer, folder string) error {
	names := []string{filepath.Join(folder, caseName)}
	found, err := filepath.Glob(filepath.Join(folder, recordings, "*.culprit"))
	if err != nil {
		return fmt.Errorf("pack batch: %w", err)
	}
	out := zip.NewWriter(w)
	for _, name := range append(names, found...) {
		if err := packFile(out, folder, name); err != nil {
			return fmt.Errorf("pack batch: %w", err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("pack batch: %w", err)
	}
	return nil
}

func packFile(out *zip.Writer, folder, name string) error {
	inside, err := filepath.Rel(folder, name)
	if err != nil {
		return err
	}
	inside = filepath.ToSlash(inside)
	if !memberForm.MatchString(inside) {
		return fmt.Errorf("%s cannot be part of a batch: letters, digits, . _ -", inside)
	}
	header := &zip.FileHeader{Name: inside, Method: zip.Store}
	if inside == caseName {
		header.Method = zip.Deflate
	}
	member, err := out.CreateHeader(header)
	if err != nil {
		return err
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(member, file)
	return err
}

// Check looks whether a zip is a batch, without expanding it.
func Check(reader io.ReaderAt, size int64) error {
	_, err := open(reader, size)
	return err
}

func open(reader io.ReaderAt, size int64) (*zip.Reader, error) {
	if size > MaxBytes {
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d are kept", ErrRefused, size, MaxBytes)
	}
	archive, err := zip.NewReader(reader, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if len(archive.File) > maxMembers {
		return nil, fmt.Errorf("%w: it has %d members, at most %d are kept", ErrRefused, len(archive.File), maxMembers)
	}
	seen := map[string]bool{}
	sum := uint64(0)
	for _, member := range archive.File {
		if !memberForm.MatchString(member.Name) || seen[member.Name] || !member.Mode().IsRegular() {
			return nil, fmt.Errorf("%w: member %.100q has no place in one", ErrRefused, member.Name)
		}
		seen[member.Name] = true
		if sum += min(member.UncompressedSize64, maxExpanded+1); sum > maxExpanded {
			return nil, fmt.Errorf("%w: it expands to more than %d bytes", ErrRefused, maxExpanded)
		}
	}
	if !seen[caseName] {
		return nil, fmt.Errorf("%w: it has no %s", ErrRefused, caseName)
	}
	return archive, nil
}

// Unpack writes a batch into a folder that it makes.
func Unpack(reader io.ReaderAt, size int64, folder string) error {
	archive, err := open(reader, size)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(folder, recordings), 0o755); err != nil {
		return fmt.Errorf("unpack batch: %w", err)
	}
	for _, member := range archive.File {
		if err := unpackFile(member, filepath.Join(folder, filepath.FromSlash(member.Name))); err != nil {
			return fmt.Errorf("unpack batch: %s: %w", member.Name, err)
		}
	}
	return nil
}

func unpackFile(member *zip.File, to string) error {
	from, err := member.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	// A member that lies about its size ends with an error of the zip.
	_, err = io.Copy(file, io.LimitReader(from, maxExpanded))
	return errors.Join(err, file.Close())
}
