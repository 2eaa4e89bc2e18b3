package symbol

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const locksSource = `
struct Mutex { unsigned futex; };
struct RawMutex { unsigned char state; };
struct Tally { unsigned futex, state; };
struct Counted { unsigned count; };
struct shop { long sold; struct Mutex inner; struct Tally tally; struct { struct RawMutex raw; long data; } each[2]; };
struct Holder { struct Counted Mutex; long more; };
struct shop all;
struct Holder holder;
__attribute__((noinline)) void take(struct shop *shop) { __atomic_exchange_n(&shop->inner.futex, 1, __ATOMIC_SEQ_CST); }
__attribute__((noinline)) void sell(struct shop *shop) { shop->sold++; }
int main(int argc, char **argv) { take(&all); sell(&all); return holder.Mutex.count + all.each[argc & 1].raw.state; }
`

// A word is a lock's by the type that has it and the member that it is, wherever that lies; members
// of the same name elsewhere, and what a lock guards, are words as any other.
func TestLocksByType(t *testing.T) {
	folder := t.TempDir()
	source, program := filepath.Join(folder, "locks.c"), filepath.Join(folder, "locks")
	if err := os.WriteFile(source, []byte(locksSource), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, "gcc", "-O2", "-g", "-o", program, source)
	v := openVariables(t, program)
	all, holder := addressOfSymbol(t, v, "all"), addressOfSymbol(t, v, "holder")
	for address, want := range map[uint64]string{all: "all.sold", all + 8: "lock all.inner", all + 12: "all.tally.futex",
		all + 16: "all.tally.state", all + 24: "lock all.each[0].raw", all + 32: "all.each[0].data",
		all + 40: "lock all.each[1].raw", holder: "holder.Mutex"} {
		if got, _ := v.At(address, 4); got.Object+got.Field != want {
			t.Errorf("at %d: %+v, want %s", address-all, got, want)
		}
	}
	for function, want := range map[string]string{"take": "lock shop.inner", "sell": "shop.sold"} {
		if names := reachedIn(t, v, function); !slices.Contains(names, want) {
			t.Errorf("%s reaches %q, want %s", function, names, want)
		}
	}
}
