package format

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"culprit/recording"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// importText imports one text as culprit does, and checks that the recording can be written and
// read.
func importText(t testing.TB, name string, text []byte, options Options) *recording.Recording {
	t.Helper()
	rec, err := Import([]Source{{Name: name, Reader: bytes.NewReader(text)}}, options)
	if err != nil {
		t.Fatal(err)
	}
	return stored(t, rec)
}

// stored returns the recording as it comes out of a file.
func stored(t testing.TB, rec *recording.Recording) *recording.Recording {
	t.Helper()
	var file bytes.Buffer
	if err := recording.Encode(&file, rec); err != nil {
		t.Fatalf("what was imported cannot be written: %v", err)
	}
	read, err := recording.Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatalf("what was imported cannot be read: %v", err)
	}
	return read
}

// Every file of testdata is what a tool printed; its golden file is all that the recording holds.
func TestImportGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(inputs) < 10 {
		t.Fatalf("%d inputs, %v", len(inputs), err)
	}
	for _, path := range inputs {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			rec := importText(t, name, text, Options{Program: "test"})
			compareGolden(t, strings.TrimSuffix(path, ".txt")+".golden", dump(rec))
		})
	}
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; go test ./internal/format -update writes it\n%s", path, firstDifference(got, string(want)))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d\n got %s\nwant %s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// dump writes a recording for people to check.
func dump(rec *recording.Recording) string {
	var out strings.Builder
	m := rec.Manifest
	line := func(format string, values ...any) { fmt.Fprintf(&out, format+"\n", values...) }
	line("target %+v window %d hz %d slice %d metrics %v host %q kernel %q started %v", m.Target, m.WindowNs, m.Hz,
		m.SliceNs, m.Metrics, m.Host, m.Kernel, m.StartedAt.UTC())
	for _, loss := range m.Losses {
		line("loss %+v", loss)
	}
	for _, spot := range m.BlindSpots {
		line("blind spot %s", spot)
	}
	for _, fact := range rec.Facts {
		line("fact %+v", fact)
	}
	for _, s := range rec.Samples {
		line("sample %s at %d %d/%d %q cpu %d count %d ns %d target %t", s.Signal, s.TimeNs, s.Pid, s.Tid, s.Comm, s.CPU,
			s.Count, s.ValueNs, s.Target)
		dumpStack(&out, rec, s.Stack)
	}
	for _, w := range rec.Waits {
		line("wait %+v", w)
		dumpStack(&out, rec, w.Stack)
	}
	for _, s := range rec.Slow {
		line("slow %+v", s)
	}
	for _, c := range rec.Syscalls {
		line("call %+v", c)
	}
	for _, e := range rec.Errors {
		line("error %+v", e)
	}
	for _, p := range rec.Processes {
		line("process %+v", p)
	}
	for _, p := range rec.Threads {
		line("thread %+v", p)
	}
	return out.String()
}

func dumpStack(out *strings.Builder, rec *recording.Recording, id int32) {
	for _, frame := range slices.Backward(rec.StackFrames(id)) {
		fmt.Fprintf(out, "    %s  %s %s %s:%d\n", frame.Name, frame.Kind, frame.Module, frame.File, frame.Line)
	}
}
