package symbol

import (
	"os"
	"path/filepath"
	"testing"
)

const scopesSource = `#include <stdlib.h>
#define INLINE __attribute__((always_inline))
namespace shop {
INLINE static inline long mix(long x) { return x * 2654435761 ^ x >> 7; }
namespace { INLINE inline long hidden(long x) { return mix(x) ^ mix(x + 5); } }
template <class T> struct Cart {
	INLINE long total(long x) const { return hidden(x) + T::price(x); }
};
struct Tax { INLINE static long price(long x) { return x * 31 ^ x >> 3; } };
long serve(long x)
{
	auto each = [&](long y) INLINE -> long { return mix(y) % 1000003; };
	for (int i = 0; i < 1000; i++)
		x += each(x) + Cart<Tax>().total(x);
	return x;
}
}
int main(int argc, char **argv) { return (int)shop::serve(argc + atol(argv[0])); }
`

// What was inlined is called as the symbol table calls it where it was not: with the name spaces,
// classes and functions around it, of which DWARF has no linkage name to tell. Compilers differ in
// how they describe a lambda, link-time optimisation has the functions in other units than the
// code.
func TestInlinedFunctionsHaveTheirScopes(t *testing.T) {
	for _, compile := range [][]string{{"g++", "-O2"}, {"g++", "-O2", "-flto"}, {"clang++-19", "-O2"}} {
		source, program := filepath.Join(t.TempDir(), "scopes.cpp"), filepath.Join(t.TempDir(), "scopes")
		if err := os.WriteFile(source, []byte(scopesSource), 0o644); err != nil {
			t.Fatal(err)
		}
		run(t, compile[0], append(compile[1:], "-g", "-o", program, source)...)
		names := inlinedNames(t, program)
		for _, want := range []string{"shop::mix", "shop::(anonymous namespace)::hidden", "shop::Cart<shop::Tax>::total",
			"shop::Tax::price"} {
			if !names[want] {
				t.Errorf("%v: no %s among %v", compile, want, names)
			}
		}
		if !names["shop::serve()::{lambda}::operator()"] &&
			!names["shop::serve()::$_0::operator()"] {
			t.Errorf("%v: no lambda among %v", compile, names)
		}
	}
}

// inlinedNames are the readable names of all that was inlined into a program's own functions.
func inlinedNames(t *testing.T, program string) map[string]bool {
	t.Helper()
	table, err := Open("/", program, Options{NoDebugFiles: true})
	if err != nil {
		t.Fatal(err)
	}
	lines := openLines(t, program, Options{Path: program})
	names := map[string]bool{}
	for i := range table.starts {
		for address := table.starts[i]; address < table.starts[i]+uint64(table.sizes[i]); address++ {
			for _, one := range lines.At(address) {
				if one.Function != "" {
					names[Demangle(one.Function)] = true
				}
			}
		}
	}
	return names
}
