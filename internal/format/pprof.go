package format

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"culprit/recording"
)

// maxPprof bounds a profile's size without compression: it is decoded in memory,
// in about ten times as much. Real ones rarely have over 10 MB.
const maxPprof = 32 << 20

// pprofReader reads profiles as Go, gperftools, Pyroscope and Parca write them
// (https://github.com/google/pprof/blob/main/proto/profile.proto).
type pprofReader struct {
	names     *names
	rows      *rows
	facts     []recording.Fact
	labels    map[string]bool // that have no place in a recording
	negative  int64
	startedAt time.Time
	lengthNs  int64
	periodNs  int64
	mainFile  string
}

func newPprof() *pprofReader {
	return &pprofReader{names: newNames(), rows: newRows(), labels: map[string]bool{}}
}

// looksLikePprof tells an uncompressed profile by its first fields, up to a sample type of two
// small numbers. Go's run time writes its times before that, others begin with it.
func looksLikePprof(head []byte) bool {
	const looked = 8
	for range looked {
		if len(head) < 7 {
			return false
		}
		field, wire := head[0]>>3, head[0]&7
		switch {
		case field == 1 && wire == 2:
			return head[1] >= 2 && head[1] <= 16 && head[2] == 0x08
		case field == 11 && wire == 2 && head[1] <= 16 && int(head[1])+2 <= len(head): // the type of the period
			head = head[2+head[1]:]
			continue
		case wire != 0 || field < 9 || field > 14: // numbers: times, the period, names of what is not shown
			return false
		}
		_, length := binary.Uvarint(head[1:])
		if length <= 0 {
			return false
		}
		head = head[1+length:]
	}
	return false
}

func (p *pprofReader) read(_ string, input *bufio.Reader) error {
	text, err := uncompressed(input)
	if err != nil {
		return err
	}
	parsed, err := parsePprof(text)
	if err != nil {
		return err
	}
	if len(parsed.Sample) == 0 {
		return errors.New("the profile has no samples")
	}
	p.about(parsed)
	columns := columnsOf(parsed)
	frames := map[*profile.Location][]int32{}
	var stack []int32
	for _, sample := range parsed.Sample {
		stack = stack[:0]
		for i := len(sample.Location) - 1; i >= 0 && len(stack) < maxScratch; i-- {
			location := sample.Location[i]
			if _, known := frames[location]; !known {
				frames[location] = p.frames(location)
			}
			stack = append(stack, frames[location]...)
		}
		key := p.thread(sample)
		key.stack = p.names.stack(stack)
		for _, column := range columns {
			p.add(key, column, sample)
		}
	}
	return nil
}

// uncompressed reads the whole profile, at most maxPprof bytes of it.
func uncompressed(input *bufio.Reader) ([]byte, error) {
	var stream io.Reader = input
	if head, _ := input.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) { // a short one shows below
		unzipped, err := gzip.NewReader(input)
		if err != nil {
			return nil, fmt.Errorf("unzip: %w", err)
		}
		zipped := bufio.NewReaderSize(unzipped, detectBytes)
		head, _ := zipped.Peek(detectBytes) // an error shows again below
		// A name in a profile may look like a line of text; text has no zero in it, as the first of
		// a profile's texts has.
		if !looksLikePprof(head) && bytes.IndexByte(head, 0) < 0 && detectText(head) != "" {
			return nil, fmt.Errorf("it is compressed text of %s; give it without: `zcat FILE | culprit import -o REC -`",
				detectText(head))
		}
		stream = zipped
	}
	text, err := io.ReadAll(io.LimitReader(stream, maxPprof+1))
	if err != nil {
		return nil, fmt.Errorf("unzip: %w", err)
	}
	if len(text) > maxPprof {
		return nil, fmt.Errorf("over %d MiB without compression, more than is read; "+
			"`pprof -proto -focus …` makes a smaller one", maxPprof>>20)
	}
	return text, nil
}

// parsePprof guards against a library that was not made for hostile input.
func parsePprof(text []byte) (parsed *profile.Profile, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			parsed, err = nil, fmt.Errorf("damaged profile: %v", broken)
		}
	}()
	if parsed, err = profile.ParseUncompressed(text); err != nil {
		return nil, fmt.Errorf("damaged profile: %w", err)
	}
	if err := parsed.CheckValid(); err != nil {
		return nil, fmt.Errorf("damaged profile: %w", err)
	}
	return parsed, nil
}

