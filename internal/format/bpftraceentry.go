package format

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"culprit/recording"
)

// Limits of one key: its parts, and the frames of all of its stacks.
const (
	maxBpfParts  = 64
	maxBpfFrames = 8 << 10
)

// bpfEntry is one entry of a map, while it is read.
type bpfEntry struct {
	signal int32
	of     *bpfMap
	parts  []bpfPart
	lines  int     // of stacks
	keyed  bool    // its key is whole
	root   []int32 // the frames of the whole key
	stack  int32
	comm   int32
	done   bool // it had a value of its own: no histogram follows
}

// bpfPart is one part of a key: a stack, leaf first, or a text.
type bpfPart struct {
	frames []string
	text   string
}

func (b *bpftrace) begin(name []byte) *bpfEntry {
	id := b.names.text(name)
	if b.maps[id] == nil {
		b.maps[id] = &bpfMap{}
	}
	return &bpfEntry{signal: id, of: b.maps[id], stack: recording.NoStack}
}

// frame adds a line of a stack to the part that is read.
func (e *bpfEntry) frame(line []byte) {
	if len(e.parts) == 0 {
		e.parts = append(e.parts, bpfPart{})
	}
	part := &e.parts[len(e.parts)-1]
	if part.text != "" && len(e.parts) < maxBpfParts {
		e.parts = append(e.parts, bpfPart{})
		part = &e.parts[len(e.parts)-1]
	}
	if e.lines++; e.lines <= maxBpfFrames {
		part.frames = append(part.frames, cutText(string(bytes.TrimSpace(line)), maxName))
	}
}

// feed reads the rest of a line of a key: "comm, 7]: 5", ", comm]: 5", "]: 5", "comm, ".
func (b *bpftrace) feed(entry *bpfEntry, text []byte) {
	value, ended := []byte(nil), false
	if at := bytes.LastIndex(text, []byte("]: ")); at >= 0 {
		text, value, ended = text[:at], text[at+2:], true
	} else if bytes.HasSuffix(text, []byte("]:")) {
		text, ended = text[:len(text)-2], true
	}
	entry.key(string(text))
	if ended {
		entry.keyed = true
		b.value(entry, value)
	}
}

// key adds the parts of "comm, 7" or ",comm,7": a comma ends the part before it.
func (e *bpfEntry) key(text string) {
	for i, part := range strings.Split(text, ",") {
		if i > 0 && len(e.parts) < maxBpfParts {
			if len(e.parts) == 0 {
				e.parts = append(e.parts, bpfPart{})
			}
			e.parts = append(e.parts, bpfPart{})
		}
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if len(e.parts) == 0 {
			e.parts = append(e.parts, bpfPart{})
		}
		e.parts[len(e.parts)-1].text = cutText(part, maxName)
	}
}

// value reads what stands behind the key: a number, statistics, or nothing before a histogram.
func (b *bpftrace) value(entry *bpfEntry, text []byte) {
	b.place(entry)
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return
	}
	entry.done = true
	if count, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		b.add(entry, "", count)
		return
	}
	var count, total int64
	var average float64
	if n, _ := fmt.Sscanf(string(text[:min(len(text), maxText)]), "count %d, average %g, total %d", &count, &average,
		&total); n == 3 {
		b.add(entry, " count", count)
		b.add(entry, " total", total)
		return
	}
	b.bad++
}

// place makes the stack of a key: what is neither a stack nor the thread's name stands as a frame
// before it.
func (b *bpftrace) place(entry *bpfEntry) {
	var root []int32
	var stacks [][]string
	for _, part := range entry.parts {
		switch {
		case len(part.frames) > 0:
			stacks = append(stacks, part.frames)
		case part.text == "":
		case entry.comm == 0 && !isNumber(part.text):
			entry.comm = b.names.text([]byte(part.text))
		default:
			root = append(root, b.names.frame(recording.Frame{Name: part.text, Kind: recording.KindOther}))
		}
	}
	if len(stacks) > 0 {
		entry.of.stacks++
	}
	kernel := kernelStack(stacks)
	for i, frames := range stacks { // the kernel's after the others
		if i != kernel {
			root = b.stacked(root, frames, false)
		}
	}
	if kernel >= 0 {
		root = b.stacked(root, stacks[kernel], true)
	}
	if len(root) > 0 {
		entry.stack = b.names.stack(root)
	}
	entry.parts, entry.root = nil, root
}

