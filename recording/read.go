package recording

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"syscall"
)

// Open reads the recording in a file.
func Open(path string) (*Recording, error) {
	// O_NONBLOCK: a named pipe must be refused, not waited for.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open recording %s: there is no such file", path)
	}
	if err != nil {
		return nil, fmt.Errorf("open recording %s: %w", path, withoutPath(err))
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("open recording %s: %w", path, withoutPath(err))
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open recording %s: it is not a file (%s)", path, info.Mode().Type())
	}
	r, err := Read(file, info.Size())
	if err != nil {
		return nil, fmt.Errorf("read recording %s: %w", path, err)
	}
	return r, nil
}

// Read reads a whole recording or none: an error wraps ErrDamaged when the
// bytes are not a whole recording within the limits, ErrLaterSchema when a
// later culprit wrote them. Unknown members of the zip and of its documents
// are ignored.
func Read(source io.ReaderAt, size int64) (*Recording, error) {
	return ReadWithin(source, size, math.MaxInt64)
}

// ReadWithin is Read for who reads many at once: the rows of all tables may take so many bytes of
// memory together, beside their texts, of which equal ones are kept once. A file of some KB may
// hold millions of rows.
func ReadWithin(source io.ReaderAt, size, memory int64) (*Recording, error) {
	archive, err := openArchive(source, size)
	if err != nil {
		return nil, err
	}
	archive.memory = memory
	r := &Recording{}
	if err := archive.readManifest(&r.Manifest); err != nil {
		return nil, err
	}
	if err := archive.readDocument(factsMember, &r.Facts); err != nil {
		return nil, err
	}
	reads := []func() error{
		func() error { return readMember(archive, "frames", MaxFrames, &r.Frames) },
		func() error { return readMember(archive, "stacks", MaxStacks, &r.Stacks) },
		func() error { return readMember(archive, "samples", MaxSamples, &r.Samples) },
		func() error { return readMember(archive, "syscalls", MaxSyscalls, &r.Syscalls) },
		func() error { return readMember(archive, "waits", MaxWaits, &r.Waits) },
		func() error { return readMember(archive, "processes", MaxProcesses, &r.Processes) },
		func() error { return readMember(archive, "threads", MaxThreads, &r.Threads) },
	}
	if r.Manifest.Schema >= 2 {
		reads = append(reads, archive.evidence(&r.Evidence)...)
	}
	reads = append(reads, func() error { return readLater(archive, dependenciesTable, MaxDependencies, &r.Dependencies) })
	reads = append(reads, r.RequestTables.reads(archive)...)
	for _, read := range reads {
		if err := read(); err != nil {
			return nil, err
		}
	}
	if err := r.check(); err != nil {
		return nil, damaged("%v", err)
	}
	if r.Manifest.Schema < 3 {
		r.fromWords()
	}
	return r, nil
}

// ReadManifest reads the manifest alone, of at most limit bytes: what a list of many recordings
// tells of each. The tables are not looked at, and may be damaged.
func ReadManifest(source io.ReaderAt, size, limit int64) (*Manifest, error) {
	archive, err := openArchive(source, size)
	if err != nil {
		return nil, err
	}
	if member := archive.members[manifestMember]; member != nil && member.UncompressedSize64 > uint64(limit) {
		return nil, damaged("%s has %d bytes, more than a list reads", manifestMember, member.UncompressedSize64)
	}
	manifest := &Manifest{}
	if err := archive.readManifest(manifest); err != nil {
		return nil, err
	}
	return manifest, nil
}

// fromWords fills in what earlier schemas hold in words alone.
func (r *Recording) fromWords() {
	if format, _, found := strings.Cut(r.Fact(ImportFact), " of "); found { // "folded of a.txt"
		r.Manifest.Format = format
	}
}

// evidence reads the tables that came with schema 2.
func (a *archive) evidence(e *Evidence) []func() error {
	return []func() error{
		func() error { return readMember(a, "slow", MaxSlow, &e.Slow) },
		func() error { return readMember(a, "locks", MaxEvidence, &e.Locks) },
		func() error { return readMember(a, "wakeups", MaxEvidence, &e.Wakeups) },
		func() error { return readMember(a, "block", MaxEvidence, &e.Block) },
		func() error { return readMember(a, "network", MaxEvidence, &e.Network) },
		func() error { return readMember(a, "metrics", MaxMetrics, &e.Metrics) },
		func() error { return readMember(a, "lines", MaxEvidence, &e.Lines) },
		func() error { return readMember(a, "counters", MaxEvidence, &e.Counters) },
		func() error { return readMember(a, "errors", MaxEvidence, &e.Errors) },
	}
}

type archive struct {
	source  io.ReaderAt
	members map[string]*zip.File
	memory  int64 // that rows may take yet
}

