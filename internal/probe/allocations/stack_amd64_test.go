package allocations

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"culprit/internal/probe/mapped"
	"culprit/internal/symbol"
)

// Places in the code of program: functions of 0x40 bytes from 0x1000 on, and where they call.
const (
	loaded   = 0x7f0000000000 // where the code is mapped
	fromMain = 0x1010         // main calls outer
	fromFar  = 0x1050         // outer calls inner
	byPlace  = 0x1058         // outer calls through a register
	toStub   = 0x1090         // inner calls the allocator, by a stub
)

// program is a process with code: main, outer and inner, then a stub without a name.
func program(t *testing.T) *heaps {
	t.Helper()
	code := make([]byte, 0x200)
	call := func(from, to uint64) {
		code[from-0x1000] = 0xe8
		binary.LittleEndian.PutUint32(code[from-0x1000+1:], uint32(to-from-5))
	}
	call(fromMain, 0x1040)
	call(fromFar, 0x1080)
	call(toStub, 0x10f0)
	copy(code[byPlace-0x1000:], "\xff\xd0") // call *%rax
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, code, 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	table, _, err := symbol.JITMap(strings.NewReader("1000 40 main\n1040 40 outer\n1080 40 inner\n10f0 10 malloc@plt\n"))
	if err != nil {
		t.Fatal(err)
	}
	heaps := newHeaps(nil)
	t.Cleanup(heaps.close)
	heaps.process(7).mappings = []mapped.Mapping{{Start: loaded, End: loaded + 0x200, Code: true, Number: "1 2"}}
	heaps.files["1 2"] = &file{opened: opened, path: "/opt/program", asked: true, table: table,
		loads: []elf.ProgHeader{{Type: elf.PT_LOAD, Off: 0, Vaddr: 0x1000, Filesz: 0x200}}}
	return heaps
}

// Of the words of a stack those are taken that a call returns to, and whose call is of the function
// before: neither data nor what an earlier call left. A call that does not tell what it calls is
// taken.
func TestStackOf(t *testing.T) {
	heaps := program(t)
	behind := func(call, length uint64) uint64 { return loaded + call + length - 0x1000 }
	inner, outer, main := behind(toStub, 5), behind(fromFar, 5), behind(fromMain, 5)
	for name, test := range map[string]struct {
		words []uint64
		want  []string
	}{
		"data and what is left between": {[]uint64{inner, 0, 42, outer, inner, 1 << 63, outer + 1, main, outer},
			[]string{"main", "outer", "inner"}},
		"a call of another function": {[]uint64{inner, main}, []string{"inner"}},
		"through a register":         {[]uint64{inner, behind(byPlace, 2), main}, []string{"main", "outer", "inner"}},
		"no return address first":    {[]uint64{1, outer, main}, nil},
		"not behind a call first":    {[]uint64{loaded + 5, main}, nil},
		"nothing":                    {nil, nil},
	} {
		var got []string
		for _, frame := range heaps.stackOf(7, test.words) {
			got = append(got, frame.Name)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	if frames := heaps.stackOf(8, []uint64{inner}); frames != nil {
		t.Errorf("of a process that nobody knows: %v", frames)
	}
}

// Any words give frames or none, and end.
func FuzzStackOf(f *testing.F) {
	f.Add([]byte{0x95, 0, 0, 0, 0, 0x7f, 0, 0})
	f.Fuzz(func(t *testing.T, text []byte) {
		var words []uint64
		for len(text) >= 8 && len(words) < 64 {
			words, text = append(words, binary.LittleEndian.Uint64(text)), text[8:]
		}
		if frames := program(t).stackOf(7, words); len(frames) > mostFrames {
			t.Errorf("%d frames", len(frames))
		}
	})
}
