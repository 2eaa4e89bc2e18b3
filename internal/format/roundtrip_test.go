package format

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"culprit/recording"
)

func export(t testing.TB, rec *recording.Recording, as, signal string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Export(&out, rec, as, signal); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A profile stays one whatever the names in it look like.
func TestPprofOfHostileNames(t *testing.T) {
	text := "pool\n7 12/3 [0] 5.25: 9 cpu-clock: 7132/7133 [001] 5.25: 10101010 cpu-clock:\n\tffff8 a;b (x)\n\n"
	for _, name := range []string{"a b: 12/3 [0] 5.25: cycles:", "main;work 12"} {
		builder := recording.NewBuilder()
		stack := builder.Stack([]int32{builder.Frame(recording.Frame{Name: "x\n" + name + "\n" + name + "\n" + text})})
		rec := recording.Recording{Samples: []recording.Sample{{Signal: "cpu", Comm: name, Stack: stack, Count: 2,
			ValueNs: 5, Target: true}}}
		builder.Into(&rec)
		if read := importText(t, "x", export(t, &rec, AsPprof, recording.SignalCPU), Options{}); len(read.Samples) != 1 {
			t.Errorf("%q: %d samples", name, len(read.Samples))
		}
	}
}

// What folded stacks hold survives import, export and import again.
func TestFoldedRoundTrip(t *testing.T) {
	for _, options := range []Options{{}, {Signal: recording.SignalOffCPU}, {Period: 10101010 * time.Nanosecond}} {
		signal := options.Signal
		if signal == "" {
			signal = recording.SignalCPU
		}
		text := []byte("main;a b(int) const;[unknown] 3\nmain;send;tcp_sendmsg_[k] 4000000\njava;x.y_[j] 1\n")
		first := importText(t, "x", text, options)
		folded := export(t, first, AsFolded, signal)
		second := importText(t, "x", folded, options)
		if again := export(t, second, AsFolded, signal); !bytes.Equal(folded, again) {
			t.Errorf("%v: exported\n%s and then\n%s", options, folded, again)
		}
		if !reflect.DeepEqual(sortedLines(dump(first)), sortedLines(dump(second))) {
			t.Errorf("%v: imported\n%s\nand then\n%s", options, dump(first), dump(second))
		}
		if !reflect.DeepEqual(sortedLines(string(folded)), sortedLines(string(text))) {
			t.Errorf("%v: %q became %q", options, text, folded)
		}
	}
}

func sortedLines(text string) map[string]int {
	lines := map[string]int{}
	for line := range strings.Lines(text) {
		lines[line]++
	}
	return lines
}

// Names that would break the format are changed, and stay the same from then on.
func TestFoldedEscapes(t *testing.T) {
	builder := recording.NewBuilder()
	var rec recording.Recording
	stack := builder.Stack([]int32{
		builder.Frame(recording.Frame{Name: "a;b\nc"}), builder.Frame(recording.Frame{Name: " "}),
		builder.Frame(recording.Frame{Name: "\xff 12"})})
	rec.Samples = []recording.Sample{{Signal: "cpu", Stack: stack, Count: 2, ValueNs: 5, Target: true, Comm: "x\ty;z"},
		{Signal: "cpu", Stack: recording.NoStack, Count: 1, ValueNs: 5, Target: true},
		{Signal: "cpu", Stack: stack, Count: 9, ValueNs: 5}}
	builder.Into(&rec)
	got := string(export(t, &rec, AsFolded, "cpu"))
	if want := "[unknown] 1\nx y:z;a:b c;[unknown];? 12 2\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A profile that was written and read again holds the same samples, threads and frames.
func TestPprofRoundTrip(t *testing.T) {
	for _, name := range []string{"perf-callgraph", "perf-names", "perf-srcline", "perf-waits"} {
		for _, signal := range []string{recording.SignalCPU, recording.SignalOffCPU} {
			first := importText(t, name, readFile(t, "testdata/"+name+".txt"), Options{})
			if len(amountsOf(first, signal)) == 0 {
				continue
			}
			second := importText(t, name, export(t, first, AsPprof, signal), Options{})
			got, want := export(t, second, AsFolded, signal), export(t, first, AsFolded, signal)
			if !equalButKinds(got, want) {
				t.Errorf("%s %s: got\n%s\nwant\n%s", name, signal, got, want)
			}
			third := importText(t, name, export(t, second, AsPprof, signal), Options{})
			third.Facts, third.Manifest.Target = second.Facts, second.Manifest.Target
			if !reflect.DeepEqual(sortedLines(dump(second)), sortedLines(dump(third))) {
				t.Errorf("%s: the second and third time differ\n%s\n%s", name, dump(second), dump(third))
			}
			if a, b := first.Manifest.Metrics["cpu"], second.Manifest.Metrics["cpu"]; signal == "cpu" && a != b {
				t.Errorf("%s: %v CPU seconds became %v", name, a, b)
			}
		}
	}
}

// pprof calls a profile by its first mapping: the program, also where every stack ends in the
// kernel.
func TestPprofIsOfTheProgram(t *testing.T) {
	builder := recording.NewBuilder()
	rec := recording.Recording{Facts: []recording.Fact{{Name: "target.executable", Value: "/srv/app"}}}
	stack := builder.Stack([]int32{
		builder.Frame(recording.Frame{Name: "main", Module: "app"}),
		builder.Frame(recording.Frame{Name: "nap", Module: "libc.so.6"}),
		builder.Frame(recording.Frame{Name: "schedule", Kind: recording.KindKernel})})
	rec.Samples = []recording.Sample{{Signal: "offcpu", Stack: stack, Count: 2, ValueNs: 5, Target: true}}
	builder.Into(&rec)
	made, err := profile.ParseData(export(t, &rec, AsPprof, recording.SignalOffCPU))
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, mapping := range made.Mapping {
		files = append(files, mapping.File)
	}
	if want := []string{"app", "libc.so.6", "[kernel.kallsyms]"}; !reflect.DeepEqual(files, want) {
		t.Errorf("mappings %q, want %q", files, want)
	}
	for i, want := range files { // a location keeps its own
		if at := made.Sample[0].Location[len(files)-1-i].Mapping; at == nil || at.File != want {
			t.Errorf("frame %d is of %v, want %s", i, at, want)
		}
	}
}

// A profile has no place for a frame's kind but the kernel's and the vDSO's.
func equalButKinds(a, b []byte) bool {
	plain := func(text []byte) map[string]int { return sortedLines(strings.ReplaceAll(string(text), markJIT, "")) }
	return reflect.DeepEqual(plain(a), plain(b))
}

// A heap profile, as Go writes it, keeps all of its values, and says that it explains nothing.
func TestPprofHeap(t *testing.T) {
	function := &profile.Function{ID: 1, Name: "main.grow", Filename: "/src/main.go"}
	location := &profile.Location{ID: 1, Line: []profile.Line{{Function: function, Line: 12}}}
	made := &profile.Profile{Function: []*profile.Function{function}, Location: []*profile.Location{location},
		SampleType: []*profile.ValueType{{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"},
			{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}},
		Sample: []*profile.Sample{{Location: []*profile.Location{location}, Value: []int64{3, 4096, 2, 7000},
			Label: map[string][]string{"endpoint": {"/x"}}, NumLabel: map[string][]int64{"thread_id": {77}}}}}
	var file bytes.Buffer
	if err := made.WriteUncompressed(&file); err != nil {
		t.Fatal(err)
	}
	rec := importText(t, "heap.pb", file.Bytes(), Options{})
	got := map[string][2]int64{}
	for _, sample := range rec.Samples {
		got[sample.Signal] = [2]int64{sample.Count, sample.ValueNs}
		if sample.Tid != 77 || rec.StackFrames(sample.Stack)[0].Kind != recording.KindGo {
			t.Errorf("sample %+v of %+v", sample, rec.StackFrames(sample.Stack))
		}
	}
	want := map[string][2]int64{"alloc_objects": {3, 0}, "alloc_space": {4096, 0}, recording.SignalOffCPU: {2, 7000}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	spots := strings.Join(recording.Words(rec.Manifest.BlindSpots), "\n")
	if !strings.Contains(spots, "no CPU time") || !strings.Contains(spots, "endpoint") {
		t.Errorf("blind spots: %s", spots)
	}
	if got := string(export(t, rec, AsFolded, "alloc_space")); got != "main.grow 4096\n" {
		t.Errorf("folded %q", got)
	}
}

// speedscope's document adds up: a weight for each sample, frames in range, ends at the sum.
func TestSpeedscope(t *testing.T) {
	rec := importText(t, "x", readFile(t, "testdata/perf-names.txt"), Options{})
	text := export(t, rec, AsSpeedscope, recording.SignalCPU)
	var file speedscopeFile
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if file.Schema != speedscopeSchema || len(file.Profiles) != 4 {
		t.Fatalf("%d profiles in %s", len(file.Profiles), text)
	}
	total := int64(0)
	for _, one := range file.Profiles {
		sum := int64(0)
		for i, stack := range one.Samples {
			sum += one.Weights[i]
			for _, frame := range stack {
				if frame < 0 || int(frame) >= len(file.Shared.Frames) {
					t.Errorf("frame %d of %d", frame, len(file.Shared.Frames))
				}
			}
		}
		if sum != one.End || len(one.Samples) != len(one.Weights) || one.Unit != "nanoseconds" {
			t.Errorf("profile %+v adds up to %d", one, sum)
		}
		total += sum
	}
	if want := int64(rec.Manifest.Metrics["cpu"]*1e9 + 0.5); total != want {
		t.Errorf("%d ns together, want %d", total, want)
	}
	compareGolden(t, "testdata/perf-names.speedscope.golden", string(text))
}

func TestExportGolden(t *testing.T) {
	for _, name := range []string{"perf-names", "perf-callgraph"} {
		rec := importText(t, name, readFile(t, "testdata/"+name+".txt"), Options{})
		compareGolden(t, "testdata/"+name+".folded.golden", string(export(t, rec, AsFolded, recording.SignalCPU)))
	}
	rec := importText(t, "x", readFile(t, "testdata/perf-waits.txt"), Options{})
	compareGolden(t, "testdata/perf-waits.folded.golden", string(export(t, rec, AsFolded, recording.SignalOffCPU)))
}

func TestExportSaysWhatThereIs(t *testing.T) {
	rec := importText(t, "x", []byte("a;b 1\n"), Options{})
	err := Export(&bytes.Buffer{}, rec, AsFolded, recording.SignalOffCPU)
	if err == nil || !strings.Contains(err.Error(), "it has cpu") {
		t.Errorf("error %v", err)
	}
}
