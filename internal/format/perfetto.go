package format

import (
	"bufio"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"culprit/recording"
)

// The numbers of the fields of a trace of Perfetto
// (https://perfetto.dev/docs/reference/trace-packet-proto), by message.
const (
	tracePacket = 1

	packetClocks      = 6
	packetTimestamp   = 8
	packetSequence    = 10
	packetTrackEvent  = 11
	packetInterned    = 12
	packetFlags       = 13
	packetClockID     = 58
	packetDefaults    = 59
	packetDescriptor  = 60
	packetSample      = 66
	flagCleared       = 1 // what was interned before is gone
	flagNeedsInterned = 2

	clockBoot, clockReal = 6, 1

	eventAnnotation, eventType, eventTrack, eventCategory, eventName, eventCallstack = 4, 9, 11, 22, 23, 56
	sliceBegin, sliceEnd                                                             = 1, 2
)

// perfettoStartNs is where the window begins on the trace's clock: 0 would be no time.
const perfettoStartNs = 1e9

// Limits of a trace: beyond it one packet stands for several samples, or for more of what a signal
// counts.
const (
	maxPerfettoSamples = 1 << 18
	maxPerfettoAmounts = 1 << 16
)

// perfettoTrace writes a trace packet by packet.
type perfettoTrace struct {
	rec     *recording.Recording
	out     *bufio.Writer
	packet  []byte // scratch, like the next two
	head    []byte
	fields  []byte
	err     error
	stacks  map[int32]uint64 // number of a stack → that of its callstack
	lastEnd int64
}

// writePerfetto writes samples as packets with stacks, and waits as slices on the track of their
// thread.
func writePerfetto(w io.Writer, rec *recording.Recording, signal string, amounts []amount) error {
	t := &perfettoTrace{rec: rec, out: bufio.NewWriterSize(w, readerBytes), stacks: map[int32]uint64{}}
	lines := threadLines(rec, amounts)
	t.begin(signal)
	t.intern(lines)
	processes := map[int32]bool{}
	for i := range lines {
		line := &lines[i]
		if line.pid == 0 && line.tid == 0 { // 0 would be the kernel's idle loop
			line.pid, line.tid = 1, 1
		}
		if !processes[line.pid] {
			processes[line.pid] = true
			t.process(line.pid)
		}
		t.thread(uint64(i)+1, line)
	}
	limit := int64(maxPerfettoAmounts)
	if signal == recording.SignalCPU || signal == recording.SignalOffCPU {
		limit = maxPerfettoSamples
	}
	step := totalCount(amounts)/limit + 1
	for i := range lines {
		for _, one := range lines[i].amounts {
			t.samples(&lines[i], one, max(1, one.count/step))
		}
		t.lastEnd = 0
		for _, wait := range lines[i].waits {
			t.wait(uint64(i)+1, &rec.Waits[wait])
		}
	}
	if t.err == nil {
		t.err = t.out.Flush()
	}
	if t.err != nil {
		return fmt.Errorf("write perfetto: %w", t.err)
	}
	return nil
}

func totalCount(amounts []amount) (total int64) {
	for _, one := range amounts {
		total = addAmounts(total, one.count)
	}
	return total
}

// put writes one packet with the fields that all of them have.
func (t *perfettoTrace) put(flags uint64, fields []byte) {
	t.packet = appendNumber(append(t.packet[:0], fields...), packetSequence, 1)
	t.packet = appendNumber(t.packet, packetFlags, flags)
	t.head = protowire.AppendTag(t.head[:0], tracePacket, protowire.BytesType)
	t.head = protowire.AppendVarint(t.head, uint64(len(t.packet)))
	if t.err == nil {
		_, t.err = t.out.Write(t.head)
	}
	if t.err == nil {
		_, t.err = t.out.Write(t.packet)
	}
}

func appendNumber(to []byte, field protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(to, field, protowire.VarintType), value)
}

func appendBytes(to []byte, field protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, field, protowire.BytesType), value)
}

func appendText(to []byte, field protowire.Number, value string) []byte {
	return protowire.AppendString(protowire.AppendTag(to, field, protowire.BytesType), value)
}

