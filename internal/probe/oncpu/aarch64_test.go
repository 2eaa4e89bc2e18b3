package oncpu

import (
	"strings"
	"testing"
)

const testIP = 0x401000

// Encodings of llvm-mc-19 -triple=aarch64 -mattr=+v8.4a; register i holds (i+1) << 32.
var operandsA64 = []struct {
	name string
	word uint32
	want access // of the instruction to come; address 0: none
	past uint64 // the address when the instruction has run; 0: lost, or none
}{
	{"ldr x0, [x1]", 0xf9400020, access{address: 2 << 32, size: 8, base: 1}, 2 << 32},
	{"ldr w0, [x1, #8]", 0xb9400820, access{address: 2<<32 + 8, size: 4, base: 1}, 2<<32 + 8},
	{"str x2, [x3, #16]", 0xf9000862, access{address: 4<<32 + 16, size: 8, write: true, base: 3}, 4<<32 + 16},
	{"ldrb w4, [x5, #3]", 0x39400ca4, access{address: 6<<32 + 3, size: 1, base: 5}, 6<<32 + 3},
	{"strh w6, [x7, #2]", 0x790004e6, access{address: 8<<32 + 2, size: 2, write: true, base: 7}, 8<<32 + 2},
	{"ldrsw x8, [x9, #4]", 0xb9800528, access{address: 10<<32 + 4, size: 4, base: 9}, 10<<32 + 4},
	{"ldr q0, [x1, #32]", 0x3dc00820, access{address: 2<<32 + 32, size: 16, base: 1}, 2<<32 + 32},
	{"str d1, [x2, #8]", 0xfd000441, access{address: 3<<32 + 8, size: 8, write: true, base: 2}, 3<<32 + 8},
	{"ldur x0, [x1, #-8]", 0xf85f8020, access{address: 2<<32 - 8, size: 8, base: 1}, 2<<32 - 8},
	{"stur w2, [x3, #-4]", 0xb81fc062, access{address: 4<<32 - 4, size: 4, write: true, base: 3}, 4<<32 - 4},
	{"ldr x0, [x1], #8", 0xf8408420, access{address: 2 << 32, size: 8, base: 1}, 2<<32 - 8},
	{"str x0, [x1, #-16]!", 0xf81f0c20, access{address: 2<<32 - 16, size: 8, write: true, base: 1}, 2 << 32},
	{"ldr x0, [x1, x2]", 0xf8626820, access{address: 5 << 32, size: 8, base: 1}, 5 << 32},
	{"ldr x0, [x1, x2, lsl #3]", 0xf8627820, access{address: 2<<32 + 3<<35, size: 8, base: 1}, 2<<32 + 3<<35},
	{"ldr w0, [x1, w2, uxtw #2]", 0xb8625820, access{address: 2 << 32, size: 4, base: 1}, 2 << 32},
	{"str w0, [x1, w2, sxtw]", 0xb822c820, access{address: 2 << 32, size: 4, write: true, base: 1}, 2 << 32},
	{"ldp x0, x1, [x2, #16]", 0xa9410440, access{address: 3<<32 + 16, size: 16, base: 2}, 3<<32 + 16},
	{"stp x3, x4, [x5], #32", 0xa88210a3, access{address: 6 << 32, size: 16, write: true, base: 5}, 6<<32 - 32},
	{"stp x29, x30, [sp, #-16]!: the stack", 0xa9bf7bfd, access{}, 0},
	{"ldp q0, q1, [x2]", 0xad400440, access{address: 3 << 32, size: 32, base: 2}, 3 << 32},
	{"ldr x0, .+16", 0x58000080, access{address: testIP + 16, size: 8, base: -1}, testIP + 12},
	{"ldxr x0, [x1]", 0xc85f7c20, access{address: 2 << 32, size: 8, locked: true, base: 1}, 2 << 32},
	{"stxr w2, x3, [x4]", 0xc8027c83, access{address: 5 << 32, size: 8, write: true, locked: true, base: 4}, 5 << 32},
	{"stlxr w2, w3, [x4]", 0x8802fc83, access{address: 5 << 32, size: 4, write: true, locked: true, base: 4}, 5 << 32},
	{"ldar x0, [x1]", 0xc8dffc20, access{address: 2 << 32, size: 8, base: 1}, 2 << 32},
	{"stlr w0, [x1]", 0x889ffc20, access{address: 2 << 32, size: 4, write: true, base: 1}, 2 << 32},
	{"cas x0, x1, [x2]", 0xc8a07c41, access{address: 3 << 32, size: 8, write: true, locked: true, base: 2}, 3 << 32},
	{"casp x0, x1, x2, x3, [x4]", 0x48207c82, access{address: 5 << 32, size: 16, write: true, locked: true, base: 4},
		5 << 32},
	{"ldxp x0, x1, [x2]", 0xc87f0440, access{address: 3 << 32, size: 16, locked: true, base: 2}, 3 << 32},
	{"ldadd x0, x1, [x2]", 0xf8200041, access{address: 3 << 32, size: 8, write: true, locked: true, base: 2}, 3 << 32},
	{"ldaddal w0, w1, [x2]", 0xb8e00041, access{address: 3 << 32, size: 4, write: true, locked: true, base: 2}, 3 << 32},
	{"swpal x0, x1, [x2]", 0xf8e08041, access{address: 3 << 32, size: 8, write: true, locked: true, base: 2}, 3 << 32},
	{"stadd w0, [x1]", 0xb820003f, access{address: 2 << 32, size: 4, write: true, locked: true, base: 1}, 2 << 32},
	{"ldapr x0, [x1]", 0xf8bfc020, access{address: 2 << 32, size: 8, base: 1}, 2 << 32},
	{"ldapur x0, [x1, #8]", 0xd9408020, access{address: 2<<32 + 8, size: 8, base: 1}, 2<<32 + 8},
	{"stlur w0, [x1, #-4]", 0x991fc020, access{address: 2<<32 - 4, size: 4, write: true, base: 1}, 2<<32 - 4},
	{"ld1 {v0.16b}, [x0]", 0x4c407000, access{address: 1 << 32, size: 16, base: 0}, 1 << 32},
	{"st1 {v0.16b}, [x0], #16", 0x4c9f7000, access{address: 1 << 32, size: 16, write: true, base: 0}, 0},
	{"ldr x1, [x1]: its address is lost", 0xf9400021, access{address: 2 << 32, size: 8, base: 1}, 0},
	{"ldr x2, [x1, x2]", 0xf8626822, access{address: 5 << 32, size: 8, base: 1}, 0},
	{"prfm pldl1keep, [x0]", 0xf9800000, access{}, 0},
	{"add x0, x1, x2", 0x8b020020, access{}, 0},
	{"madd x0, x1, x2, x3", 0x9b020c20, access{}, 0},
	{"b .+8", 0x14000002, access{}, 0},
	{"cbz x0, .+8", 0xb4000040, access{}, 0},
	{"tbnz x0, #3, .+8", 0x37180040, access{}, 0},
	{"ret", 0xd65f03c0, access{}, 0},
	{"svc #0", 0xd4000001, access{}, 0},
	{"no instruction", 0, access{}, 0},
}

