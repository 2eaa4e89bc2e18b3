package symbol

import (
	"encoding/binary"
	"testing"
)

// heapJVM is the JVM of madeJVM with an object at 0xa000 of a class Board, which extends Base.
// Board declares count at 16 and a static field, Base declares kind at 12; in six numbers a field,
// or in a stream.
func heapJVM(t *testing.T, stream bool) *HotSpot {
	t.Helper()
	memory, at := madeJVM()
	made, err := newHotSpot(at, 0x100, 0x900, memory)
	if err != nil {
		t.Fatal(err)
	}
	made.heap = heapFields{array: 0x30, hasArray: !stream, count: 0x38, stream: 0x30, hasStream: stream, constants: 0x28,
		super: 0x40, poolSize: 0x10}
	short := func(values ...uint16) (text []byte) {
		for _, value := range values {
			text = binary.LittleEndian.AppendUint16(text, value)
		}
		return text
	}
	symbol := func(text string) []byte {
		return append([]byte{byte(len(text)), 0, 7, 7}, text...)
	}
	klass := func(name, pool, fields, super, count uint64) []byte {
		return wordsOf(0x200, 0, 0, name, 0, pool, fields, count, super, 0)
	}
	memory[0xa000] = wordsOf(1, 0xb000, 0, 0)
	memory[0xb000] = klass(0x6000, 0xd000, 0xe000, 0xc000, 2)
	memory[0xc000] = klass(0x6040, 0xd000, 0xe100, 0, 1)
	memory[0x6000], memory[0x6040] = symbol("org/Board"), symbol("org/Base")
	memory[0x6080], memory[0x60c0], memory[0x6100] = symbol("count"), symbol("kind"), symbol("limit")
	memory[0xd000] = wordsOf(0, 0, 0x6080, 0x60c0, 0x6100) // constants 0, 1, 2
	if stream {
		encoded := func(values ...byte) []byte {
			text := append([]byte{byte(len(values)), 0, 0, 0}, values...)
			for i := 4; i < len(text); i++ {
				text[i] += streamExcess
			}
			return text
		}
		// Fields, the JVM's own; of each name, signature, offset, access, flags and an initial value.
		memory[0xe000] = encoded(2, 0, 2, 1, 16, accessStatic, flagInitial, 1, 0, 1, 16, 2, 0)
		memory[0xe100] = encoded(1, 0, 1, 1, 12, 0, 0)
		return made
	}
	memory[0xe000] = append([]byte{12, 0, 0, 0}, short(accessStatic, 2, 1, 0, 16<<2|offsetTag, 0,
		2, 0, 1, 0, 16<<2|offsetTag, 0)...)
	memory[0xe100] = append([]byte{6, 0, 0, 0}, short(0, 1, 1, 0, 12<<2|offsetTag, 0)...)
	return made
}

// A field of an object has its class's name and its own, also one that a superclass declares; what
// is no field, and what is no object, has none.
func TestInObject(t *testing.T) {
	for name, stream := range map[string]bool{"six numbers a field": false, "a stream": true} {
		t.Run(name, func(t *testing.T) {
			made := heapJVM(t, stream)
			for _, test := range []struct {
				object, offset uint64
				want           Member
			}{{0xa000, 16, Member{"org.Board", ".count"}}, {0xa000, 12, Member{"org.Board", ".kind"}},
				{0xa000, 20, Member{}}, {0xa000, 8, Member{}}, {0xa004, 12, Member{}}, {0x9000, 16, Member{}},
				{0x7777000, 16, Member{}}, {0, 16, Member{}}} {
				if got, ok := made.InObject(test.object, test.offset); got != test.want || ok != (test.want != Member{}) {
					t.Errorf("%#x + %d: %+v, %v; want %+v", test.object, test.offset, got, ok, test.want)
				}
			}
			made.heap.poolSize = 0
			if got, ok := made.InObject(0xa000, 16); ok {
				t.Errorf("of a JVM whose constants are not known: %+v", got)
			}
		})
	}
}

// Numbers of a stream have one to five bytes (unsigned5.hpp); damage ends it.
func TestStreamNumbers(t *testing.T) {
	stream := numbers{text: []byte{1, 191, 192, 1, 192, 2, 255, 255, 255, 255, 255, 1}}
	for i, want := range []uint64{0, 190, 191, 191 + 64, 254 * (1 + 1<<6 + 1<<12 + 1<<18 + 1<<24), 0} {
		if got := stream.next(); got != want || stream.ended {
			t.Errorf("number %d: %d (%v), want %d", i, got, stream.ended, want)
		}
	}
	if stream.next(); !stream.ended {
		t.Error("behind the end there is a number")
	}
	if damaged := (numbers{text: []byte{0, 1}}); damaged.next() != 0 || !damaged.ended {
		t.Error("a byte of 0 is no number")
	}
}

// Objects and classes are whatever the process has in its memory.
func FuzzInObject(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint64(16))
	f.Fuzz(func(t *testing.T, text []byte, offset uint64) {
		for _, stream := range []bool{false, true} {
			made := heapJVM(t, stream)
			memory := made.memory.(madeMemory)
			memory[0xe000] = append([]byte{byte(len(text)), byte(len(text) >> 8), 0, 0}, text...)
			made.InObject(0xa000, offset)
		}
	})
}
