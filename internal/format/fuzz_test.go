package format

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"

	"culprit/recording"
)

// fuzz holds what is promised for any input: an error or a recording that can
// be written, read and exported; never both, never a panic.
func fuzz(f *testing.F, format string, seeds ...string) {
	for _, pattern := range seeds {
		paths, err := filepath.Glob("testdata/" + pattern)
		if err != nil || len(paths) == 0 {
			f.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text[:min(len(text), 4096)])
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, as := range []string{format, Auto} {
			rec, err := Import([]Source{{Name: "x", Reader: bytes.NewReader(text)}}, Options{Format: as})
			if (rec == nil) == (err == nil) {
				t.Fatalf("recording %v and error %v", rec, err)
			}
			if err != nil {
				if strings.ContainsAny(err.Error(), "\n\r") {
					t.Fatalf("an error of several lines: %q", err)
				}
				continue
			}
			sound(t, rec)
			if len(text)%16 == 0 { // a hundred times as long as the import: not each time
				stored(t, rec)
			}
			for _, signal := range signalsOf(rec) {
				for _, out := range Writable {
					err := Export(io.Discard, rec, out, signal)
					if err != nil && len(amountsOf(rec, signal)) > 0 {
						t.Fatalf("export %s of %s: %v", signal, out, err)
					}
				}
			}
		}
	})
}

// sound checks what Encode would refuse: numbers that refer to nothing, amounts below zero.
func sound(t *testing.T, rec *recording.Recording) {
	t.Helper()
	for _, stack := range rec.Stacks {
		for _, frame := range stack.Frames {
			if frame < 0 || int(frame) >= len(rec.Frames) {
				t.Fatalf("frame %d of %d", frame, len(rec.Frames))
			}
		}
	}
	for _, sample := range rec.Samples {
		if sample.Stack < recording.NoStack || int(sample.Stack) >= len(rec.Stacks) || sample.Count < 0 ||
			sample.ValueNs < 0 || sample.TimeNs < 0 {
			t.Fatalf("sample %+v of %d stacks", sample, len(rec.Stacks))
		}
	}
	for _, wait := range rec.Waits {
		if wait.Stack < recording.NoStack || int(wait.Stack) >= len(rec.Stacks) || wait.BlockedNs < 0 ||
			wait.RunqueueNs < 0 || wait.TimeNs < 0 {
			t.Fatalf("wait %+v of %d stacks", wait, len(rec.Stacks))
		}
	}
	if rec.Manifest.WindowNs < 0 {
		t.Fatalf("window of %d ns", rec.Manifest.WindowNs)
	}
}

func FuzzPerfScript(f *testing.F) { fuzz(f, PerfScript, "perf-*.txt") }
func FuzzStrace(f *testing.F)     { fuzz(f, Strace, "strace-*.txt") }
func FuzzFolded(f *testing.F)     { fuzz(f, Folded, "folded-*.txt", "*.folded.golden") }

