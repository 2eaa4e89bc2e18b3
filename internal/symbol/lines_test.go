package symbol

import (
	"debug/dwarf"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const linesSource = `#include <stdlib.h>
static inline __attribute__((always_inline)) long deepest(long x)
{
	return x * 2654435761 ^ x >> 7;
}
static inline __attribute__((always_inline)) long middle(long x)
{
	return deepest(x + 3) + 1;
}
long outer(long x)
{
	for (int i = 0; i < 1000; i++)
		x += middle(x);
	return x;
}
int main(int argc, char **argv) { return (int)outer(argc + atol(argv[0])); }
`

// chain is what the lines say about code of deepest, which was inlined into middle, and that into
// outer.
var chain = []Source{{"deepest", "", 4}, {"middle", "", 8}, {"", "", 13}}

// The inlined functions come innermost first, each with its own line: the callers' are those of the
// calls.
func TestLines(t *testing.T) {
	folder := t.TempDir()
	program := buildLines(t, folder)
	checkChain(t, program, Options{Path: program})

	apart := filepath.Join(folder, "apart.debug")
	run(t, "objcopy", "--only-keep-debug", program, apart)
	run(t, "objcopy", "--strip-debug", "--add-gnu-debuglink="+apart, program)
	checkChain(t, program, Options{Path: program})
	if err := os.Remove(apart); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if lines, err := OpenLines(file, Options{Path: program}); err == nil || lines != nil {
		t.Errorf("lines of a program without DWARF: %v", err)
	}
}

func buildLines(t *testing.T, folder string) string {
	t.Helper()
	source, program := filepath.Join(folder, "lines.c"), filepath.Join(folder, "lines")
	if err := os.WriteFile(source, []byte(linesSource), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, "gcc", "-O2", "-g", "-Wl,--build-id", "-o", program, source)
	return program
}

// openLines opens the lines of a program until the test ends.
func openLines(t *testing.T, program string, options Options) *Lines {
	t.Helper()
	file, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := OpenLines(file, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lines.Close() }) // it was read only
	return lines
}

func checkChain(t *testing.T, program string, options Options) {
	t.Helper()
	table, err := Open("/", program, Options{NoDebugFiles: true})
	if err != nil {
		t.Fatal(err)
	}
	lines := openLines(t, program, options)
	whole, inside := 0, 0
	for i := range table.starts {
		if table.name(i) != "outer" {
			continue
		}
		for address := table.starts[i]; address < table.starts[i]+uint64(table.sizes[i]); address++ {
			inside++
			got := lines.At(address)
			if matches(t, got) {
				whole++
			}
			if inside == 1 {
				lines.Forget()
				if again := lines.At(address); !slices.Equal(again, got) {
					t.Errorf("at %#x is %v, and after Forget %v", address, got, again)
				}
			}
		}
	}
	if whole == 0 || whole == inside {
		t.Errorf("%d of %d addresses of outer are in code of deepest", whole, inside)
	}
	if got := lines.At(1); got != nil {
		t.Errorf("an address without code is at %v", got)
	}
}

func matches(t *testing.T, got []Source) bool {
	t.Helper()
	if len(got) != len(chain) {
		return false
	}
	for i := range got {
		if filepath.Base(got[i].File) != "lines.c" {
			t.Errorf("file %q", got[i].File)
		}
		if got[i].Function != chain[i].Function || got[i].Line != chain[i].Line {
			return false
		}
	}
	return true
}

// A damaged file gives no lines or other ones, and never ends the program.
func TestDamagedLines(t *testing.T) {
	program := buildLines(t, t.TempDir())
	whole, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(t.TempDir(), "damaged")
	opened := 0
	for at := len(whole) / 3; at < len(whole); at += len(whole) / 97 {
		text := append([]byte(nil), whole...)
		for i := at; i < min(at+8, len(text)); i++ {
			text[i] ^= 0xFF
		}
		if err := os.WriteFile(damaged, text, 0o644); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(damaged)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := OpenLines(file, Options{})
		if err != nil {
			file.Close()
			continue
		}
		opened++
		for address := uint64(0x1000); address < 0x1400; address += 4 {
			lines.At(address)
		}
		lines.Close()
	}
	if opened == 0 {
		t.Error("no damaged file was opened: nothing was tried")
	}
}

// A file that is cut short while it is read has no lines any more, and takes nobody along.
func TestLinesOfAFileCutShort(t *testing.T) {
	program := buildLines(t, t.TempDir())
	file, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := OpenLines(file, Options{Path: program})
	if err != nil {
		t.Fatal(err)
	}
	defer lines.Close()
	at := addresses(t, program)["outer"]
	for address := at.Value; address < at.Value+at.Size; address++ {
		if lines.At(address) != nil {
			break
		}
	}
	if lines.read == nil || len(lines.read.unitEntries()) == 0 {
		t.Fatal("nothing was mapped")
	}
	if err := os.Truncate(program, 0); err != nil {
		t.Fatal(err)
	}
	clear(lines.known) // as if another unit were asked for
	if sources := lines.At(at.Value); len(sources) > 0 && sources[0].Line != 0 {
		t.Errorf("lines out of nothing: %v", sources)
	}
}

// Each unit is found by the lengths that stand before them, as by reading all entries.
func TestUnitEntries(t *testing.T) {
	for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
		folder := t.TempDir()
		source, program := filepath.Join(folder, "lines.c"), filepath.Join(folder, "lines")
		other := filepath.Join(folder, "other.c")
		if err := os.WriteFile(source, []byte(linesSource), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(other, []byte("int other(int x) { return x * x + 1; }\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		run(t, "gcc", version, "-O2", "-o", program, source, other)
		file, err := os.Open(program)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		read, err := openSections(file)
		if err != nil {
			t.Fatal(err)
		}
		defer read.close()
		var want []dwarf.Offset
		for reader := read.data.Reader(); ; reader.SkipChildren() {
			entry, err := reader.Next()
			if err != nil {
				t.Fatal(err)
			}
			if entry == nil {
				break
			}
			want = append(want, entry.Offset)
		}
		if got := read.unitEntries(); len(want) < 2 || !slices.Equal(got, want) {
			t.Errorf("%s: units at %v, want %v", version, got, want)
		}
	}
}