// begin says which clock times are of, what it showed when the window began, and how often was
// sampled.
func (t *perfettoTrace) begin(signal string) {
	m := &t.rec.Manifest
	timebase := appendText(nil, 10, plain(signal))
	if m.Hz > 0 {
		timebase = appendNumber(timebase, 2, uint64(m.Hz))
	}
	defaults := appendNumber(nil, packetClockID, clockBoot)
	defaults = appendBytes(defaults, 12, appendBytes(nil, 1, timebase))
	t.put(flagCleared, appendBytes(nil, packetDefaults, defaults))
	if m.StartedAt.IsZero() || m.StartedAt.Unix() <= 0 {
		return
	}
	clocks := appendBytes(nil, 1, appendNumber(appendNumber(nil, 1, clockBoot), 2, perfettoStartNs))
	real := appendNumber(appendNumber(nil, 1, clockReal), 2, uint64(m.StartedAt.UnixNano()))
	clocks = appendBytes(clocks, 1, real)
	t.put(flagNeedsInterned, appendBytes(nil, packetClocks, clocks))
}

// processTrack keeps tracks of processes apart from those of threads, which count from 1.
const processTrack = 1 << 40

func (t *perfettoTrace) process(pid int32) {
	process := appendNumber(nil, 1, uint64(pid))
	process = appendText(process, 6, processName(t.rec, pid))
	track := appendBytes(appendNumber(nil, 1, processTrack|uint64(pid)), 3, process)
	t.put(flagNeedsInterned, appendBytes(nil, packetDescriptor, track))
}

func (t *perfettoTrace) thread(track uint64, line *threadLine) {
	thread := appendNumber(appendNumber(nil, 1, uint64(line.pid)), 2, uint64(line.tid))
	thread = appendText(thread, 5, commName(line.comm))
	made := appendNumber(appendNumber(nil, 1, track), 5, processTrack|uint64(line.pid))
	t.put(flagNeedsInterned, appendBytes(nil, packetDescriptor, appendBytes(made, 4, thread)))
}

// samples writes what was added up over a slice of time as samples that are spread over it.
func (t *perfettoTrace) samples(line *threadLine, one amount, count int64) {
	length := max(1, t.rec.Manifest.SliceNs)
	sample := appendNumber(appendNumber(nil, 2, uint64(line.pid)), 3, uint64(line.tid))
	if id := t.stacks[one.stack]; id > 0 {
		sample = appendNumber(sample, 4, id)
	}
	for i := range count {
		at := addAmounts(one.timeNs, int64(float64(length)*float64(i)/float64(count)))
		t.fields = appendBytes(appendNumber(t.fields[:0], packetTimestamp, perfettoTime(at)), packetSample, sample)
		t.put(flagNeedsInterned, t.fields)
	}
}

func perfettoTime(ns int64) uint64 { return perfettoStartNs + uint64(clampAmount(ns)) }

// wait writes a slice; one thread's do not overlap.
func (t *perfettoTrace) wait(track uint64, wait *recording.Wait) {
	from := max(t.lastEnd, clampAmount(wait.TimeNs))
	to := max(from, addAmounts(clampAmount(wait.TimeNs), waitNs(wait)))
	t.lastEnd = to
	begin := appendNumber(appendNumber(nil, eventType, sliceBegin), eventTrack, track)
	begin = appendText(appendText(begin, eventCategory, "wait"), eventName, waitName(wait))
	if id := t.stacks[wait.Stack]; id > 0 {
		begin = appendNumber(begin, eventCallstack, id)
	}
	for _, pair := range [][2]string{{"state", wait.State}, {"woken by", wait.WakerComm}, {"waker", wait.WakerKind}} {
		if pair[1] != "" {
			begin = appendBytes(begin, eventAnnotation, appendText(appendText(nil, 10, pair[0]), 6, plain(pair[1])))
		}
	}
	queue := appendNumber(appendText(nil, 10, "waited for a CPU, ns"), 3, uint64(clampAmount(wait.RunqueueNs)))
	begin = appendBytes(begin, eventAnnotation, queue)
	t.put(flagNeedsInterned, appendBytes(appendNumber(nil, packetTimestamp, perfettoTime(from)), packetTrackEvent, begin))
	end := appendNumber(appendNumber(nil, eventType, sliceEnd), eventTrack, track)
	t.put(flagNeedsInterned, appendBytes(appendNumber(nil, packetTimestamp, perfettoTime(to)), packetTrackEvent, end))
}
