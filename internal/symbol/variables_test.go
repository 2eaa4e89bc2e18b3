package symbol

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

const variablesSource = `#include <stdlib.h>
typedef struct { long seen; int kinds[4]; union { long bytes; char text[8]; }; } counts_t;
struct worker { struct worker *next; counts_t *counts; counts_t own; volatile _Atomic long done; };
static counts_t table[3];
long total;
struct { long first, second; } pair;

__attribute__((noinline)) void by_argument(counts_t *counts, int n)
{
	counts->kinds[2] += n;
}
__attribute__((noinline)) void by_chain(struct worker *worker)
{
	worker->next->counts->bytes ^= 5;
}
__attribute__((noinline)) void by_index(struct worker *all, long i)
{
	all[i].own.seen++;
}
__attribute__((noinline)) void by_number(long *where)
{
	*where += 3;
}
__attribute__((noinline)) struct worker *give(struct worker *all) { return all->next; }
__attribute__((noinline)) void by_call(struct worker *all)
{
	give(all)->done++;
}
__attribute__((noinline)) void by_local(void *raw)
{
	struct worker *worker = raw;
	for (int i = 0; i < 100; i++)
		worker->own.kinds[3] += i;
}
int main(int argc, char **argv)
{
	static long calls;
	struct worker all[4] = {0};
	all[0].next = &all[1];
	all[1].counts = &table[1];
	by_argument(&table[argc & 1], argc);
	by_chain(all);
	by_index(all, argc);
	by_number(&total);
	by_call(all);
	by_local(all);
	return (int)(pair.first + total + ++calls + pair.second);
}
`

func openVariables(t *testing.T, program string) *Variables {
	t.Helper()
	file, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	v, err := OpenVariables(file, Options{Path: program})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	return v
}

