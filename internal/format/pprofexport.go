package format

import (
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"culprit/recording"
)

// writePprof writes a compressed profile with the thread as labels comm, pid and tid.
func writePprof(w io.Writer, rec *recording.Recording, signal string, amounts []amount) error {
	m := &rec.Manifest
	made := &profile.Profile{SampleType: pprofTypes(signal, amounts), DurationNanos: max(0, m.WindowNs)}
	if !m.StartedAt.IsZero() {
		made.TimeNanos = m.StartedAt.UnixNano()
	}
	if signal == recording.SignalCPU && m.Hz > 0 {
		made.PeriodType = &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
		made.Period = int64(math.Round(1e9 / float64(m.Hz)))
	}
	places := newPprofPlaces(made, rec)
	same := func(a amount) amount { a.timeNs = 0; return a }
	for _, one := range together(amounts, same) {
		sample := &profile.Sample{Value: []int64{one.count}}
		if len(made.SampleType) == 2 {
			sample.Value = append(sample.Value, one.ns)
		}
		frames := framesOf(rec, one.stack)
		for i := len(frames) - 1; i >= 0; i-- {
			sample.Location = append(sample.Location, places.location(frames[i]))
		}
		if one.comm != "" {
			sample.Label = map[string][]string{"comm": {plain(one.comm)}}
		}
		if one.tid > 0 {
			sample.NumLabel = map[string][]int64{"pid": {int64(one.pid)}, "tid": {int64(one.tid)}}
		}
		made.Sample = append(made.Sample, sample)
	}
	places.mainFirst()
	if err := made.Write(w); err != nil {
		return fmt.Errorf("write pprof: %w", err)
	}
	return nil
}

func pprofTypes(signal string, amounts []amount) []*profile.ValueType {
	switch signal {
	case recording.SignalCPU:
		return []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}
	case recording.SignalOffCPU:
		return []*profile.ValueType{{Type: "waits", Unit: "count"}, {Type: "offcpu", Unit: "nanoseconds"}}
	}
	return []*profile.ValueType{{Type: signal, Unit: "count"}}
}

// pprofPlaces makes mappings, functions and locations of frames.
type pprofPlaces struct {
	made      *profile.Profile
	rec       *recording.Recording
	mappings  map[[2]string]*profile.Mapping
	functions map[[2]string]*profile.Function
	locations map[int32]*profile.Location
}

func newPprofPlaces(made *profile.Profile, rec *recording.Recording) *pprofPlaces {
	return &pprofPlaces{made: made, rec: rec, mappings: map[[2]string]*profile.Mapping{},
		functions: map[[2]string]*profile.Function{}, locations: map[int32]*profile.Location{}}
}

func (p *pprofPlaces) location(id int32) *profile.Location {
	if known := p.locations[id]; known != nil {
		return known
	}
	frame := p.rec.Frames[id]
	made := &profile.Location{ID: uint64(len(p.made.Location) + 1), Mapping: p.mapping(frame),
		Line: []profile.Line{{Function: p.function(frame), Line: int64(frame.Line)}}}
	p.locations[id] = made
	p.made.Location = append(p.made.Location, made)
	return made
}

// mapping is the frame's file.
func (p *pprofPlaces) mapping(frame recording.Frame) *profile.Mapping {
	file := moduleOf(&frame)
	if file == "" {
		return nil
	}
	key := [2]string{file, frame.BuildID}
	made := p.mappings[key]
	if made == nil {
		made = &profile.Mapping{ID: uint64(len(p.made.Mapping) + 1), File: file, BuildID: frame.BuildID, HasFunctions: true}
		p.mappings[key] = made
		p.made.Mapping = append(p.made.Mapping, made)
	}
	return made
}

// moduleOf is a frame's file, with the names that perf and pprof use for kernel and vDSO; ""
// without one.
func moduleOf(frame *recording.Frame) string {
	switch {
	case frame.Module != "":
		return frame.Module
	case frame.Kind == recording.KindKernel:
		return "[kernel.kallsyms]"
	case frame.Kind == recording.KindVDSO:
		return "[vdso]"
	}
	return ""
}

// mainFirst puts the program before its libraries and the kernel: pprof calls a profile by its
// first mapping.
func (p *pprofPlaces) mainFirst() {
	program := path.Base(p.rec.Fact("target.executable"))
	rank := func(m *profile.Mapping) int {
		switch {
		case path.Base(m.File) == program:
			return 0
		case strings.HasPrefix(m.File, "["):
			return 2
		}
		return 1
	}
	slices.SortStableFunc(p.made.Mapping, func(a, b *profile.Mapping) int { return rank(a) - rank(b) })
}

func (p *pprofPlaces) function(frame recording.Frame) *profile.Function {
	key := [2]string{frame.Name, frame.File}
	made := p.functions[key]
	if made == nil {
		made = &profile.Function{ID: uint64(len(p.made.Function) + 1), Name: frame.Name, SystemName: frame.Name,
			Filename: frame.File}
		p.functions[key] = made
		p.made.Function = append(p.made.Function, made)
	}
	return made
}
