package probe

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
)

// Each committed object is what its C compiles to: C that was changed without `make generate` would
// run as it was.
func TestObjectsMatchTheirC(t *testing.T) {
	if testing.Short() {
		t.Skip("compiling all objects takes seconds: -short leaves it out")
	}
	for _, tool := range []string{"clang-19", "llvm-strip-19"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%s is missing: apt-get install clang-19 llvm-19 libbpf-dev (make test does)", tool)
		}
	}
	if _, err := os.Stat("/usr/include/bpf/bpf_helpers.h"); err != nil {
		t.Fatalf("libbpf's headers are missing: apt-get install clang-19 llvm-19 libbpf-dev (make test does)")
	}
	sources, err := filepath.Glob("*/*.bpf.c")
	if err != nil || len(sources) < 4 {
		t.Fatalf("found only %v (%v)", sources, err)
	}
	headers, _ := filepath.Glob("*/*.h") // fails only on a bad pattern
	for _, text := range append(headers, sources...) {
		read(t, text) // go test runs a test again when a file that it read has changed
	}
	for _, source := range sources {
		folder := filepath.Dir(source)
		t.Run(folder, func(t *testing.T) {
			fresh := t.TempDir()
			words := generateLine(t, folder)
			command := exec.Command(words[0], words[1:]...)
			command.Dir, command.Env = folder, append(os.Environ(), "GENERATE_INTO="+fresh)
			if text, err := command.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v: %s", words, err, text)
			}
			name := strings.TrimSuffix(filepath.Base(source), ".bpf.c")
			stems := []string{name + "_x86_bpfel", name + "_arm64_bpfel"}
			if slices.Contains(words, "bpfel") {
				stems = []string{name + "_bpfel"} // one object for all of them
			}
			for _, stem := range stems {
				compareObjects(t, filepath.Join(folder, stem+".o"), filepath.Join(fresh, stem+".o"))
				if !bytes.Equal(read(t, filepath.Join(folder, stem+".go")), read(t, filepath.Join(fresh, stem+".go"))) {
					t.Errorf("%s/%s.go is not what %s gives: run make generate and commit", folder, stem, source)
				}
			}
		})
	}
}

// generateLine finds the go:generate line of a probe that compiles its C.
func generateLine(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		lines := bufio.NewScanner(bytes.NewReader(read(t, file)))
		for lines.Scan() {
			if line, ok := strings.CutPrefix(lines.Text(), "//go:generate "); ok && strings.Contains(line, "generate.sh") {
				return strings.Fields(line)
			}
		}
	}
	t.Fatalf("no file in %s has a go:generate line for its C", folder)
	return nil
}

// compareObjects compares what is loaded: programs, maps and constants. Debug information may
// differ.
func compareObjects(t *testing.T, committed, fresh string) {
	t.Helper()
	old, now := spec(t, committed), spec(t, fresh)
	const way = "run make generate and commit"
	for name, program := range now.Programs {
		before := old.Programs[name]
		if before == nil || before.Type != program.Type || before.AttachTo != program.AttachTo ||
			code(before) != code(program) {
			t.Errorf("%s: program %s is not what its C gives: %s", committed, name, way)
		}
	}
	for name, m := range now.Maps {
		before := old.Maps[name]
		if before == nil || before.Type != m.Type || before.KeySize != m.KeySize || before.ValueSize != m.ValueSize ||
			before.MaxEntries != m.MaxEntries || before.Flags != m.Flags ||
			!reflect.DeepEqual(before.Contents, m.Contents) {
			t.Errorf("%s: map %s is not what its C gives: %s", committed, name, way)
		}
	}
	if len(old.Programs) != len(now.Programs) || len(old.Maps) != len(now.Maps) {
		t.Errorf("%s has %d programs and %d maps, its C %d and %d: %s", committed, len(old.Programs), len(old.Maps),
			len(now.Programs), len(now.Maps), way)
	}
}

func spec(t *testing.T, path string) *ebpf.CollectionSpec {
	t.Helper()
	loaded, err := ebpf.LoadCollectionSpec(path)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// code is a program's instructions with the symbols they refer to, without source lines.
func code(program *ebpf.ProgramSpec) string {
	var text strings.Builder
	for _, instruction := range program.Instructions {
		fmt.Fprintln(&text, instruction.OpCode, instruction.Dst, instruction.Src, instruction.Offset,
			instruction.Constant, instruction.Reference())
	}
	return text.String()
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
