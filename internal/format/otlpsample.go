package format

import (
	"fmt"
	"math"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"culprit/recording"
)

// otlpWorth says what a value is: ns of time, or a count, each worth so many ns.
type otlpWorth struct {
	ns     float64 // of one unit; 0: the values count
	each   float64
	silent bool // another profile of the same scope has the counts
}

// sample adds each of a sample's values at its time; without values each time is one.
func (o *otlpReader) sample(tables *otlpTables, sample pprofile.Sample, key rowKey, worth otlpWorth) {
	var known bool
	if key.stack, known = tables.stack(sample.StackIndex()); !known {
		o.broken++
		return
	}
	o.attributes(tables, sample.AttributeIndices(), &key)
	values, times := sample.Values(), sample.TimestampsUnixNano()
	for i := range max(values.Len(), times.Len()) {
		value := int64(1)
		switch {
		case i < values.Len():
			value = values.At(i)
		case values.Len() > 0: // fewer values than times: the rest is told in none
			return
		}
		if value < 0 {
			o.negative++
			continue
		}
		at := int64(0)
		if i < times.Len() {
			unix := int64(min(times.At(i), maxUnixNs))
			if o.firstNs == 0 {
				o.firstNs = unix
			}
			at = clampAmount(unix - o.firstNs)
			o.rows.seen(at)
		}
		count, ns := int64(0), int64(0)
		if worth.ns == 0 {
			count, ns = value, int64(min(maxAmount, float64(value)*worth.each))
		} else if ns = int64(min(maxAmount, float64(value)*worth.ns)); !worth.silent {
			count = 1
		}
		if value > 0 {
			o.rows.add(key, at, count, ns)
		}
	}
}

// attributes reads those that tell the thread; others have no place.
func (o *otlpReader) attributes(tables *otlpTables, indices pcommon.Int32Slice, key *rowKey) {
	for _, index := range indices.All() {
		name, value, ok := tables.attribute(index)
		if !ok {
			continue
		}
		switch name {
		case "process.pid":
			key.pid = threadNumber(value.Int())
		case "thread.id":
			key.tid = threadNumber(value.Int())
		case "thread.name", "process.thread.name":
			key.comm = o.names.text([]byte(value.AsString()))
		case "cpu.logical_number":
			key.cpu = threadNumber(value.Int())
		default:
			if len(o.labels) < maxLabels {
				o.labels[cutText(name, maxText)] = true
			}
		}
	}
	key.fillThread()
}

// maxLabels bounds the names of labels that are told as not kept.
const maxLabels = 1024

// otlpTables are the tables of one request, with what was made of them.
type otlpTables struct {
	reader *otlpReader
	of     pprofile.ProfilesDictionary
	frames map[int32][]int32
	stacks map[int32]int32
}

func newOTLPTables(reader *otlpReader, of pprofile.ProfilesDictionary) *otlpTables {
	return &otlpTables{reader: reader, of: of, frames: map[int32][]int32{}, stacks: map[int32]int32{}}
}

func (t *otlpTables) text(index int32) string {
	if index < 0 || int(index) >= t.of.StringTable().Len() {
		return ""
	}
	return t.of.StringTable().At(int(index))
}

func (t *otlpTables) attribute(index int32) (name string, value pcommon.Value, ok bool) {
	if index <= 0 || int(index) >= t.of.AttributeTable().Len() {
		return "", value, false
	}
	one := t.of.AttributeTable().At(int(index))
	return t.text(one.KeyStrindex()), one.Value(), true
}

// signalOf is the signal of a profile, and what one of its values is in ns, 0 where they count.
func (t *otlpTables) signalOf(profile pprofile.Profile) (signal string, ns float64) {
	name := t.text(profile.SampleType().TypeStrindex())
	ns = unitNs(t.text(profile.SampleType().UnitStrindex()))
	switch name {
	case "cpu", "on_cpu", "cpu-time":
		return recording.SignalCPU, ns
	case "samples", "sample":
		if ns == 0 {
			return recording.SignalCPU, 0
		}
	case "off_cpu", "offcpu", "delay":
		return recording.SignalOffCPU, ns
	case "":
		return "unnamed", ns
	}
	return cutText(name, maxText), ns
}

// otlpCPU says what a scope tells of CPU time: profiles that count samples, profiles in ns, or both
// of one set.
type otlpCPU struct{ counted, timed bool }

