package recording

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// repacked returns a .culprit file with members replaced (nil content: left out) and added.
func repacked(t testing.TB, file []byte, method uint16, replace map[string][]byte) []byte {
	t.Helper()
	reader, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	writer := zip.NewWriter(&packed)
	add := func(name string, content []byte) {
		member, err := writer.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err == nil {
			_, err = member.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, member := range reader.File {
		content, replaced := replace[member.Name]
		if !replaced {
			stream, err := member.Open()
			if err == nil {
				content, err = io.ReadAll(stream)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		delete(replace, member.Name)
		if content != nil {
			add(member.Name, content)
		}
	}
	for name, content := range replace {
		add(name, content)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func parquetOf[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var table bytes.Buffer
	if err := parquet.Write(&table, rows, options...); err != nil {
		t.Fatal(err)
	}
	return table.Bytes()
}

func TestReadRefuses(t *testing.T) {
	whole := encoded(t, example())
	long := strings.Repeat("x", MaxStringBytes+1)
	type otherFrame struct {
		Name int64 `parquet:"name"`
	}
	for name, test := range map[string]struct {
		replace map[string][]byte
		want    error
		says    string
	}{
		"later schema": {map[string][]byte{"manifest.json": []byte(`{"schema":7,"host":{}}`)},
			ErrLaterSchema, "schema 7"},
		"no schema":        {map[string][]byte{"manifest.json": []byte(`{}`)}, ErrDamaged, "names no schema"},
		"no manifest":      {map[string][]byte{"manifest.json": nil}, ErrDamaged, "manifest.json is missing"},
		"manifest not one": {map[string][]byte{"manifest.json": []byte(`[1`)}, ErrDamaged, "manifest.json"},
		"no table":         {map[string][]byte{"waits.parquet": nil}, ErrDamaged, "waits.parquet is missing"},
		"empty table":      {map[string][]byte{"waits.parquet": {}}, ErrDamaged, "waits.parquet"},
		"not a table": {map[string][]byte{"waits.parquet": make([]byte, 999)},
			ErrDamaged, "does not end as a Parquet"},
		"frame out of range": {map[string][]byte{"stacks.parquet": parquetOf(t, []Stack{{Frames: []int32{99}}, {}})},
			ErrDamaged, "stack 0 refers to frame 99"},
		"stack out of range": {map[string][]byte{"stacks.parquet": parquetOf(t, []Stack{})},
			ErrDamaged, "refers to stack"},
		"column of another type": {map[string][]byte{"frames.parquet": parquetOf(t, []otherFrame{{1}})},
			ErrDamaged, "column"},
		"text too long": {map[string][]byte{"frames.parquet": parquetOf(t, []Frame{{Name: long}})},
			ErrDamaged, "longer than the limit"},
		"other compression": {map[string][]byte{"frames.parquet": parquetOf(t, []Frame{{Name: "x"}},
			parquet.Compression(&parquet.Snappy))},
			ErrDamaged, "only ZSTD"},
	} {
		t.Run(name, func(t *testing.T) {
			file := repacked(t, whole, zip.Deflate, test.replace)
			r, err := Read(bytes.NewReader(file), int64(len(file)))
			if r != nil || !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("read %v, %v", r != nil, err)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
		})
	}
}

func TestReadIgnoresWhatItDoesNotKnow(t *testing.T) {
	type laterThread struct {
		Thread
		Priority int32 `parquet:"priority"`
	}
	whole := encoded(t, example())
	file := repacked(t, whole, zip.Deflate, map[string][]byte{
		"later.parquet":   []byte("?"),
		"facts.json":      []byte(`[{"name":"n","value":"v","unit":"later"}]`),
		"threads.parquet": parquetOf(t, []laterThread{{Thread: Thread{Pid: 5, Comm: "c"}, Priority: 7}}),
	})
	r, err := Read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if r.Fact("n") != "v" || len(r.Threads) != 1 || r.Threads[0] != (Thread{Pid: 5, Comm: "c"}) || len(r.Samples) != 2 {
		t.Errorf("read %+v", r)
	}
}

func TestTruncationsAndFlippedBytesAreRefusedOrHarmless(t *testing.T) {
	whole := encoded(t, example())
	const step = 53 // a read takes milliseconds; FuzzRead goes further
	for length := 0; length < len(whole); length += step {
		if _, err := Read(bytes.NewReader(whole[:length]), int64(length)); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut to %d of %d bytes: %v", length, len(whole), err)
		}
	}
	for at := 1; at < len(whole); at += step {
		file := bytes.Clone(whole)
		file[at] ^= 0x55
		// A flipped time stamp of the zip is harmless; anything else must be an error, never a
		// panic.
		if r, err := Read(bytes.NewReader(file), int64(len(file))); (r == nil) == (err == nil) {
			t.Fatalf("byte %d flipped: %v, %v", at, r, err)
		}
	}
}

// TestRunsThatClaimMoreThanThePage: four bytes of run lengths that expand to gigabytes.
func TestRunsThatClaimMoreThanThePage(t *testing.T) {
	bomb := binary.AppendUvarint([]byte{8}, (1<<30)<<1)
	bomb = append(bomb, 1)
	if err := vetValues(parquet.ByteArray, 8, bomb, 100); err == nil {
		t.Error("a run of 2^30 values in a page of 100 was taken")
	}
	huge := binary.AppendUvarint(nil, 1<<63|1)
	if err := vetRuns(append(huge, 0), 32, 100); err == nil {
		t.Error("a length that overflows was taken")
	}
	if err := vetDelta([]byte{0x80, 1, 4, 0xff, 0xff, 0xff, 0x07, 0}, 10); err == nil {
		t.Error("differences of 2^24 values in a page of 10 were taken")
	}
}

func TestMetadataThatLies(t *testing.T) {
	for name, data := range map[string][]byte{
		"list longer than the bytes": {0x19, 0xFC, 0xff, 0xff, 0xff, 0x7f},
		"text longer than the bytes": {0x18, 0xff, 0xff, 0xff, 0x7f},
		"structures without an end":  bytes.Repeat([]byte{0x1C}, 1000),
		"lists in lists without end": bytes.Repeat([]byte{0x19}, 1000),
		"a map":                      {0x1B, 0x01, 0x55, 0, 0},
		"more elements than the limit": append(binary.AppendUvarint([]byte{0x19, 0xF3}, maxThriftElements+1),
			make([]byte, maxThriftElements+2)...),
		"nothing": {},
	} {
		if _, err := skimStruct(data); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// A file of some KB whose rows take more memory than its reader has for it is refused before they
// are made.
func TestReadWithin(t *testing.T) {
	r := example()
	r.Samples = make([]Sample, 20_000)
	for i := range r.Samples {
		r.Samples[i] = Sample{Signal: SignalCPU, Stack: NoStack, Count: 1}
	}
	file := encoded(t, r)
	const memory = 1 << 20
	if len(file) > memory/10 {
		t.Fatalf("%d bytes are no bomb", len(file))
	}
	if _, err := ReadWithin(bytes.NewReader(file), int64(len(file)), memory); !errors.Is(err, ErrDamaged) ||
		!strings.Contains(err.Error(), "20000 rows") {
		t.Errorf("of 1 MB: %v", err)
	}
	if _, err := ReadWithin(bytes.NewReader(file), int64(len(file)), 16*memory); err != nil {
		t.Errorf("of 16 MB: %v", err)
	}
}

func TestTooManyMembers(t *testing.T) {
	var file bytes.Buffer
	writer := zip.NewWriter(&file)
	for i := range maxMembers + 1 {
		if _, err := writer.Create(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(bytes.NewReader(file.Bytes()), int64(file.Len())); !errors.Is(err, ErrDamaged) {
		t.Errorf("read: %v", err)
	}
}

func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{folder, pipe, filepath.Join(folder, "none"), "/dev/null", ""} {
		if r, err := Open(path); r != nil || err == nil {
			t.Errorf("opened %q: %v", path, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	whole := encoded(f, example())
	f.Add(whole)
	f.Add(repacked(f, whole, zip.Deflate, map[string][]byte{}))
	f.Add(whole[:len(whole)/2])
	f.Fuzz(func(t *testing.T, file []byte) {
		if r, err := Read(bytes.NewReader(file), int64(len(file))); (r == nil) == (err == nil) {
			t.Errorf("value %v and error %v", r, err)
		}
	})
}

// FuzzTable fuzzes below the zip, whose sums stop most changes.
func FuzzTable(f *testing.F) {
	f.Add(parquetOf(f, example().Syscalls))
	f.Add(parquetOf(f, example().Syscalls, parquet.Compression(&parquet.Zstd)))
	f.Add(parquetOf(f, example().Syscalls, parquet.DataPageVersion(1)))
	f.Fuzz(func(t *testing.T, file []byte) {
		memory := int64(math.MaxInt64)
		rows, err := readTable[Syscall](bytes.NewReader(file), int64(len(file)), 1000, &memory)
		if err != nil && rows != nil {
			t.Errorf("%d rows and error %v", len(rows), err)
		}
	})
}
