package format

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"culprit/recording"
)

// All that samples hold survives OTLP, as bytes, behind lengths, compressed and as JSON.
func TestOTLPRoundTrip(t *testing.T) {
	first := importText(t, "x", readFile(t, "testdata/perf-names.txt"), Options{})
	first.Manifest.StartedAt = time.Unix(1_790_000_000, 5)
	text := export(t, first, AsOTLP, recording.SignalCPU)
	parsed, err := (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(text)
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := (&pprofile.JSONMarshaler{}).MarshalProfiles(parsed)
	if err != nil {
		t.Fatal(err)
	}
	framed := append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
	want := rowsOf(first, recording.SignalCPU)
	for name, text := range map[string][]byte{"bytes": text, "framed": framed, "JSON": asJSON,
		"compressed": []byte(zipped(string(text)))} {
		rec := importText(t, name, text, Options{})
		if got := rowsOf(rec, recording.SignalCPU); !reflect.DeepEqual(got, want) || len(got) == 0 {
			t.Errorf("%s: %v,\nwant %v", name, got, want)
		}
		if rec.Manifest.Format != OTLP || !rec.Manifest.StartedAt.Equal(first.Manifest.StartedAt) ||
			rec.Manifest.WindowNs != first.Manifest.WindowNs {
			t.Errorf("%s: %+v", name, rec.Manifest)
		}
	}
	twice := importText(t, "x", append(bytes.Clone(framed), framed...), Options{})
	if got, want := twice.Manifest.Metrics["cpu"], 2*first.Manifest.Metrics["cpu"]; got != want {
		t.Errorf("%g s in two requests, want %g", got, want)
	}
}

// rowsOf sums samples by all that tells them apart, with the kinds, files and lines of frames.
func rowsOf(rec *recording.Recording, signal string) map[string][2]int64 {
	sums := map[string][2]int64{}
	for i := range rec.Samples {
		one := &rec.Samples[i]
		if !one.Target || one.Signal != signal {
			continue
		}
		key := fmt.Sprint(one.Signal, one.TimeNs/1e8, one.Comm, one.Pid, one.Tid)
		for _, id := range framesOf(rec, one.Stack) {
			frame := rec.Frames[id]
			frame.Module = moduleOf(&frame)
			key += fmt.Sprintf(" %+v", frame)
		}
		sum := sums[key]
		sums[key] = [2]int64{sum[0] + one.Count, sum[1] + one.ValueNs}
	}
	return sums
}

// What the profiler of OpenTelemetry writes: samples that count, each time one, of kernels, native
// code without names and interpreters; waits in ns beside them.
func TestOTLPOfProfiler(t *testing.T) {
	made := pprofile.NewProfiles()
	rec := &recording.Recording{}
	tables := newOTLPMade(made.Dictionary(), rec)
	rec.Frames = []recording.Frame{{Name: "run", Kind: recording.KindPython, File: "/srv/app.py", Line: 7}}
	rec.Stacks = []recording.Stack{{Frames: []int32{0}}}
	native := tables.of.LocationTable().AppendEmpty()
	native.SetAddress(0x1234)
	mapping := tables.of.MappingTable().AppendEmpty()
	mapping.SetFilenameStrindex(tables.text("/usr/lib/libz.so.1"))
	mapping.AttributeIndices().Append(tables.attribute("process.executable.build_id.gnu", "abcd"))
	native.SetMappingIndex(1)
	native.AttributeIndices().Append(tables.attribute(otlpFrameType, "native"))
	scripted := tables.stack(0)
	tables.of.StackTable().AppendEmpty().LocationIndices().FromRaw([]int32{1, 2})
	tables.of.StackTable().At(2).LocationIndices().FromRaw([]int32{1, 2})
	resource := made.ResourceProfiles().AppendEmpty()
	resource.Resource().Attributes().PutInt("process.pid", 40)
	resource.Resource().Attributes().PutStr("process.executable.name", "python3")
	scope := resource.ScopeProfiles().AppendEmpty()
	cpu, off := scope.Profiles().AppendEmpty(), scope.Profiles().AppendEmpty()
	tables.about(cpu, "samples", "count", "")
	cpu.PeriodType().SetUnitStrindex(tables.text("nanoseconds"))
	cpu.SetPeriod(50e6)
	tables.about(off, "off_cpu", "nanoseconds", "")
	for stack, times := range map[int32][]uint64{scripted: {1e18, 1e18 + 1e9}, 2: {1e18 + 3e9}, 99: {1}} {
		sample := cpu.Samples().AppendEmpty()
		sample.SetStackIndex(stack)
		sample.TimestampsUnixNano().FromRaw(times)
		sample.AttributeIndices().Append(tables.attribute("thread.id", int64(41)), tables.attribute("thread.name", "worker"),
			tables.attribute("cpu.logical_number", int64(3)), tables.attribute("tenant", "x"))
	}
	wait := off.Samples().AppendEmpty()
	wait.SetStackIndex(scripted)
	wait.TimestampsUnixNano().Append(1e18 + 5e8)
	wait.Values().Append(7e6)
	text, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(made)
	if err != nil {
		t.Fatal(err)
	}
	got := importText(t, "x", text, Options{})
	if cpu := got.Manifest.Metrics["cpu"]; cpu != 0.15 || got.Manifest.Hz != 20 {
		t.Errorf("%g s of CPU at %d Hz", cpu, got.Manifest.Hz)
	}
	folded := string(export(t, got, AsFolded, recording.SignalCPU))
	if want := "worker;run 2\nworker;run;libz.so.1+0x1234 1\n"; folded != want {
		t.Errorf("stacks %q, want %q", folded, want)
	}
	if waits := string(export(t, got, AsFolded, recording.SignalOffCPU)); waits != "python3;run 7000\n" {
		t.Errorf("waits %q", waits)
	}
	if one := got.Samples[0]; one.Pid != 40 || one.Tid != 41 || one.CPU != 3 {
		t.Errorf("sample %+v", one)
	}
	spots := strings.Join(recording.Words(got.Manifest.BlindSpots), "\n")
	if !strings.Contains(spots, "labels are not kept: tenant") || len(got.Manifest.Losses) != 1 {
		t.Errorf("told %s, lost %v", spots, got.Manifest.Losses)
	}
}

// What would cost a hundred times its size, or the stack, is refused before the library sees it.
func TestOTLPRefuses(t *testing.T) {
	nest := func(depth int) []byte {
		value := []byte{}
		for range depth {
			list := append(binary.AppendUvarint([]byte{0x0a}, uint64(len(value))), value...)
			value = append(binary.AppendUvarint([]byte{0x2a}, uint64(len(list))), list...)
		}
		for _, tag := range []byte{0x12, 0x32, 0x12} { // value of an attribute of the dictionary
			value = append(binary.AppendUvarint([]byte{tag}, uint64(len(value))), value...)
		}
		return value
	}
	many := bytes.Repeat([]byte{0x12, 0x00}, maxOTLPMessages+1)
	for _, tag := range []byte{0x12, 0x12, 0x0a} {
		many = append(binary.AppendUvarint([]byte{tag}, uint64(len(many))), many...)
	}
	for name, test := range map[string]struct {
		text []byte
		want string
	}{
		"deep":     {nest(100), "too deep"},
		"many":     {many, "parts"},
		"cut":      {[]byte{0x0a, 0x7f, 0x0a}, "cut off"},
		"group":    {[]byte{0x0b, 0x0c}, "head is not one"},
		"frame":    {[]byte("\x00\x00\x00\x0e\x0a\x0c\x12\x0a\x12\x08\x0a\x02\x08\x01\x12\x02\x08\x00\x00\x00"), "cut off"},
		"JSON":     {[]byte(`{"resourceProfiles":[{"scopeProfiles"`), "cut off"},
		"JSON odd": {[]byte(`{"resourceProfiles":7}`), "damaged"},
		"nothing":  {[]byte(`{"resourceProfiles":[]}`), "no samples"},
	} {
		_, err := Import([]Source{{Name: "x", Reader: bytes.NewReader(test.text)}}, Options{Format: OTLP})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	if err := checkOTLP(nest(5)); err != nil {
		t.Errorf("five levels: %v", err)
	}
}

func FuzzOTLP(f *testing.F) {
	rec := importText(f, "x", readFile(f, "testdata/perf-names.txt"), Options{})
	f.Add(export(f, rec, AsOTLP, recording.SignalCPU))
	f.Add([]byte(`{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"samples":[{"values":[1]}]}]}]}]}`))
	fuzz(f, OTLP, "folded-*.txt")
}
