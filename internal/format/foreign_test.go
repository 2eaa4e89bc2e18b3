package format

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"culprit/recording"
)

// unpack reads a file that is kept compressed.
func unpack(t testing.TB, path string) []byte {
	t.Helper()
	stream, err := gzip.NewReader(bytes.NewReader(readFile(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(stream)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// perfHead is the first line of a sample: the thread's name and id, and at its end the event.
var perfHead = regexp.MustCompile(`(?m)^(\S.*?) +\d+(?:/\d+)? .*?([a-z][a-z-]*)(?::[a-zA-Z]+)?: *$`)

// What stackcollapse-perf.pl made of FlameGraph's own inputs has as many samples of each command.
// In two of them it adds up periods: there the first lines of samples are counted. It takes the
// event that comes first, and leaves out a last sample that no empty line follows.
func TestForeignPerfScripts(t *testing.T) {
	inputs, err := filepath.Glob("testdata/foreign/flamegraph/*.txt.gz")
	if err != nil || len(inputs) < 13 {
		t.Fatalf("%d inputs, %v", len(inputs), err)
	}
	inPeriods := []string{"perf-dd-stacks-01", "perf-rust-Yamakaky-dcpu"}
	for _, path := range inputs {
		name := strings.TrimSuffix(filepath.Base(path), ".txt.gz")
		t.Run(name, func(t *testing.T) {
			text := unpack(t, path)
			got := samplesOf(importText(t, name, text, Options{Program: "test"}), eventOf(text))
			want := collapsed(t, unpack(t, strings.TrimSuffix(path, ".txt.gz")+"-collapsed-all.folded.gz"))
			allowed := int64(0)
			switch {
			case slices.Contains(inPeriods, name):
				want = headed(text)
			case !bytes.HasSuffix(text, []byte("\n\n")):
				allowed = 1
			}
			left := int64(0)
			for command, samples := range got {
				left += samples - want[command]
				if samples < want[command] {
					t.Errorf("%s: %d samples, stackcollapse-perf.pl has %d", command, samples, want[command])
				}
			}
			if len(got) < len(want) || left > allowed {
				t.Errorf("%v, stackcollapse-perf.pl has %v", got, want)
			}
		})
	}
}

// eventOf is the event of the first sample.
func eventOf(text []byte) string {
	if head := perfHead.FindSubmatch(text); head != nil {
		return string(head[2])
	}
	return "" // printed without
}

// headed counts the first lines of samples by command.
func headed(text []byte) map[string]int64 {
	found := map[string]int64{}
	for _, head := range perfHead.FindAllSubmatch(text, -1) {
		found[command(string(head[1]))]++
	}
	return found
}

// command is a thread's name as stackcollapse-perf.pl writes it.
func command(comm string) string { return strings.ReplaceAll(comm, " ", "_") }

// samplesOf counts the samples of an event by command.
func samplesOf(rec *recording.Recording, event string) map[string]int64 {
	signal, _ := signalOf(event)
	found := map[string]int64{}
	for _, sample := range rec.Samples {
		if sample.Signal == signal {
			found[command(sample.Comm)] += sample.Count
		}
	}
	return found
}

// What speedscope keeps of other tools is read. Lines of the texts were counted with grep, the
// other events with jfr, pprof and node.
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