func (t *otlpTables) cpuOf(scope pprofile.ScopeProfiles) (cpu otlpCPU) {
	for _, profile := range scope.Profiles().All() {
		if signal, ns := t.signalOf(profile); signal == recording.SignalCPU {
			cpu.counted = cpu.counted || ns == 0
			cpu.timed = cpu.timed || ns > 0
		}
	}
	return cpu
}

// stack returns the number of a stack. Locations stand leaf first.
func (t *otlpTables) stack(index int32) (id int32, known bool) {
	if id, known = t.stacks[index]; known {
		return id, true
	}
	if index < 0 || int(index) >= t.of.StackTable().Len() {
		return 0, false
	}
	locations := t.of.StackTable().At(int(index)).LocationIndices()
	var frames []int32
	for i := locations.Len() - 1; i >= 0 && len(frames) < maxScratch && t.reader.steps < maxProfileSteps; i-- {
		more := t.location(locations.At(i))
		t.reader.steps += len(more)
		frames = append(frames, more...)
	}
	if len(frames) == 0 {
		id = recording.NoStack
	} else {
		id = t.reader.names.stack(frames)
	}
	t.stacks[index] = id
	return id, true
}

// location returns its frames, root first: what is inlined stands last.
func (t *otlpTables) location(index int32) []int32 {
	if known, ok := t.frames[index]; ok {
		return known
	}
	if index < 0 || int(index) >= t.of.LocationTable().Len() {
		return nil
	}
	location := t.of.LocationTable().At(int(index))
	frame := t.module(location)
	var ids []int32
	for i := min(location.Lines().Len(), maxInlined) - 1; i >= 0; i-- {
		line, one := location.Lines().At(i), frame
		one.Name = ""
		if at := line.FunctionIndex(); at > 0 && int(at) < t.of.FunctionTable().Len() {
			function := t.of.FunctionTable().At(int(at))
			one.Name, one.File = t.text(function.NameStrindex()), t.text(function.FilenameStrindex())
		}
		if one.Name == "" {
			one.Name = "[unknown]"
		}
		one.Line = int32(max(0, min(line.Line(), math.MaxInt32)))
		if one.Kind == recording.KindNative && one.File != "" {
			one.Kind = kindByFile(one.File)
		}
		ids = append(ids, t.reader.names.frame(one))
	}
	if len(ids) == 0 {
		ids = []int32{t.reader.names.frame(frame)}
	}
	t.frames[index] = ids
	return ids
}

// module is a frame with the file, the kind and, as its name, the place in the file.
func (t *otlpTables) module(location pprofile.Location) recording.Frame {
	frame := recording.Frame{Kind: recording.KindNative}
	address := location.Address()
	offset := address
	if at := location.MappingIndex(); at > 0 && int(at) < t.of.MappingTable().Len() {
		mapping := t.of.MappingTable().At(int(at))
		file := strings.TrimSuffix(t.text(mapping.FilenameStrindex()), " (deleted)")
		frame.Module, frame.Kind = moduleName(file), kindByModule(file, address >= 1<<63)
		if mapping.MemoryStart() > 0 && address >= mapping.MemoryStart() {
			offset = address - mapping.MemoryStart() + mapping.FileOffset()
		}
		for _, index := range mapping.AttributeIndices().All() {
			if name, value, ok := t.attribute(index); ok && name == "process.executable.build_id.gnu" {
				frame.BuildID = value.AsString()
			}
		}
	}
	for _, index := range location.AttributeIndices().All() {
		if name, value, ok := t.attribute(index); ok && name == otlpFrameType {
			if kind := otlpKinds[value.AsString()]; kind != "" {
				frame.Kind = kind
			}
		}
	}
	frame.Name = unknownName(frame.Module, "", frame.Kind == recording.KindKernel)
	if frame.Module != "" && address > 0 {
		frame.Name = fmt.Sprintf("%s+%#x", frame.Module, offset)
	}
	return frame
}

// otlpFrameType is the attribute of a location that tells the kind of its code, otlpKinds its
// values.
const otlpFrameType = "profile.frame.type"

var otlpKinds = map[string]recording.FrameKind{"kernel": recording.KindKernel, "native": recording.KindNative,
	"jvm": recording.KindJVM, "cpython": recording.KindPython, "v8js": recording.KindNode, "go": recording.KindGo,
	"ruby": recording.KindRuby, "php": recording.KindPHP, "rust": recording.KindNative, "perl": recording.KindOther,
	"dotnet": recording.KindOther, "beam": recording.KindOther, "phpjit": recording.KindPHP}
