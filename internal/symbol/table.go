package symbol

import (
	"bytes"
	"cmp"
	"io"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
)

const (
	maxNameBytes = 4096    // of one raw name; the rest is cut
	maxSymbols   = 4 << 20 // functions of one table
	maxTextBytes = 256 << 20
	copiesBytes  = 256 << 10
	maxNesting   = 8 // symbols around an address that are looked at
)

// Table names the addresses of one file or one address space. It keeps 16 bytes
// a function, and the names in one string or in the file they came from (those of
// Node's or the JVM's functions are 10 to 30 MB); it is safe for concurrent use.
type Table struct {
	starts []uint64 // ascending, all different
	sizes  []uint32
	names  []uint32 // where in text the name starts; a zero byte ends it; with the bit inFile: where in file behind texts
	text   string
	file   io.ReaderAt
	texts  int64
}

const (
	inFile    = 1 << 31
	byAddress = math.MaxUint32 // instead of where the name is: it has none, see addUnnamed
	firstRead = 128            // bytes of a name; most are shorter
)

// Len returns the number of functions.
func (t *Table) Len() int { return len(t.starts) }

// Lookup returns the raw name of the function at an address and how far into
// it the address is; ok is false where no function is known to be. The name
// shares its memory with the table.
func (t *Table) Lookup(address uint64) (name string, offset uint64, ok bool) {
	i, ok := t.index(address)
	if !ok {
		return "", 0, false
	}
	name = t.name(i)
	return name, address - t.starts[i], name != ""
}

func (t *Table) index(address uint64) (int, bool) {
	after := sort.Search(len(t.starts), func(i int) bool { return t.starts[i] > address })
	// Functions may lie in each other: the innermost is the one that starts last.
	for i := after - 1; i >= 0 && i >= after-maxNesting; i-- {
		if address-t.starts[i] < uint64(t.sizes[i]) {
			return i, true
		}
	}
	return 0, false
}

func (t *Table) name(i int) string {
	if t.names[i] == byAddress {
		return "+0x" + strconv.FormatUint(t.starts[i], 16) + "()"
	}
	if t.names[i]&inFile != 0 {
		return t.nameInFile(t.texts + int64(t.names[i]&^inFile))
	}
	name := t.text[t.names[i]:]
	return name[:strings.IndexByte(name, 0)]
}

// nameInFile reads a name; "" where the file has changed meanwhile, so that it cannot be.
func (t *Table) nameInFile(at int64) string {
	for length := firstRead; ; length *= 4 {
		text := make([]byte, min(length, maxNameBytes+1))
		n, _ := t.file.ReadAt(text, at) // what it has is looked at, whyever that is not all
		name := symbolName(text[:n])
		if len(name) < n || n < length || n > maxNameBytes {
			return string(name[:min(len(name), maxNameBytes)])
		}
	}
}

// The ranks of the names that one address can have, best first.
const (
	rankGlobal uint8 = iota
	rankLocal
	rankStub
	rankUnnamed  // known by its address alone
	rankBoundary // no function: what ends the one before it
)

// symbolEntry is a function while a table is built.
type symbolEntry struct {
	start uint64
	size  uint64 // 0: up to the next function, but not beyond end
	end   uint64 // of its section; 0 when unknown
	name  []byte // in memory that nobody writes to any more
	rank  uint8
	at    uint32 // 1 more than where in the table's file its name is; 0: the name is to be copied
}

type tableBuilder struct {
	entries   []symbolEntry
	nameBytes int
	prefer    string // prefix of names that win over their aliases
	dropped   int    // over the limits
	refer     bool   // names are not copied
	texts     int64  // where in the file those are
	copies    []byte // the current piece of the names that keep copied
}

func (b *tableBuilder) add(entry symbolEntry) {
	entry.name = entry.name[:min(len(entry.name), maxNameBytes)]
	if len(entry.name) == 0 && entry.rank != rankBoundary && entry.rank != rankUnnamed {
		return
	}
	if len(b.entries) >= maxSymbols || b.nameBytes+len(entry.name)+1 > maxTextBytes {
		b.dropped++
		return
	}
	b.nameBytes += len(entry.name) + 1
	b.entries = append(b.entries, entry)
}

// keep copies a name that lies in a buffer which is used again.
func (b *tableBuilder) keep(name []byte) []byte {
	name = name[:min(len(name), maxNameBytes)]
	if cap(b.copies)-len(b.copies) < len(name) {
		b.copies = make([]byte, 0, copiesBytes)
	}
	start := len(b.copies)
	b.copies = append(b.copies, name...)
	return b.copies[start:len(b.copies):len(b.copies)]
}

// compare orders by address, and of the names of one address puts the best
// first. The order is total, so the same file always gives the same names.
func (b *tableBuilder) compare(x, y symbolEntry) int {
	if x.start != y.start {
		return cmp.Compare(x.start, y.start)
	}
	left, right := x.name, y.name
	return cmp.Or(
		cmp.Compare(b.preference(left), b.preference(right)),
		cmp.Compare(sizeless(x), sizeless(y)),
		cmp.Compare(x.rank, y.rank),
		// write before __write, and then the shorter one. Two mangled names of one
		// address (constructors) read the same, so their raw length does.
		cmp.Compare(leadingUnderscores(left), leadingUnderscores(right)),
		cmp.Compare(len(left), len(right)),
		bytes.Compare(left, right),
		cmp.Compare(x.size, y.size),
	)
}

func (b *tableBuilder) preference(name []byte) int {
	if b.prefer != "" && bytes.HasPrefix(name, []byte(b.prefer)) {
		return 0
	}
	return 1
}

func sizeless(entry symbolEntry) int {
	if entry.size == 0 {
		return 1
	}
	return 0
}

func leadingUnderscores(name []byte) int {
	return len(name) - len(bytes.TrimLeft(name, "_"))
}

// table sorts, keeps one name for each address and gives every function a size.
func (b *tableBuilder) table() *Table {
	slices.SortFunc(b.entries, b.compare)
	entries := slices.CompactFunc(b.entries, func(x, y symbolEntry) bool { return x.start == y.start })
	entries = slices.CompactFunc(entries, func(x, y symbolEntry) bool {
		return x.rank == rankBoundary && y.rank == rankBoundary
	})
	t := &Table{
		starts: make([]uint64, len(entries)),
		sizes:  make([]uint32, len(entries)),
		names:  make([]uint32, len(entries)),
		texts:  b.texts,
	}
	var text strings.Builder
	length := 0
	for _, entry := range entries {
		if entry.at == 0 && entry.rank != rankUnnamed {
			length += len(entry.name) + 1
		}
	}
	text.Grow(length)
	for i, entry := range entries {
		size := entry.size
		if size == 0 {
			size = sizeUpTo(entry, entries[i+1:])
		}
		t.starts[i], t.sizes[i] = entry.start, uint32(min(size, math.MaxUint32))
		if entry.at != 0 {
			t.names[i] = inFile | (entry.at - 1)
			continue
		}
		if entry.rank == rankUnnamed {
			t.names[i] = byAddress
			continue
		}
		t.names[i] = uint32(text.Len())
		text.Write(entry.name)
		text.WriteByte(0)
	}
	t.text = text.String()
	return t
}

func sizeUpTo(entry symbolEntry, following []symbolEntry) uint64 {
	end := entry.end
	if len(following) > 0 && (end == 0 || following[0].start < end) {
		end = following[0].start
	}
	if end <= entry.start {
		return 0
	}
	return end - entry.start
}
