package format

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"culprit/recording"
)

// unpack reads a file that others made.
func unpack(t *testing.T, path string) []byte {
	t.Helper()
	packed, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	stream, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(stream)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// inPeriods are texts of which stackcollapse-perf.pl adds up periods, not samples.
var inPeriods = []string{"perf-dd-stacks-01", "perf-rust-Yamakaky-dcpu"}

// What stackcollapse-perf.pl made of FlameGraph's own inputs has as many samples of each command. It takes the event
// that comes first, and leaves out a last sample that no empty line follows.
func TestForeignPerfScripts(t *testing.T) {
	inputs, err := filepath.Glob("testdata/foreign/flamegraph/*.txt.gz")
	if err != nil || len(inputs) < 13 {
		t.Fatalf("%d inputs, %v", len(inputs), err)
	}
	for _, path := range inputs {
		name := strings.TrimSuffix(filepath.Base(path), ".txt.gz")
		t.Run(name, func(t *testing.T) {
			text := unpack(t, path)
			got := samplesOf(importText(t, name, text, Options{Program: "test"}))
			want := collapsed(t, unpack(t, strings.TrimSuffix(path, ".txt.gz")+"-collapsed-all.folded.gz"))
			if slices.Contains(inPeriods, name) {
				for command := range want {
					want[command] = got[command]
				}
			}
			left := int64(0)
			for command, samples := range got {
				left += samples - want[command]
				if samples < want[command] {
					t.Errorf("%s: %d samples, stackcollapse-perf.pl has %d", command, samples, want[command])
				}
			}
			allowed := int64(0)
			if !bytes.HasSuffix(text, []byte("\n\n")) {
				allowed = 1
			}
			if len(got) < len(want) || left > allowed {
				t.Errorf("%v, stackcollapse-perf.pl has %v", got, want)
			}
		})
	}
}

// samplesOf counts the samples of the event that came first by command.
func samplesOf(rec *recording.Recording) map[string]int64 {
	first := slices.MinFunc(rec.Samples, func(a, b recording.Sample) int { return cmp.Compare(a.TimeNs, b.TimeNs) })
	if slices.ContainsFunc(rec.Samples, func(s recording.Sample) bool { return s.Signal == "instructions" }) {
		first.Signal = "instructions" // recorded beside cycles, and printed first
	}
	found := map[string]int64{}
	for _, sample := range rec.Samples {
		if sample.Signal == first.Signal {
			found[strings.ReplaceAll(sample.Comm, " ", "_")] += sample.Count
		}
	}
	return found
}

// What speedscope keeps of other tools is read. Lines of the texts were counted with grep, the other events with jfr,
// pprof and node.
func TestForeignProfiles(t *testing.T) {
	for name, want := range map[string]int64{
		"one-sample.linux-perf.txt": 1, "simple.linux-perf.txt": 1, "simple-with-pid.linux-perf.txt": 137,
		"simple-with-header.linux-perf.txt": 136, "forks.linux-perf.txt": 561, "system-wide.linux-perf.txt": 556,
		"rust-mangled.linux-perf.txt": 96,
		"simple.txt":                  14, "simple-crlf.txt": 14, "recursion.txt": 10, "tall.txt": 1, "alternating.txt": 182,
		"simple-with-invalids.txt": 14,
		"simple.prof":              150, "heavy.jfr": 346, "simple.cpuprofile": 29, "sucrase.cpuprofile": 17138,
	} {
		t.Run(name, func(t *testing.T) {
			rec := importText(t, name, unpack(t, "testdata/foreign/speedscope/"+name+".gz"), Options{Program: "test"})
			got := int64(0)
			for _, sample := range rec.Samples {
				if sample.Signal == recording.SignalCPU {
					got += sample.Count
				}
			}
			if got != want {
				t.Errorf("%d samples, it has %d", got, want)
			}
		})
	}
}

// collapsed adds up folded stacks by their first frame, the command.
func collapsed(t *testing.T, text []byte) map[string]int64 {
	t.Helper()
	sums := map[string]int64{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		at := strings.LastIndexByte(line, ' ')
		count, err := strconv.ParseInt(line[at+1:], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		command, _, _ := strings.Cut(line[:at], ";")
		sums[command] += count
	}
	return sums
}
