package symbol

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// nestedSource has a function within another one, and one whose code the compiler divides into what
// runs often and what does not.
const nestedSource = `#include <stdlib.h>
#include <stdio.h>
static inline __attribute__((always_inline)) long mix(long x) { return x * 2654435761 ^ x >> 7; }
__attribute__((noinline)) static long apply(long (*f)(long), long x) { return f(x) + 1; }
long outer(long x)
{
	__attribute__((noinline)) long inner(long y) { return mix(y + x) ^ y; }
	return apply(inner, x) + mix(x);
}
long divided(long x)
{
	if (__builtin_expect(x == 12345, 0)) {
		printf("%ld\n", mix(x + 1));
		abort();
	}
	return mix(x) + 3;
}
int main(int argc, char **argv) { return (int)(outer(argc) + divided(argc + atol(argv[0]))); }
`

// A function that is read by itself has the calls that it has where its unit is read as a whole.
func TestFunctionsReadByThemselves(t *testing.T) {
	for _, compile := range []struct {
		source, name, compiler, version string
		nested                          bool // a function is described within another one
	}{
		{nestedSource, "nested.c", "gcc", "-gdwarf-4", true},
		{nestedSource, "nested.c", "gcc", "-gdwarf-5", true},
		{linesSource, "lines.c", "clang-19", "-gdwarf-5", false},
		{scopesSource, "scopes.cpp", "g++", "-gdwarf-5", false},
		{scopesSource, "scopes.cpp", "clang++-19", "-gdwarf-5", false},
	} {
		folder := t.TempDir()
		source, program := filepath.Join(folder, compile.name), filepath.Join(folder, "program")
		if err := os.WriteFile(source, []byte(compile.source), 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, compile.compiler, "-O2", compile.version, "-o", program, source)
		table, err := Open("/", program, Options{NoDebugFiles: true})
		if err != nil {
			t.Fatal(err)
		}
		alone, whole := openLines(t, program, Options{Path: program}), openLines(t, program, Options{Path: program})
		inlined := 0
		for i := range table.starts {
			for address := table.starts[i]; address < table.starts[i]+uint64(table.sizes[i]); address++ {
				got := alone.At(address)
				whole.At(1) // opens it
				if unit := whole.unit(address); unit != nil {
					unit.functions = nil
				}
				if want := whole.At(address); !reflect.DeepEqual(got, want) {
					t.Errorf("%s %s: %#x in %s: %v, in the whole unit %v", compile.compiler, compile.name, address,
						table.name(i), got, want)
				}
				inlined += len(got) / 2
			}
		}
		if inlined == 0 {
			t.Errorf("%s %s: nothing was inlined", compile.compiler, compile.name)
		}
		for _, unit := range alone.known {
			if unit.whole.read != compile.nested {
				t.Errorf("%s %s: all of the unit was read: %v", compile.compiler, compile.name, unit.whole.read)
			}
		}
	}
}

func BenchmarkLines(b *testing.B) {
	path := os.Getenv("CULPRIT_LINES_OF") // a large program with DWARF, of which no host has the same
	if path == "" {
		source := filepath.Join(b.TempDir(), "scopes.cpp")
		path = filepath.Join(b.TempDir(), "scopes")
		if err := os.WriteFile(source, []byte(scopesSource), 0o600); err != nil {
			b.Fatal(err)
		}
		run(b, "g++", "-O2", "-g", "-o", path, source)
	}
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	table, err := Open("/", path, Options{NoDebugFiles: true})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		lines, err := OpenLines(file, Options{Path: path})
		if err != nil {
			b.Fatal(err)
		}
		for i := 0; i < len(table.starts); i += 20 {
			lines.At(table.starts[i] + uint64(table.sizes[i])/2)
		}
		lines.Forget()
	}
}
