package format

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"culprit/recording"
)

// bpftrace reads the maps that bpftrace prints at its end, as text or as JSON (-f json): counts and
// sums by stack or by other keys, histograms (https://github.com/bpftrace/bpftrace). A map is a
// signal of its own name; the one of stacks is what Options.Signal says.
type bpftrace struct {
	names    *names
	rows     *rows
	frames   textCache
	options  Options
	periodNs float64
	maps     map[int32]*bpfMap // by the text of its name
	bad      int64
	negative int64
	tooLong  int64
	entries  int64
}

// bpfMap is what is known of one map.
type bpfMap struct {
	stacks  int64 // entries whose key has a stack
	buckets int64 // of histograms
}

func newBpftrace(options Options) (*bpftrace, error) {
	options, periodNs, err := countsOf(options)
	if err != nil {
		return nil, err
	}
	return &bpftrace{names: newNames(), rows: newRows(), options: options, periodNs: periodNs,
		maps: map[int32]*bpfMap{}}, nil
}

// bpfHead tells the first line of an entry: "@", "@name[…" or "@name: …".
func bpfHead(line []byte) (name, rest []byte, ok bool) {
	if len(line) < 2 || line[0] != '@' {
		return nil, nil, false
	}
	end := 1
	for end < len(line) && (line[end] == '_' || line[end] >= '0' && line[end] <= '9' ||
		line[end]|0x20 >= 'a' && line[end]|0x20 <= 'z') {
		end++
	}
	rest = line[end:]
	if end > maxText || !bytes.HasPrefix(rest, []byte("[")) && !bytes.HasPrefix(rest, []byte(": ")) {
		return nil, nil, false
	}
	return line[:end], rest, true
}

// isBpfFrame tells a line of a stack: "    vfs_read+570", "    0x7f12".
func isBpfFrame(line []byte) bool {
	text := bytes.TrimLeft(line, " \t")
	return len(text) > 0 && (bytes.HasPrefix(line, []byte("    ")) || line[0] == '\t')
}

// looksLikeBpftrace tells lines that nothing else prints.
func looksLikeBpftrace(line []byte) bool {
	if _, rest, ok := bpfHead(line); ok {
		value := rest[1:]
		if at := bytes.LastIndex(rest, []byte("]:")); at >= 0 {
			value = rest[at+2:]
		} else if rest[0] == '[' { // a stack follows
			return true
		}
		value = bytes.TrimPrefix(bytes.TrimSpace(value), []byte("count "))
		return len(value) == 0 || value[0] == '-' || value[0] >= '0' && value[0] <= '9'
	}
	if _, _, ok := bpfBucket(line); ok {
		return true
	}
	if bytes.HasPrefix(line, []byte("    ")) {
		text := bytes.TrimSpace(line)
		at := bytes.LastIndexByte(text, '+')
		_, number := parseDecimal(text[at+1:])
		return number && bytes.IndexByte(text, ' ') < 0
	}
	return isBpfAttach(line)
}

func looksLikeBpftraceJSON(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	return bytes.HasPrefix(head, []byte(`{"type"`)) && bytes.Contains(head, []byte(`"data"`)) &&
		(bytes.Contains(head, []byte(`"attached_probes"`)) || bytes.Contains(head, []byte(`{"@`)))
}

func (b *bpftrace) read(_ string, input *bufio.Reader) error {
	before, bad := b.entries, b.bad
	head, _ := input.Peek(1) // an error shows below
	var err error
	if bytes.Equal(head, []byte{'{'}) {
		err = b.readJSON(input)
	} else {
		err = b.readText(input)
	}
	switch {
	case err != nil:
		return err
	case b.entries == before:
		return errors.New("no map found; bpftrace prints its maps when it ends, or with print(@map)")
	case b.bad-bad > 4*(b.entries-before)+100:
		return fmt.Errorf("%d lines not understood and only %d entries of maps; is it the output of bpftrace?",
			b.bad-bad, b.entries-before)
	}
	return nil
}

func (b *bpftrace) readText(input *bufio.Reader) error {
	lines := &lineReader{input: input}
	var entry *bpfEntry // whose key or histogram is not over
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			b.tooLong += lines.tooLong
			return nil
		}
		if err != nil {
			return err
		}
		name, rest, head := bpfHead(line)
		switch {
		case head:
			if entry != nil && !entry.keyed {
				b.bad++
			}
			entry = b.begin(name)
			if rest[0] == '[' {
				b.feed(entry, rest[1:])
			} else {
				entry.keyed = true
				b.value(entry, rest[1:])
			}
		case entry != nil && !entry.keyed && isBpfFrame(line):
			entry.frame(line)
		case entry != nil && !entry.keyed && len(line) > 0:
			b.feed(entry, line)
		case entry != nil && entry.keyed && b.bucket(entry, line):
		case len(line) > 0 && !isBpfAttach(line):
			b.bad++
		}
	}
}

// isBpfAttach tells what bpftrace prints before anything else.
func isBpfAttach(line []byte) bool {
	return bytes.HasPrefix(line, []byte("Attaching ")) && bytes.Contains(line, []byte(" probe"))
}

// finish names the signals: the map of stacks is what the caller said it counts.
func (b *bpftrace) finish() (*recording.Recording, error) {
	rec := &recording.Recording{}
	counted := b.countedMap()
	texts := b.names.texts
	for id := range b.maps {
		if name := texts[id]; len(name) > 1 {
			texts[id] = name[1:]
		} else {
			texts[id] = "counts"
		}
	}
	if counted > 0 {
		texts[counted] = b.options.Signal
	}
	b.rows.into(rec, texts, func(r row) int64 {
		if r.signal != counted {
			return 0
		}
		return int64(math.Round(min(float64(r.count)*b.periodNs, maxAmount)))
	})
	b.names.into(rec)
	inOrder(rec)
	lose(rec, "bpftrace: lines not understood", b.bad)
	lose(rec, "bpftrace: values below zero", b.negative)
	lose(rec, "bpftrace: lines longer than 4 MiB", b.tooLong)
	m := &rec.Manifest
	m.Metrics = map[string]float64{"cpu": cpuSeconds(rec)}
	setWindow(rec, b.rows, 0)
	m.BlindSpots = append(m.BlindSpots, lacks(b.lacks(rec, counted)...)...)
	return rec, nil
}

// countedMap is the map of stacks, the unnamed one where there are several; 0: none, or it cannot
// be told.
func (b *bpftrace) countedMap() int32 {
	found, several := int32(0), false
	for id, one := range b.maps {
		switch {
		case one.stacks == 0 || one.buckets > 0:
		case b.names.texts[id] == "@":
			return id
		default:
			several, found = found > 0, id
		}
	}
	if several {
		return 0
	}
	return found
}

func (b *bpftrace) lacks(rec *recording.Recording, counted int32) []string {
	texts := []string{"imported from bpftrace: no threads, no times, no waits one by one, no system calls, no settings",
		"maps that are printed more than once are added up: what was not cleared between counts twice"}
	if counted > 0 && b.options.Period == 0 {
		texts = append(texts, fmt.Sprintf("bpftrace does not say what a stack's count is: one is taken as %v of %s time, "+
			"so shares are right and seconds may not be (import --period sets it)", time.Duration(b.periodNs),
			b.options.Signal))
	}
	if counted == 0 {
		texts = append(texts, "no map, or more than one, counts stacks: none is taken as CPU time")
	}
	return append(texts, keptForExport(rec, nil)...)
}