const nopA64 = 0xd503201f

func registersOfA64() (all [registersA64]uint64) {
	for i := range all {
		all[i] = uint64(i+1) << 32
	}
	return all
}

func TestAccessA64(t *testing.T) {
	registers := registersOfA64()
	for _, test := range operandsA64 {
		found, ok := accessA64(nopA64, test.word, &registers, testIP, 0)
		indexed := strings.Contains(test.name, "[x1, x2") || strings.Contains(test.name, "[x1, w2")
		if ok && (found.code != testIP || found.indexed != indexed) {
			t.Errorf("%s: code %#x, indexed %v", test.name, found.code, found.indexed)
		}
		found.code, found.offset, found.indexed = 0, 0, false
		if ok != (test.want.address != 0) || found != test.want {
			t.Errorf("%s to come: %+v, %v; want %+v", test.name, found, ok, test.want)
		}
		found, ok = accessA64(test.word, nopA64, &registers, testIP, 0)
		if ok != (test.past != 0) || found.address != test.past {
			t.Errorf("%s behind: %#x, %v; want %#x", test.name, found.address, ok, test.past)
		}
	}
}

func FuzzAccessA64(f *testing.F) {
	for _, test := range operandsA64 {
		f.Add(test.word, uint64(testIP))
	}
	registers := registersOfA64()
	f.Fuzz(func(t *testing.T, word uint32, ip uint64) {
		found, ok := accessA64(word, word, &registers, ip, 0)
		if ok && (found.size <= 0 || found.size > lineBytes) {
			t.Errorf("%#x: an access of %d bytes", word, found.size)
		}
		if !ok && found != (access{}) {
			t.Errorf("%#x: no access and %+v", word, found)
		}
	})
}
