package format

import (
	"bytes"
	"slices"
	"strings"

	"culprit/recording"
)

// perfSample is one sample as it stands in the text; names are numbers.
type perfSample struct {
	timeNs, period int64 // -1: not printed
	pid, tid, cpu  int32
	comm, event    int32
	stack          int32
	sched          *schedEvent // of a scheduler's tracepoint
}

// perfBatch is what one chunk of the text holds.
type perfBatch struct {
	samples  []perfSample
	comments []string
	bad      int64 // lines that were not understood
}

const (
	maxComments     = 256
	maxCommentBytes = 4 << 10
	// A sample's frames beyond this are not even looked at; the builder cuts the middle of what is
	// left.
	maxScratch = 64 << 10
)

// perfParser reads chunks of perf script's text. Each goroutine has its own.
type perfParser struct {
	names  *names
	frames [2]textCache // by the text behind the address; [1]: kernel addresses
	comms  textCache
	events textCache
	places textCache // by that text and the line in the source
	batch  *perfBatch
	stack  []int32 // frames of the open sample, leaf first
	sample perfSample
	open   bool
	// The last frame's text, for the line in the source that may follow.
	lastText []byte
	lastHigh bool
	scratch  []byte
	tracing  map[int32]bool // the tracepoint's own frames
}

func (p *perfParser) parse(text []byte) *perfBatch {
	p.batch = &perfBatch{}
	p.open = false
	for len(text) > 0 {
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		p.line(line)
	}
	p.flush()
	return p.batch
}

func (p *perfParser) line(line []byte) {
	if len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	switch {
	case len(line) == 0:
		p.flush()
	case line[0] == '\t':
		if !p.frame(line[1:]) {
			p.srcline(line)
		}
	case line[0] == '#':
		if len(p.batch.comments) < maxComments {
			p.batch.comments = append(p.batch.comments, cutText(string(line), maxCommentBytes))
		}
	default:
		p.header(line)
	}
}

// header opens a sample. Below a frame, a line that is none may be its place in the source.
func (p *perfParser) header(line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		p.flush()
		return
	}
	if p.open && line[0] == ' ' && len(p.stack) > 0 {
		if _, _, ok := parseSrcline(line); ok {
			p.srcline(line)
			return
		}
	}
	if bytes.Contains(line, []byte(" PERF_RECORD_")) { // --show-task-events, --show-mmap-events
		p.flush()
		return
	}
	header, ok := parsePerfHeader(line)
	if !ok {
		if rest, _, isFrame := cutAddress(line); isFrame && len(rest) > 0 && p.frame(line) {
			return
		}
		if line[0] != ' ' || !p.open {
			p.batch.bad++
		}
		return
	}
	p.flush()
	p.open = true
	p.sample = perfSample{timeNs: header.timeNs, period: header.period, pid: header.pid, tid: header.tid,
		cpu: max(0, header.cpu), comm: p.text(&p.comms, header.comm), event: p.text(&p.events, header.event)}
	if len(header.rest) == 0 {
		return
	}
	if p.sample.sched = parseSched(header.event, header.rest); p.sample.sched != nil {
		return
	}
	if rest, _, isFrame := cutAddress(header.rest); isFrame && len(rest) > 0 { // no call chain: one frame
		p.frame(header.rest)
	}
}

// frame adds a frame to the open sample; with the header left out a frame opens one.
func (p *perfParser) frame(line []byte) bool {
	text, high, ok := cutAddress(line)
	if !ok {
		return false
	}
	if !p.open {
		p.open = true
		p.sample = perfSample{timeNs: -1, period: -1, stack: recording.NoStack}
	}
	outer, inner := inlinedInto(text)
	for ; inner != nil; outer, inner = inlinedInto(outer) { // the leaf first, as perf prints frames
		p.push(inner, high)
	}
	p.push(outer, high)
	return true
}

// push adds a frame to the open sample by the text behind its address.
func (p *perfParser) push(text []byte, high bool) {
	if len(p.stack) >= maxScratch {
		return
	}
	cache := &p.frames[0]
	if high {
		cache = &p.frames[1]
	}
	id, known := cache.get(text)
	if !known {
		frame := parsePerfFrame(text, high)
		id = p.names.frame(frame)
		cache.put(text, id)
		if strings.HasPrefix(frame.Name, "__traceiter_") || strings.HasPrefix(frame.Name, "perf_trace_") {
			p.tracing[id] = true
		}
	}
	if p.sample.sched != nil && len(p.stack) == 0 && p.tracing[id] {
		return // how the event was taken, not where the thread stands
	}
	p.stack = append(p.stack, id)
	p.lastText, p.lastHigh = text, high
}

// srcline gives the frame above its place in the source.
func (p *perfParser) srcline(line []byte) {
	file, number, ok := parseSrcline(line)
	if !p.open || len(p.stack) == 0 || len(p.stack) >= maxScratch {
		if !ok {
			p.batch.bad++
		}
		return
	}
	if !ok {
		return // an address without a line: "??:0", "file.so[1f00]"
	}
	p.scratch = append(append(append(p.scratch[:0], p.lastText...), 0), line...)
	cache := &p.places
	id, known := cache.get(p.scratch)
	if !known {
		frame := parsePerfFrame(p.lastText, p.lastHigh)
		frame.File, frame.Line = file, number
		id = p.names.frame(frame)
		cache.put(p.scratch, id)
	}
	p.stack[len(p.stack)-1] = id
}

func (p *perfParser) text(cache *textCache, text []byte) int32 {
	if len(text) == 0 {
		return 0
	}
	id, known := cache.get(text)
	if !known {
		id = p.names.text(text)
		cache.put(text, id)
	}
	return id
}

// flush ends the open sample.
func (p *perfParser) flush() {
	if !p.open {
		return
	}
	slices.Reverse(p.stack)
	p.sample.stack = p.names.stack(p.stack)
	p.batch.samples = append(p.batch.samples, p.sample)
	p.stack, p.open = p.stack[:0], false
}
