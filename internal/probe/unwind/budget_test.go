package unwind

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.opentelemetry.io/ebpf-profiler/libpf"

	"culprit/internal/symbol"
)

const inlinedSource = `
static inline __attribute__((always_inline)) int inner(volatile int *p) { return *p * 3; }
int outer(volatile int *p) { return inner(p) + 1; }
int main(int argc, char **argv) { volatile int a = argc; return outer(&a); }
`

// compiled builds the program with DWARF, as one of the given name, and gives the address of outer.
func compiled(t *testing.T, folder, name string) (file *os.File, outer uint64) {
	t.Helper()
	source, program := filepath.Join(folder, name+".c"), filepath.Join(folder, name)
	if err := os.WriteFile(source, []byte(inlinedSource), 0o644); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.Command("gcc", "-g", "-O1", "-fno-inline-functions", "-o", program, source).
		CombinedOutput(); err != nil {
		t.Fatalf("compile: %v: %s", err, output)
	}
	file, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	table, err := symbol.Load(file, symbol.Options{NoDebugFiles: true})
	if err != nil {
		t.Fatal(err)
	}
	for address := uint64(0x1000); address < 0x2000; address++ {
		if name, _, ok := table.Lookup(address); ok && name == "outer" {
			return file, address
		}
	}
	t.Fatal("there is no function outer")
	return nil, 0
}

// twoFiles is an unwinder that has seen ten stacks through the file "much" and one through
// "little".
func twoFiles(t *testing.T, limits budget) (u *Unwinder, traces []Trace) {
	folder := t.TempDir()
	u = &Unwinder{tables: map[libpf.FileID]*module{}, budget: limits, made: newMadeCode(nil)}
	for i, name := range []string{"little", "much"} {
		file, outer := compiled(t, folder, name)
		lines, err := symbol.OpenLines(file, symbol.Options{NoDebugFiles: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = lines.Close() })
		id := libpf.NewFileID(1, uint64(i))
		u.tables[id] = &module{lines: lines, file: file}
		mapped := libpf.NewFrameMappingFile(libpf.FrameMappingFileData{FileID: id, FileName: libpf.Intern(name)})
		var frames libpf.Frames
		frames.Append(&libpf.Frame{Type: libpf.NativeFrame, AddressOrLineno: libpf.AddressOrLineno(outer),
			Mapping: libpf.NewFrameMapping(libpf.FrameMappingData{File: mapped})})
		u.stacks = append(u.stacks, keptStack{frames: frames})
		for range 1 + 9*i {
			traces = append(traces, Trace{Stack: i})
		}
	}
	return u, traces
}

// Over the budget the file with most stacks has its lines, the other keeps its name, and that is
// counted.
func TestBudgetOfNaming(t *testing.T) {
	plenty := budget{bytes: 1 << 30, cpu: time.Hour, held: 1 << 30}
	for _, test := range []struct {
		name         string
		limits       budget
		little, much bool // have lines
		left         Left
	}{
		{"enough", plenty, true, true, Left{}},
		{"one after the other", budget{plenty.bytes, plenty.cpu, 0}, true, true, Left{}},
		{"bytes for one", budget{-1, plenty.cpu, plenty.held}, false, true, Left{Files: 1, Frames: 1}},
		{"no bytes", budget{0, plenty.cpu, plenty.held}, false, false, Left{Files: 2, Frames: 2}},
		{"no time", budget{plenty.bytes, 0, plenty.held}, false, false, Left{Files: 2, Frames: 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			u, traces := twoFiles(t, test.limits)
			if test.limits.bytes < 0 {
				u.budget.bytes = u.tables[libpf.NewFileID(1, 1)].decodes()
			}
			if left := u.Prepare(traces, false); left != test.left {
				t.Errorf("left %+v, want %+v", left, test.left)
			}
			for stack, want := range []bool{test.little, test.much} {
				frames, _ := u.Frames(stack)
				if has := len(frames) > 0 && frames[0].Line != 0; has != want {
					t.Errorf("stack %d has lines: %v, want %v (%+v)", stack, has, want, frames)
				}
			}
			if held := u.tables[libpf.NewFileID(1, 1)].decodes() == 0; test.much && held != (test.limits.held > 0) {
				t.Errorf("what was decoded is held: %v", held)
			}
		})
	}
}

// What the lines of a file said is told again in the next window without a decoding; a new address
// is decoded for. A window that did not need the file lets go of it.
func TestPlacesAreRemembered(t *testing.T) {
	u, traces := twoFiles(t, budget{bytes: 1 << 30, cpu: time.Hour, held: 0})
	u.loader = &loader{}
	placed := func(limits budget) Left {
		u.budget = limits
		left := u.Prepare(traces, false)
		for stack := range u.stacks {
			frames, _ := u.Frames(stack)
			if len(frames) == 0 || frames[0].Line == 0 {
				t.Errorf("stack %d has no lines: %+v", stack, frames)
			}
		}
		return left
	}
	placed(u.budget)
	kept := u.stacks
	u.Reset()
	u.stacks = kept
	if left := placed(budget{}); left != (Left{}) {
		t.Errorf("known places are left out: %+v", left)
	}
	for _, known := range u.tables {
		if known.decodes() == 0 {
			t.Error("a file was decoded for what is known")
		}
	}
	u.Reset() // nobody asks in this window
	u.Reset()
	if u.placed != 0 {
		t.Errorf("%d places are remembered that nobody needs", u.placed)
	}
}