func openArchive(source io.ReaderAt, size int64) (*archive, error) {
	if size < 22 { // of the smallest zip there is
		return nil, damaged("it has only %d bytes", size)
	}
	directory := &directoryReader{source: source, left: maxDirectory}
	reader, err := zip.NewReader(directory, size)
	if directory.left < 0 {
		return nil, damaged("its directory has more than %d bytes", maxDirectory)
	}
	directory.left = math.MaxInt64
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are looked up, never written
		return nil, damaged("%s", strings.TrimPrefix(err.Error(), "zip: "))
	}
	if len(reader.File) > maxMembers {
		return nil, damaged("%d members are more than the limit of %d", len(reader.File), maxMembers)
	}
	opened := &archive{source: source, members: map[string]*zip.File{}, memory: math.MaxInt64}
	for _, member := range reader.File {
		if _, twice := opened.members[member.Name]; twice {
			return nil, damaged("member %q is there twice", member.Name)
		}
		opened.members[member.Name] = member
	}
	return opened, nil
}

// directoryReader bounds what is read of a zip before its members are counted: a directory of a
// gigabyte would become several in memory.
type directoryReader struct {
	source io.ReaderAt
	left   int64
}

func (d *directoryReader) ReadAt(p []byte, offset int64) (int, error) {
	if d.left != math.MaxInt64 {
		if d.left -= int64(len(p)); d.left < 0 {
			return 0, io.ErrUnexpectedEOF
		}
	}
	return d.source.ReadAt(p, offset)
}

func (a *archive) readManifest(manifest *Manifest) error {
	text, err := a.content(manifestMember, maxDocument)
	if err != nil {
		return err
	}
	// A later manifest may not fit this one's types: its schema is what is said of it then.
	failed := json.Unmarshal(text, manifest)
	version := struct {
		Schema int `json:"schema"`
	}{manifest.Schema}
	if failed != nil {
		if err := json.Unmarshal(text, &version); err != nil {
			return damaged("%s: %v", manifestMember, err)
		}
	}
	if version.Schema > SchemaVersion {
		return fmt.Errorf("%w: schema %d, this one reads up to %d: take a later culprit",
			ErrLaterSchema, version.Schema, SchemaVersion)
	}
	if version.Schema < 1 {
		return damaged("%s names no schema", manifestMember)
	}
	if failed != nil {
		return damaged("%s: %v", manifestMember, failed)
	}
	return nil
}

func (a *archive) readDocument(name string, document any) error {
	text, err := a.content(name, maxDocument)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, document); err != nil {
		return damaged("%s: %v", name, err)
	}
	return nil
}

// content reads one member into memory, at most limit bytes, and checks its sum.
func (a *archive) content(name string, limit int64) ([]byte, error) {
	member, ok := a.members[name]
	if !ok {
		return nil, damaged("%s is missing", name)
	}
	if member.UncompressedSize64 > uint64(limit) {
		return nil, damaged("%s has %d bytes, more than the limit of %d", name, member.UncompressedSize64, limit)
	}
	stream, err := member.Open()
	if err != nil {
		return nil, damaged("%s: %v", name, err)
	}
	defer stream.Close()
	// Not to the size that the header claims: memory is given for bytes that came.
	var text bytes.Buffer
	if _, err := io.Copy(&text, io.LimitReader(stream, limit+1)); err != nil {
		return nil, damaged("%s: %v", name, err)
	}
	if int64(text.Len()) > limit {
		return nil, damaged("%s has more than the limit of %d bytes", name, limit)
	}
	return text.Bytes(), nil
}

// table returns a member to read at any place: in the file itself when it is
// stored, as culprit writes it; in memory when somebody packed the zip again.
func (a *archive) table(name string) (io.ReaderAt, int64, error) {
	member, ok := a.members[name]
	if !ok {
		return nil, 0, damaged("%s is missing", name)
	}
	if member.Method != zip.Store {
		content, err := a.content(name, maxTable/4)
		return bytes.NewReader(content), int64(len(content)), err
	}
	if member.UncompressedSize64 > maxTable || member.CompressedSize64 != member.UncompressedSize64 {
		return nil, 0, damaged("%s has %d bytes, more than the limit of %d",
			name, member.UncompressedSize64, maxTable)
	}
	stream, err := member.Open()
	if err != nil {
		return nil, 0, damaged("%s: %v", name, err)
	}
	defer stream.Close()
	if _, err := io.Copy(io.Discard, stream); err != nil { // checks the sum
		return nil, 0, damaged("%s: %v", name, err)
	}
	offset, err := member.DataOffset()
	if err != nil {
		return nil, 0, damaged("%s: %v", name, err)
	}
	size := int64(member.CompressedSize64)
	return io.NewSectionReader(a.source, offset, size), size, nil
}

// readLater reads a table that came after the schema's others: a recording may lack it.
func readLater[T any](a *archive, name string, limit int64, rows *[]T) error {
	if _, there := a.members[name+tableSuffix]; !there {
		return nil
	}
	return readMember(a, name, limit, rows)
}

func readMember[T any](a *archive, name string, limit int64, rows *[]T) error {
	source, size, err := a.table(name + tableSuffix)
	if err != nil {
		return err
	}
	*rows, err = readTable[T](source, size, limit, &a.memory)
	if err != nil {
		return damaged("%s%s: %v", name, tableSuffix, err)
	}
	return nil
}
