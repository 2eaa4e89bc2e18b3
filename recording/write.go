package recording

import (
	"archive/zip"
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"

	"github.com/parquet-go/parquet-go"
)

// The members of a .culprit file.
const (
	manifestMember = "manifest.json"
	factsMember    = "facts.json"
	tableSuffix    = ".parquet"
)

// ErrNoSpace is wrapped by the error of a recording for which the disk has no room.
var ErrNoSpace = errors.New("no space left")

// Write writes a recording to a file: whole or not at all. It is made in a
// temporary file beside path, brought to disk and renamed, so an existing
// recording is replaced in one step and a failure leaves no trace.
func Write(path string, r *Recording) error {
	return wholly(path, func(w io.Writer) error { return Encode(w, r) })
}

// wholly writes a file by way of a temporary one.
func wholly(path string, encode func(io.Writer) error) error {
	if err := writeWhole(path, encode); err != nil {
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			return fmt.Errorf("write recording %s: %w in %s (free some or choose another place)",
				path, ErrNoSpace, filepath.Dir(path))
		}
		return fmt.Errorf("write recording %s: %w", path, err)
	}
	return nil
}

func writeWhole(path string, encode func(io.Writer) error) (err error) {
	target, err := writable(path)
	if err != nil {
		return err
	}
	// Not os.CreateTemp: its mode 0600 would keep the user who ran sudo from reading the file.
	folder := filepath.Dir(target)
	temporary := filepath.Join(folder, fmt.Sprintf(".%s.%x.tmp", filepath.Base(target), rand.Uint64()))
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return withoutPath(err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(withoutPath(err), ignoreClosed(file.Close()), withoutPath(os.Remove(temporary)))
		}
	}()
	buffered := bufio.NewWriterSize(file, 1<<16)
	if err := encode(buffered); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := os.Rename(temporary, target); err != nil {
		return err
	}
	syncFolder(folder)
	return nil
}

// writable follows a symbolic link to its file, and refuses to rename over
// anything but a file: /dev/null must stay what it is.
func writable(path string) (string, error) {
	if path == "" {
		return "", errors.New("no file name given")
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		return "", withoutPath(err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("exists and is not a file (%s)", info.Mode().Type())
	}
	return filepath.EvalSymlinks(path)
}

// withoutPath drops the temporary name from an error: the caller names the file that was asked for.
func withoutPath(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return fmt.Errorf("%s: %w", pathError.Op, pathError.Err)
	}
	var linkError *os.LinkError
	if errors.As(err, &linkError) {
		return fmt.Errorf("%s: %w", linkError.Op, linkError.Err)
	}
	return err
}

func ignoreClosed(err error) error {
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}

// syncFolder makes the rename last. Some file systems refuse to sync a folder;
// the file itself is whole either way, so that is no failure of the write.
func syncFolder(folder string) {
	if directory, err := os.Open(folder); err == nil {
		_ = directory.Sync()
		_ = directory.Close()
	}
}

// Encode writes a recording to a stream, in the form that Read reads.
func Encode(w io.Writer, r *Recording) error {
	if err := r.check(); err != nil {
		return err
	}
	archive := zip.NewWriter(w)
	manifest := r.Manifest
	manifest.Schema = SchemaVersion
	if err := writeDocument(archive, manifestMember, manifest); err != nil {
		return err
	}
	facts := r.Facts
	if facts == nil {
		facts = []Fact{} // [] and not null, for readers in other languages
	}
	if err := writeDocument(archive, factsMember, facts); err != nil {
		return err
	}
	codec := &codec{} // one for all tables: making its encoder costs most of a small file
	for _, err := range []error{
		writeTable(archive, codec, "frames", r.Frames),
		writeTable(archive, codec, "stacks", r.Stacks),
		writeTable(archive, codec, "samples", r.Samples),
		writeTable(archive, codec, "syscalls", r.Syscalls),
		writeTable(archive, codec, "waits", r.Waits),
		writeTable(archive, codec, "processes", r.Processes),
		writeTable(archive, codec, "threads", r.Threads),
		writeTable(archive, codec, "slow", r.Slow),
		writeTable(archive, codec, "locks", r.Locks),
		writeTable(archive, codec, "wakeups", r.Wakeups),
		writeTable(archive, codec, "block", r.Block),
		writeTable(archive, codec, "network", r.Network),
		writeTable(archive, codec, "metrics", r.Metrics),
		writeTable(archive, codec, "lines", r.Lines),
		writeTable(archive, codec, "counters", r.Counters),
		writeTable(archive, codec, "errors", r.Errors),
		writeTable(archive, codec, dependenciesTable, r.Dependencies),
	} {
		if err != nil {
			return err
		}
	}
	if r.RequestTables.isThere() {
		if err := r.RequestTables.write(archive, codec); err != nil {
			return err
		}
	}
	return archive.Close()
}

func writeDocument(archive *zip.Writer, name string, document any) error {
	text, err := json.MarshalIndent(document, "", " ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	if len(text) > maxDocument {
		return fmt.Errorf("encode %s: %d bytes are more than the limit of %d", name, len(text), maxDocument)
	}
	member, err := archive.Create(name)
	if err != nil {
		return err
	}
	_, err = member.Write(append(text, '\n'))
	return err
}

// writeTable stores a table without deflating it: its columns are compressed
// already, and a stored one can be read in place.
func writeTable[T any](archive *zip.Writer, codec *codec, name string, rows []T) error {
	table, err := newTable[T](archive, codec, name)
	if err != nil {
		return err
	}
	if err := table.write(rows); err != nil {
		return err
	}
	return table.close()
}

// openTable is a table that is being written.
type openTable[T any] struct {
	name  string
	table *parquet.GenericWriter[T]
	batch []T
}

// newTable begins a member of the archive; it must be closed before the next is begun.
func newTable[T any](archive *zip.Writer, codec *codec, name string) (*openTable[T], error) {
	member, err := archive.CreateHeader(&zip.FileHeader{Name: name + tableSuffix, Method: zip.Store})
	if err != nil {
		return nil, err
	}
	table := parquet.NewGenericWriter[T](member,
		parquet.Compression(codec),
		parquet.CreatedBy("culprit", "1", ""),
		parquet.DictionaryMaxBytes(maxPage/4),
	)
	return &openTable[T]{name: name, table: table, batch: make([]T, 0, rowsPerBatch)}, nil
}

func (t *openTable[T]) write(rows []T) error {
	for start := 0; start < len(rows); start += rowsPerBatch {
		t.batch = append(t.batch[:0], rows[start:min(start+rowsPerBatch, len(rows))]...)
		if err := cleanStrings(t.name, t.batch); err != nil {
			return err
		}
		if _, err := t.table.Write(t.batch); err != nil {
			return fmt.Errorf("encode table %s: %w", t.name, err)
		}
	}
	return nil
}

func (t *openTable[T]) close() error {
	if err := t.table.Close(); err != nil {
		return fmt.Errorf("encode table %s: %w", t.name, err)
	}
	return nil
}