// about keeps what the profile says of itself. Several profiles are one after the other.
func (p *pprofReader) about(parsed *profile.Profile) {
	if parsed.TimeNanos > 0 {
		if at := time.Unix(0, parsed.TimeNanos); p.startedAt.IsZero() || at.Before(p.startedAt) {
			p.startedAt = at
		}
	}
	p.lengthNs = addAmounts(p.lengthNs, clampAmount(parsed.DurationNanos))
	if parsed.PeriodType != nil && unitNs(parsed.PeriodType.Unit) > 0 {
		p.periodNs = clampAmount(int64(min(maxAmount, float64(parsed.Period)*unitNs(parsed.PeriodType.Unit))))
	}
	if len(parsed.Mapping) > 0 && p.mainFile == "" {
		p.mainFile = path.Base(parsed.Mapping[0].File)
	}
	const limit = 16
	for _, comment := range parsed.Comments {
		if len(p.facts) < limit {
			p.facts = append(p.facts, recording.Fact{Name: "import.comment", Value: cutText(comment, maxCommentBytes),
				Source: "pprof"})
		}
	}
}

func (p *pprofReader) add(key rowKey, column column, sample *profile.Sample) {
	var count, ns int64
	if column.count >= 0 {
		count = sample.Value[column.count]
	}
	if column.time >= 0 {
		ns = int64(max(-maxAmount, min(maxAmount, float64(sample.Value[column.time])*column.ns)))
	}
	if count < 0 || ns < 0 {
		p.negative++
		return
	}
	if count == 0 && ns == 0 {
		return
	}
	if column.count < 0 {
		count = 1
	}
	if column.signal == recording.SignalCPU && column.time < 0 {
		ns = int64(min(maxAmount, float64(count)*p.samplePeriod()))
	}
	key.signal = p.names.text([]byte(column.signal))
	p.rows.add(key, 0, count, ns)
}

func (p *pprofReader) samplePeriod() float64 {
	if p.periodNs > 0 {
		return float64(p.periodNs)
	}
	return float64(foldedCPUPeriod)
}

// maxInlined bounds the functions of one location: one byte of a sample names them all.
const maxInlined = 256

// frames are the functions of a location, root first: what is inlined stands last.
func (p *pprofReader) frames(location *profile.Location) []int32 {
	frame := recording.Frame{Kind: recording.KindNative}
	module := ""
	if location.Mapping != nil {
		module = strings.TrimSuffix(location.Mapping.File, " (deleted)")
		frame.Module, frame.BuildID = moduleName(module), location.Mapping.BuildID
		frame.Kind = kindByModule(module, location.Address >= 1<<63)
	}
	if len(location.Line) == 0 {
		frame.Name = unknownName(frame.Module, "", location.Address >= 1<<63)
		if location.Mapping != nil && module != "" && location.Address >= location.Mapping.Start {
			offset := location.Address - location.Mapping.Start + location.Mapping.Offset
			frame.Name = fmt.Sprintf("%s+%#x", frame.Module, offset)
		}
		return []int32{p.names.frame(frame)}
	}
	var ids []int32
	for i := min(len(location.Line), maxInlined) - 1; i >= 0; i-- {
		line, one := location.Line[i], frame
		one.Line = int32(max(0, min(line.Line, math.MaxInt32)))
		if line.Function != nil {
			one.Name, one.File = line.Function.Name, line.Function.Filename
		}
		if one.Name == "" {
			one.Name = "[unknown]"
		}
		if one.Kind == recording.KindNative && one.File != "" {
			one.Kind = kindByFile(one.File)
		}
		ids = append(ids, p.names.frame(one))
	}
	return ids
}

// thread reads the labels that tell the thread; other labels have no place.
func (p *pprofReader) thread(sample *profile.Sample) (key rowKey) {
	for name, values := range sample.NumLabel {
		if len(values) == 0 || values[0] < 0 || values[0] > math.MaxInt32 {
			continue
		}
		switch name {
		case "pid", "process_id":
			key.pid = int32(values[0])
		case "tid", "thread_id", "thread id":
			key.tid = int32(values[0])
		default:
			p.labels[cutText(name, maxText)] = true
		}
	}
	for name, values := range sample.Label {
		if len(values) == 0 {
			continue
		}
		switch name {
		case "comm", "thread", "thread_name", "thread name":
			key.comm = p.names.text([]byte(values[0]))
		default:
			p.labels[cutText(name, maxText)] = true
		}
	}
	key.fillThread()
	return key
}
