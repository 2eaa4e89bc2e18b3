package format

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"culprit/recording"
)

// timeline is a recording of two threads with stacks of two kinds, a hostile name, and a wait.
func timeline() *recording.Recording {
	builder := recording.NewBuilder()
	rec := &recording.Recording{}
	frame := func(name string, kind recording.FrameKind) int32 {
		return builder.Frame(recording.Frame{Name: name, Kind: kind, File: "/srv/a.c", Line: 7})
	}
	stack := builder.Stack([]int32{frame("main", recording.KindNative),
		frame("</script>\u2028\x00x", recording.KindKernel)})
	leaf := builder.Stack([]int32{frame("main", recording.KindNative)})
	for i, one := range []struct {
		tid, stack int32
		comm       string
		count      int64
	}{{5, stack, "web", 3}, {6, leaf, "pool", 2}, {5, leaf, "web", 1}, {6, recording.NoStack, "pool", 1}} {
		rec.Samples = append(rec.Samples, recording.Sample{Signal: "cpu", Pid: 5, Tid: one.tid, Stack: one.stack,
			Comm: one.comm, Count: one.count, ValueNs: one.count * 10e6, Target: true, TimeNs: int64(i) * 1e8})
	}
	rec.Waits = []recording.Wait{{Pid: 5, Tid: 6, TimeNs: 2e8, BlockedNs: 3e6, RunqueueNs: 1e6, State: "S",
		Syscall: "futex", Stack: leaf, WakerComm: "web", WakerKind: recording.WakerThread}}
	builder.Into(rec)
	rec.Manifest.Hz, rec.Manifest.SliceNs, rec.Manifest.StartedAt = 99, 1e8, time.Unix(1_790_000_000, 0)
	return rec
}

// Every index of the profile points into its table, each stack is what was recorded, and each
// weight is there.
func TestFirefox(t *testing.T) {
	var file firefoxFile
	if err := json.Unmarshal(export(t, timeline(), AsFirefox, "cpu"), &file); err != nil {
		t.Fatal(err)
	}
	sums := map[string]float64{}
	for _, thread := range file.Threads {
		for i := range thread.Samples.Length {
			var names []string
			for node := thread.Samples.Stack[i]; node != nil; node = file.Shared.Stacks.Prefix[*node] {
				function := file.Shared.Frames.Function[file.Shared.Stacks.Frame[*node]]
				names = append(names, file.Shared.Texts[file.Shared.Functions.Name[function]])
			}
			slices.Reverse(names)
			sums[thread.Name+":"+strings.Join(names, ";")] += thread.Samples.Weight[i]
		}
	}
	want := map[string]float64{"web:main;</script>  x": 30, "web:main": 10, "pool:main": 20, "pool:": 10}
	if !maps.Equal(sums, want) {
		t.Errorf("samples %v, want %v", sums, want)
	}
	if len(file.Threads) != 2 || file.Threads[0].Name != "web" || file.Threads[1].Markers.Length != 1 {
		t.Fatalf("threads %+v", file.Threads)
	}
	markers := file.Threads[1].Markers
	if markers.StartTime[0] != 200 || markers.EndTime[0] != 204 || markers.Data[0].Waker != "web" ||
		file.Shared.Texts[markers.Name[0]] != "futex" || markers.Data[0].Cause == nil {
		t.Errorf("markers %+v", markers)
	}
	for name, lengths := range map[string][]int{
		"frames": {file.Shared.Frames.Length, len(file.Shared.Frames.Address), len(file.Shared.Frames.Line),
			len(file.Shared.Frames.Symbol), len(file.Shared.Frames.Window), len(file.Shared.Frames.Category)},
		"functions": {file.Shared.Functions.Length, len(file.Shared.Functions.IsJS), len(file.Shared.Functions.Resource),
			len(file.Shared.Functions.Source), len(file.Shared.Functions.Column)},
		"resources": {file.Shared.Resources.Length, len(file.Shared.Resources.Lib), len(file.Libs)},
	} {
		if slices.Min(lengths) != slices.Max(lengths) || lengths[0] == 0 {
			t.Errorf("%s: columns of %v", name, lengths)
		}
	}
}

// protoFields are the fields of a message; numbers stand as text of their bytes.
func protoFields(t *testing.T, text []byte) map[protowire.Number][][]byte {
	t.Helper()
	fields := map[protowire.Number][][]byte{}
	for len(text) > 0 {
		number, wire, length := protowire.ConsumeTag(text)
		if length < 0 {
			t.Fatalf("no field in %q", text)
		}
		text = text[length:]
		length = protowire.ConsumeFieldValue(number, wire, text)
		if length < 0 {
			t.Fatalf("field %d is cut", number)
		}
		value := text[:length]
		if wire == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(text)
		}
		fields[number] = append(fields[number], value)
		text = text[length:]
	}
	return fields
}

func protoNumber(t *testing.T, values [][]byte) uint64 {
	t.Helper()
	if len(values) == 0 {
		return 0
	}
	value, length := protowire.ConsumeVarint(values[0])
	if length < 0 {
		t.Fatalf("no number in %v", values)
	}
	return value
}

// A packet for each sample, at a time within its slice, with the thread and the names of its stack;
// waits as slices.
func TestPerfetto(t *testing.T) {
	trace := protoFields(t, export(t, timeline(), AsPerfetto, "cpu"))
	functions, frames, stacks := map[uint64]string{}, map[uint64]uint64{}, map[uint64]string{}
	samples, slicesAt := map[string]int{}, []uint64{}
	for _, text := range trace[tracePacket] {
		packet := protoFields(t, text)
		at := protoNumber(t, packet[packetTimestamp])
		for _, text := range packet[packetInterned] {
			data := protoFields(t, text)
			for _, text := range data[internedFunctions] {
				one := protoFields(t, text)
				functions[protoNumber(t, one[1])] = string(one[2][0])
			}
			for _, text := range data[internedFrames] {
				one := protoFields(t, text)
				frames[protoNumber(t, one[1])] = protoNumber(t, one[2])
			}
			for _, text := range data[internedCallstacks] {
				one := protoFields(t, text)
				var names []string
				for _, id := range one[2] {
					names = append(names, functions[frames[protoNumber(t, [][]byte{id})]])
				}
				stacks[protoNumber(t, one[1])] = strings.Join(names, ";")
			}
		}
		for _, text := range packet[packetSample] {
			one := protoFields(t, text)
			thread := map[uint64]string{5: "web:", 6: "pool:"}[protoNumber(t, one[3])]
			samples[thread+stacks[protoNumber(t, one[4])]]++
			if at < perfettoStartNs || at >= perfettoStartNs+4e8 {
				t.Errorf("a sample at %d", at)
			}
		}
		if len(packet[packetTrackEvent]) > 0 {
			slicesAt = append(slicesAt, at-perfettoStartNs)
		}
	}
	want := map[string]int{"web:main;</script>  x": 3, "web:main": 1, "pool:main": 2, "pool:": 1}
	if !maps.Equal(samples, want) {
		t.Errorf("samples %v, want %v", samples, want)
	}
	if !slices.Equal(slicesAt, []uint64{2e8, 2e8 + 4e6}) {
		t.Errorf("waits at %v", slicesAt)
	}
}