func has(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// addressOfSymbol is where a symbol is.
func addressOfSymbol(t *testing.T, v *Variables, name string) uint64 {
	t.Helper()
	symbols, err := v.elf.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, symbol := range symbols {
		if symbol.Name == name {
			return symbol.Value
		}
	}
	t.Fatalf("no symbol %s", name)
	return 0
}

// reachedIn are the names of all that a function's instructions reach through registers.
func reachedIn(t *testing.T, v *Variables, of string) (names []string) {
	t.Helper()
	start := addressOfSymbol(t, v, of)
	var found *function
	v.guarded(func() { found = v.functionAt(start) })
	if found == nil {
		t.Fatalf("no DWARF of %s", of)
	}
	for _, inst := range found.code {
		for _, argument := range inst.Args {
			memory, ok := argument.(x86asm.Mem)
			number := NumberOf(memory.Base)
			if !ok || number < 0 || number == framePointer || memory.Base == x86asm.RSP || inst.Op == x86asm.LEA {
				continue
			}
			found, ok := v.Behind(inst.address, Operand{Register: number, Offset: memory.Disp, Indexed: memory.Index != 0,
				Size: int64(inst.MemBytes)})
			if ok {
				names = append(names, found.Object+found.Field)
			}
		}
	}
	return names
}

// What code reaches through a pointer has the name of its type and field, with every compiler, at
// every level of optimisation, in DWARF 4 and 5.
func TestBehind(t *testing.T) {
	folder := t.TempDir()
	source := filepath.Join(folder, "variables.c")
	if err := os.WriteFile(source, []byte(variablesSource), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, build := range [][]string{{"gcc", "-O2", "-g"}, {"gcc", "-O0", "-g"}, {"gcc", "-O1", "-gdwarf-4"},
		{"clang-19", "-O2", "-g"}, {"clang-19", "-O0", "-gdwarf-4"}} {
		program := filepath.Join(folder, "variables")
		if !has(build[0]) {
			t.Log("no ", build[0])
			continue
		}
		run(t, build[0], append(slices.Clone(build[1:]), "-o", program, source)...)
		v := openVariables(t, program)
		for function, want := range map[string]string{"by_argument": "counts_t.kinds[2]", "by_chain": "counts_t.bytes",
			"by_index": "worker.own.seen", "by_number": "*where", "by_call": "worker.done",
			"by_local": "worker.own.kinds[3]"} {
			if names := reachedIn(t, v, function); !slices.Contains(names, want) {
				t.Errorf("%v: %s reaches %q, want %s", build, function, names, want)
			}
		}
		for _, one := range []struct {
			symbol string
			into   uint64
			want   Member
		}{{"table", 32 + 12, Member{"table", "[1].kinds[1]"}}, {"total", 0, Member{"total", ""}},
			{"pair", 8, Member{"pair", ".second"}}} {
			found, ok := v.At(addressOfSymbol(t, v, one.symbol)+one.into, 4)
			if !ok || found != one.want {
				t.Errorf("%v: %s+%d is %+v", build, one.symbol, one.into, found)
			}
		}
	}
}

// Without DWARF a variable has the name of its symbol; an address that no variable has gets no
// name.
func TestVariablesWithoutDWARF(t *testing.T) {
	folder := t.TempDir()
	source, program := filepath.Join(folder, "variables.c"), filepath.Join(folder, "variables")
	if err := os.WriteFile(source, []byte(variablesSource), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, "gcc", "-O2", "-o", program, source)
	v := openVariables(t, program)
	address := addressOfSymbol(t, v, "pair")
	if found, ok := v.At(address+8, 8); !ok || found != (Member{Object: "pair"}) {
		t.Errorf("%+v, %v", found, ok)
	}
	if found, ok := v.At(addressOfSymbol(t, v, "main"), 8); ok {
		t.Errorf("code is called %+v", found)
	}
	if _, ok := v.Behind(addressOfSymbol(t, v, "by_chain"), Operand{Register: 7, Size: 8}); ok {
		t.Error("a field without DWARF")
	}
}

// What one file may cost is bounded: then a variable has the name of its symbol, and what is behind
// a pointer none.
func TestVariablesOfMuchDWARF(t *testing.T) {
	folder := t.TempDir()
	source, program := filepath.Join(folder, "variables.c"), filepath.Join(folder, "variables")
	if err := os.WriteFile(source, []byte(variablesSource), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, "gcc", "-O2", "-g", "-o", program, source)
	v := openVariables(t, program)
	ofLittle := v.most
	ofLittle.entries = 5
	v.most = ofLittle
	if found, ok := v.At(addressOfSymbol(t, v, "pair")+8, 8); !ok || found != (Member{Object: "pair"}) {
		t.Errorf("%+v, %v", found, ok)
	}
	if _, ok := v.Behind(addressOfSymbol(t, v, "by_chain"), Operand{Register: 7, Size: 8}); ok || v.read > 100 {
		t.Errorf("a field after %d entries", v.read)
	}
}

// A page of the file that two segments have in common is mapped for each of them.
func TestBiasWhereSegmentsShareAPage(t *testing.T) {
	segment := func(offset, address, size uint64) *elf.Prog {
		return &elf.Prog{ProgHeader: elf.ProgHeader{Type: elf.PT_LOAD, Off: offset, Vaddr: address, Filesz: size,
			Align: 0x1000}}
	}
	v := &Variables{elf: &elf.File{Progs: []*elf.Prog{segment(0, 0, 0x1646c), segment(0x16470, 0x17470, 0x433f0),
		segment(0x59860, 0x5b860, 0x4e20)}}}
	const base = 0x550000000000
	for _, one := range []struct {
		address, offset uint64
		ok              bool
	}{{0, 0, true}, {0x2000, 0x2000, true}, {0x17000, 0x16000, true}, {0x18000, 0x17000, true}, {0x5b000, 0x59000, true},
		{0x5d000, 0x5b000, true}, {0x60000, 0x5f000, false}} {
		if bias, ok := v.Bias(base+one.address, one.offset); ok != one.ok || ok && bias != base {
			t.Errorf("the mapping of %#x at %#x: %#x, %v", one.offset, one.address, bias, ok)
		}
	}
}
