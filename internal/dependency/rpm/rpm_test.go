package rpm

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// sqliteFile is a database that rpm 4.18 made of two packages: one of 301 files, and one of one.
func sqliteFile(t testing.TB) []byte {
	t.Helper()
	file, err := os.Open("testdata/rpmdb.sqlite.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// headers are those of the packages in a file of SQLite.
func headers(t testing.TB) (blobs [][]byte) {
	content := sqliteFile(t)
	db := &database{file: bytes.NewReader(content), size: int64(len(content))}
	table := &table{db, 4096, 4096}
	for root := int64(2); root < 8 && len(blobs) < 2; root++ {
		blobs = nil
		_, _ = table.rows(root, 0, func(row []byte) bool {
			if columns := fields(row); len(columns) == 2 && parse(columns[1]) != nil {
				blobs = append(blobs, columns[1])
			}
			return true
		})
	}
	if len(blobs) != 2 {
		t.Fatalf("%d headers", len(blobs))
	}
	return blobs
}

// ndbFile lays headers out as SUSE's rpm does.
func ndbFile(blobs [][]byte) []byte {
	order := binary.LittleEndian
	file := append([]byte("RpmP"), make([]byte, slotPage-4)...)
	order.PutUint32(file[12:], 1)
	for at := 2 * slotSize; at < slotPage; at += slotSize {
		copy(file[at:], "Slot")
	}
	for i, blob := range blobs {
		slot := file[(2+2*i)*slotSize:] // with a free one between
		order.PutUint32(slot[4:], uint32(i+7))
		order.PutUint32(slot[8:], uint32(len(file)/blockSize))
		head := append([]byte("BlbS"), make([]byte, headerHead-4)...)
		order.PutUint32(head[4:], uint32(i+7))
		order.PutUint32(head[12:], uint32(len(blob)))
		file = append(append(file, head...), blob...)
		file = append(file, make([]byte, blockSize-len(file)%blockSize)...)
	}
	return file
}

// hashFile lays headers out as rpm does with Berkeley DB.
func hashFile(order binary.ByteOrder, blobs [][]byte) []byte {
	const size = 512
	meta, hash := make([]byte, size), make([]byte, size)
	order.PutUint32(meta[12:], hashMagic)
	order.PutUint32(meta[20:], size)
	meta[25], hash[25] = 8, sortedHash
	order.PutUint16(hash[20:], uint16(2*len(blobs)))
	var rest []byte
	for i, blob := range blobs {
		at := size - offPageLength*(i+1)
		order.PutUint16(hash[pageHead+4*i+2:], uint16(at))
		hash[at] = offPageItem
		order.PutUint32(hash[at+4:], uint32(2+len(rest)/size))
		order.PutUint32(hash[at+8:], uint32(len(blob)))
		for len(blob) > 0 {
			page := make([]byte, size)
			page[25] = overflowPage
			n := copy(page[pageHead:], blob)
			if blob = blob[n:]; len(blob) > 0 {
				order.PutUint32(page[16:], uint32(3+len(rest)/size))
			}
			rest = append(rest, page...)
		}
	}
	order.PutUint32(meta[32:], uint32(1+len(rest)/size))
	return slices.Concat(meta, hash, rest)
}

func read(content []byte) (lines []string, err error) {
	err = Read(bytes.NewReader(content), int64(len(content)), func(found *Package) bool {
		files := slices.Collect(found.Files())
		last := ""
		if len(files) > 0 {
			last = files[0]
		}
		lines = append(lines, found.Name+" "+found.Version+" "+last)
		return len(files) < 10000
	})
	slices.Sort(lines)
	return lines, err
}

func TestForms(t *testing.T) {
	blobs := headers(t)
	for name, content := range map[string][]byte{"sqlite": sqliteFile(t), "ndb": ndbFile(blobs),
		"hash": hashFile(binary.LittleEndian, blobs), "hash of s390x": hashFile(binary.BigEndian, blobs)} {
		lines, err := read(content)
		want := "lines 2.0-1 /usr/lib64/liblines.so.2; shapes 1:1.2-3 /usr/lib64/libshapes.so.1.2"
		if got := strings.Join(lines, "; "); got != want || err != nil {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	files := 0
	for range parse(blobs[1]).Files() {
		files++
	}
	for range parse(blobs[0]).Files() {
		files++
	}
	if files != 303 { // with the folder of shapes
		t.Errorf("%d files", files)
	}
}

// A page that leads to itself, and what lies outside of the file, end the reading.
func TestDamaged(t *testing.T) {
	order := binary.LittleEndian
	circle := hashFile(order, headers(t))
	order.PutUint32(circle[2*512+16:], 2)
	far := ndbFile(headers(t))
	order.PutUint32(far[2*slotSize+8:], 1<<30)
	bare := append([]byte("SQLite format 3\x00"), make([]byte, 500)...)
	for name, content := range map[string][]byte{"short": []byte("RpmP"), "empty": nil, "far": far,
		"text": bytes.Repeat([]byte("x"), 600), "cut": sqliteFile(t)[:8192], "nothing in it": bare} {
		if lines, err := read(content); !errors.Is(err, errDamaged) {
			t.Errorf("%s: %q, %v", name, lines, err)
		}
	}
	if lines, err := read(circle); len(lines) > 2 || err != nil {
		t.Errorf("circle: %q, %v", lines, err)
	}
}

// Whatever a container has in the place of its database, reading it ends.
func FuzzRead(f *testing.F) {
	blobs := headers(f)
	f.Add(ndbFile(blobs[:1]))
	f.Add(hashFile(binary.LittleEndian, blobs[:1]))
	f.Add(sqliteFile(f)[:4096*5])
	f.Fuzz(func(t *testing.T, content []byte) { _, _ = read(content) })
}