func FuzzPprof(f *testing.F) {
	rec := importText(f, "x", readFile(f, "testdata/perf-names.txt"), Options{})
	zipped := export(f, rec, AsPprof, recording.SignalCPU)
	f.Add(zipped)
	unzipped, err := uncompressed(bufio.NewReader(bytes.NewReader(zipped)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(unzipped)
	fuzz(f, Pprof, "folded-*.txt")
}

// repeated is a text of any length that is never in memory as a whole.
type repeated struct {
	line  func(i int) string
	left  int
	i     int
	ready string
}

func (r *repeated) Read(p []byte) (int, error) {
	for r.ready == "" {
		if r.left <= 0 {
			return 0, io.EOF
		}
		r.ready = r.line(r.i)
		r.i++
		r.left -= len(r.ready)
	}
	n := copy(p, r.ready)
	r.ready = r.ready[n:]
	return n, nil
}

// A hostile input in which everything differs from everything must not grow the
// memory beyond a bound: what does not fit is counted.
func TestImportInBoundedMemory(t *testing.T) {
	const size = 48 << 20
	long := strings.Repeat("x", 300)
	inputs := []struct {
		name, format string
		line         func(i int) string
	}{
		{"perf script", PerfScript, func(i int) string {
			return fmt.Sprintf("comm%d %d/%d [%03d] %d.000000: 1 ev%d: \n\t1234 %s%d+0x1 (/lib/%d)\n\t12 main (/a)\n\n",
				i, i, i, i%4096, i, i%3, long, i, i)
		}},
		{"folded", Folded, func(i int) string { return fmt.Sprintf("main;%s%d;b%d 1\n", long, i, i*7) }},
		{"strace", Strace, func(i int) string {
			return fmt.Sprintf("%d %d.000000 openat(AT_FDCWD, \"/%s%d\", O_RDONLY) = %d <0.002000>\n", i%200_000+1,
				1_700_000_000+i, long, i, i%100_000)
		}},
	}
	for _, input := range inputs {
		t.Run(input.name, func(t *testing.T) {
			rec, err := Import([]Source{{Name: "x", Reader: &repeated{line: input.line, left: size}}},
				Options{Format: input.format})
			if err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			if held := memory.HeapAlloc >> 20; held > 400 {
				t.Errorf("%d MiB are held", held)
			}
			if len(rec.Manifest.Losses) == 0 {
				t.Error("nothing was lost of an input that cannot fit")
			}
			runtime.KeepAlive(rec)
		})
	}
}

// A gzip bomb is refused before it is in memory.
func TestPprofBomb(t *testing.T) {
	var bomb bytes.Buffer
	zipped := gzip.NewWriter(&bomb)
	if _, err := io.CopyN(zipped, &repeated{line: func(int) string { return "\x0a\x02\x08\x01" }, left: 1 << 30},
		maxPprof+1<<20); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := Import([]Source{{Name: "x", Reader: &bomb}}, Options{})
	if err == nil || !strings.Contains(err.Error(), "more than is read") {
		t.Errorf("error %v", err)
	}
}

// zipped compresses a text.
func zipped(text string) string {
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	if _, err := io.WriteString(writer, text); err != nil {
		panic(err) // memory does not fail
	}
	if err := writer.Close(); err != nil {
		panic(err)
	}
	return out.String()
}

// A thread's name may end like an event, and the header of a big host is longer than what is looked
// at.
func TestPerfScriptOfRealHosts(t *testing.T) {
	header := "# ========\n# captured on    : Sun Nov 22 05:17:00 2026\n" +
		strings.Repeat("# cpu pmu capabilities\n", 5000)
	sample := "kid: 1 13127 25006.958895:    2004008 cpu-clock: \n\t11ac leaf+0x13 (/w)\n\t1241 main+0x64 (/w)\n\n"
	rec := importText(t, "x", []byte(header+sample), Options{})
	if len(rec.Samples) != 1 || rec.Samples[0].Comm != "kid: 1" || rec.Samples[0].Tid != 13127 ||
		rec.Samples[0].Signal != recording.SignalCPU || rec.Samples[0].ValueNs != 2004008 {
		t.Errorf("samples %+v", rec.Samples)
	}
}

// Go's run time compresses its profiles; what a server hands out without that is the same profile.
func TestProfileOfGo(t *testing.T) {
	var packed bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&packed, 0); err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(packed.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	open, err := io.ReadAll(unzipped)
	if err != nil {
		t.Fatal(err)
	}
	if open[0] == 0x0a {
		t.Log("Go writes the sample types first now")
	}
	want, got := importText(t, "x", packed.Bytes(), Options{}), importText(t, "x", open, Options{})
	if dump(got) != dump(want) || len(got.Samples) == 0 || got.Samples[0].Signal != "goroutine" {
		t.Errorf("without compression: %s", firstDifference(dump(got), dump(want)))
	}
	for _, head := range []string{"H", "H" + strings.Repeat("\xff", 12), strings.Repeat("H\x01", 9), "HTTP/1.1 200 OK",
		"Z\x10\x08\x01"} {
		if looksLikePprof([]byte(head)) {
			t.Errorf("%q was taken for a profile", head)
		}
	}
}

// What cannot be read is one line that names the file and the way out.
func TestImportRefuses(t *testing.T) {
	cases := []struct{ name, text, format, want string }{
		{"empty", "", "", "it is empty"},
		{"perf.data", "PERFILE2\x00\x01", "", "run `perf script -i FILE`"},
		{"a recording", "PK\x03\x04abc", "", "needs no import"},
		{"prose", "hello world\nthis is nothing\n", "", "give --format"},
		{"binary", "\x00\x01\x02\xff", "", "format not recognised"},
		{"perf of prose", "hello world\n", PerfScript, "no sample found"},
		{"strace of prose", "hello world\n", Strace, "make the log with"},
		{"folded of prose", "hello world\n", Folded, "1 are not"},
		{"damaged pprof", "\x1f\x8b\x08\x00\x00\x00", "", "unzip"},
		{"switches of one process", "w 7 [000] 5.1: sched:sched_switch: prev_comm=w prev_pid=7 prev_prio=120 " +
			"prev_state=D ==> next_comm=x next_pid=8 next_prio=120\n\n", "", "perf record -a"},
		{"compressed text", zipped("main;a 1\nmain;b 2\n"), "", "zcat FILE"},
		{"unknown format", "a 1\n", "jfx", "give one of auto"},
	}
	for _, c := range cases {
		rec, err := Import([]Source{{Name: "in.txt", Reader: strings.NewReader(c.text)}}, Options{Format: c.format})
		if err == nil || rec != nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	two := []Source{{"a", strings.NewReader("a;b 1\n")}, {"b", strings.NewReader("1 1700000000.0 close(3) = 0\n")}}
	if _, err := Import(two, Options{}); err == nil || !strings.Contains(err.Error(), "import them one by one") {
		t.Errorf("two formats: %v", err)
	}
	if _, err := Import(nil, Options{}); err == nil {
		t.Error("nothing was imported")
	}
}

// The order in which goroutines meet a frame must not show.
func TestImportIsTheSameEachTime(t *testing.T) {
	text := &repeated{line: func(i int) string {
		const sample = "c %d/%d [000] %d.000000: 1 cycles: \n\t1234 f%d+0x1 (/lib)\n\t12 g%d (/a)\n\n"
		return fmt.Sprintf(sample, i, i, i, i%97, i%89)
	}, left: 3 << 20}
	whole, err := io.ReadAll(text)
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for range 3 {
		got := dump(importText(t, "x", whole, Options{}))
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatal(firstDifference(got, want))
		}
	}
}