func isNumber(text string) bool {
	_, err := strconv.ParseInt(text, 0, 64)
	return err == nil
}

// kernelStack is which of a key's stacks is the kernel's, -1 for none: one that begins where the
// kernel is entered, else the first of two, as scripts write [kstack, ustack].
func kernelStack(stacks [][]string) int {
	for i, frames := range stacks {
		root := bpfFrame(frames[len(frames)-1], false).Name
		if entersKernel([]byte(root)) || strings.HasPrefix(root, "entry_") || strings.HasPrefix(root, "0xffff") {
			return i
		}
	}
	if len(stacks) == 2 && !strings.HasPrefix(stacks[0][0], "0x") {
		return 0
	}
	return -1
}

// stacked appends frames root first.
func (b *bpftrace) stacked(stack []int32, frames []string, kernel bool) []int32 {
	for i := len(frames) - 1; i >= 0; i-- {
		key := []byte(frames[i])
		if kernel {
			key = append(key, 0)
		}
		id, known := b.frames.get(key)
		if !known {
			id = b.names.frame(bpfFrame(frames[i], kernel))
			b.frames.put(key, id)
		}
		stack = append(stack, id)
	}
	return stack
}

// bpfFrame reads "vfs_read+570", "0x7f12", "ffffffff81 vfs_read+570 (kernel)" of stacks in the form
// of perf.
func bpfFrame(text string, kernel bool) recording.Frame {
	frame := recording.Frame{Name: text, Kind: recording.KindNative}
	if at := strings.LastIndex(text, " ("); at > 0 && strings.HasSuffix(text, ")") {
		frame.Module = moduleName(text[at+2 : len(text)-1])
		frame.Name = text[:at]
	}
	if address, name, ok := strings.Cut(frame.Name, " "); ok && name != "" {
		if _, err := strconv.ParseUint(address, 16, 64); err == nil {
			frame.Name = name
		}
	}
	if at := strings.LastIndexByte(frame.Name, '+'); at > 0 && isNumber(frame.Name[at+1:]) {
		frame.Name = frame.Name[:at]
	}
	if kernel {
		frame.Kind = recording.KindKernel
	}
	return frame
}

func (b *bpftrace) add(entry *bpfEntry, of string, count int64) {
	b.entries++
	if count < 0 {
		b.negative++
		return
	}
	signal := entry.signal
	if of != "" {
		if signal = b.names.text([]byte(b.names.texts[signal] + of)); b.maps[signal] == nil {
			b.maps[signal] = &bpfMap{}
		}
	}
	b.rows.add(rowKey{stack: entry.stack, comm: entry.comm, signal: signal}, 0, count, 0)
}

// bucket adds a line of a histogram under the key's stack.
func (b *bpftrace) bucket(entry *bpfEntry, line []byte) bool {
	name, count, ok := bpfBucket(line)
	if !ok || entry.done {
		return false
	}
	b.between(entry, name, count)
	return true
}

func (b *bpftrace) between(entry *bpfEntry, name string, count int64) {
	entry.of.buckets++
	one := *entry
	frame := b.names.frame(recording.Frame{Name: name, Kind: recording.KindOther})
	one.stack = b.names.stack(append(slices.Clone(entry.root), frame))
	b.add(&one, "", count)
}

// bpfBucket reads "[64, 128)       23 |@@@   |" and "(..., 0)  2 |  |".
func bpfBucket(line []byte) (name string, count int64, ok bool) {
	if len(line) == 0 || line[0] != '[' && line[0] != '(' {
		return "", 0, false
	}
	end := bytes.IndexAny(line, ")]")
	bar := bytes.IndexByte(line, '|')
	if end < 2 || bar < end || end > maxText {
		return "", 0, false
	}
	count, ok = parseDecimal(bytes.TrimSpace(line[end+1 : bar]))
	return string(line[:end+1]), count, ok
}
