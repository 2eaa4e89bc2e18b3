package symbol

import (
	"encoding/binary"
	"testing"
)

// arraysJVM is heapJVM with classes of arrays and a heap of 8 KB at 0x20000. Classes are told by a
// number: 0x1000 is org.Board, 0x1008 long[], 0x1010 int[], 0x1018 org.Board[][], from 0xb000 on.
func arraysJVM(t *testing.T, flags hotspotFlags) (made *HotSpot, heap []byte) {
	t.Helper()
	made = heapJVM(t, true)
	memory := made.memory.(madeMemory)
	for i, name := range []string{"[J", "[I", "[[Lorg/Board;"} {
		klass, text := 0xb400+uint64(i)*0x400, 0x6200+uint64(i)*0x40
		memory[text] = append([]byte{byte(len(name)), 0, 7, 7}, name...)
		memory[klass] = wordsOf(0x200, 0, 0, text, 0, 0, 0, 0, 0, 0)
	}
	heap = make([]byte, 0x2000)
	memory[0x20000] = heap
	flags.known = true
	made.flags, made.narrow = flags, narrowKlass{base: 0xb000 - 4<<10, shift: 10}
	return made, heap
}

// Numbers of the classes.
const board, longs, ints, boards = 4, 5, 6, 7

func put(heap []byte, at int, mark uint64, values ...uint32) {
	binary.LittleEndian.PutUint64(heap[at:], mark)
	for i, value := range values {
		binary.LittleEndian.PutUint32(heap[at+8+4*i:], value)
	}
}

// An element of an array, and a field of an object, have names where nobody tells the object's
// begin: the nearest that reaches that far is meant.
func TestAround(t *testing.T) {
	for name, test := range map[string]struct {
		flags hotspotFlags
		put   func(heap []byte)
		want  map[uint64]Member
	}{
		"32 bits of class": {hotspotFlags{shortClasses: true, shortReferences: true}, func(heap []byte) {
			put(heap, 0x1000, 1, longs, 16)
			put(heap, 0x1090, 1, board, 0)
			put(heap, 0x1100, 1|77<<8, ints, 3)
			put(heap, 0x1120, 1, boards, 2)
			put(heap, 0x1140, 0, longs, 8) // with a lock of the thread that holds it
		}, map[uint64]Member{0x21010: {"(long[])", "[0]"}, 0x21088: {"(long[])", "[15]"}, 0x210a0: {"org.Board", ".count"},
			0x210a8: {}, 0x21110: {"(int[])", "[0]"}, 0x21118: {"(int[])", "[2]"}, 0x2111c: {},
			0x21134: {"(org.Board[][])", "[1]"},
			0x21150: {}, 0x21008: {}, 0x2100c: {"(long[])", ".length"}}},
		"compact headers": {hotspotFlags{compact: true, shortClasses: true, shortReferences: true}, func(heap []byte) {
			put(heap, 0x1000, 1|longs<<compactShift, board, 0) // of as many elements as the number of a class
			put(heap, 0x1030, 1|ints<<compactShift, 3)
			put(heap, 0x1050, 1|board<<compactShift)
		}, map[uint64]Member{0x21010: {"(long[])", "[0]"}, 0x21028: {"(long[])", "[3]"}, 0x2103c: {"(int[])", "[0]"},
			0x21044: {"(int[])", "[2]"}, 0x21048: {}, 0x21060: {"org.Board", ".count"}}},
		"a whole word of class": {hotspotFlags{}, func(heap []byte) {
			binary.LittleEndian.PutUint64(heap[0x1008:], 0xb400)
			put(heap, 0x1000, 1, 0xb400, 0, 4)
			put(heap, 0x1100, 1, 0xb800, 0, 4)
		}, map[uint64]Member{0x21018: {"(long[])", "[0]"}, 0x21030: {"(long[])", "[3]"}, 0x21038: {}, 0x21118: {}}},
		"more than 4 KB behind the begin": {hotspotFlags{shortClasses: true}, func(heap []byte) {
			put(heap, 0x200, 1, longs, 600)
		}, map[uint64]Member{0x21200: {}, 0x211f8: {"(long[])", "[509]"}}},
	} {
		t.Run(name, func(t *testing.T) {
			made, heap := arraysJVM(t, test.flags)
			test.put(heap)
			for address, want := range test.want {
				if got, ok := made.Around(address); got != want || ok != (want != Member{}) {
					t.Errorf("%#x: %+v, %v; want %+v", address, got, ok, want)
				}
			}
			made.flags.known = false
			for address := range test.want {
				if got, ok := made.Around(address); ok {
					t.Errorf("of a JVM whose flags are not known, %#x: %+v", address, got)
				}
			}
		})
	}
}

// Where the code tells the object's begin, an element far behind it has a name as well.
func TestInObjectOfAnArray(t *testing.T) {
	made, heap := arraysJVM(t, hotspotFlags{shortClasses: true})
	put(heap, 0x200, 1, longs, 600)
	for offset, want := range map[uint64]Member{16: {"(long[])", "[0]"}, 16 + 8*599: {"(long[])", "[599]"},
		16 + 8*600: {}, 8: {}} {
		if got, ok := made.InObject(0x20200, offset); got != want || ok != (want != Member{}) {
			t.Errorf("%d: %+v, %v; want %+v", offset, got, ok, want)
		}
	}
}

// A ReentrantLock's words are a lock's; those of what extends it, and of other classes, are not.
func TestInObjectOfALock(t *testing.T) {
	made := heapJVM(t, true)
	sync := func(text string) {
		made.memory.(madeMemory)[0x6040] = append([]byte{byte(len(text)), 0, 7, 7}, text...)
	}
	for text, want := range map[string]Member{
		"java/util/concurrent/locks/ReentrantLock$Sync":          {"monitor of java.util.concurrent.locks.ReentrantLock", ""},
		"java/util/concurrent/locks/ReentrantReadWriteLock$Sync": {"org.Board", ".kind"},
	} {
		sync(text)
		if got, _ := made.InObject(0xa000, 12); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
		if got, _ := made.InObject(0xa000, 16); got != (Member{"org.Board", ".count"}) {
			t.Errorf("%s: a field of its own is %+v", text, got)
		}
	}
}

// The JVM's flags are an array of names and addresses.
func TestHotspotFlags(t *testing.T) {
	memory, at := madeJVM()
	made, err := newHotSpot(at, 0x100, 0x900, memory)
	if err != nil {
		t.Fatal(err)
	}
	memory[0x7000] = append([]byte("UseCompressedOops"), 0)
	memory[0x7040] = append([]byte("UseCompactObjectHeaders"), 0)
	memory[0x7080] = append([]byte("UseZebra"), 0)
	memory[0x7100], memory[0x7110], memory[0x7120] = []byte{1}, []byte{0}, []byte{1}
	memory[0x7200] = wordsOf(0x7100, 0x7000, 0, 0x7110, 0x7040, 0, 0x7120, 0x7080, 0, 0, 0, 0)
	table := flagTable{flags: 0x7200, count: 4, address: 0, name: 8}
	if got, want := table.read(made, 24), (hotspotFlags{known: true, shortReferences: true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, none := range []flagTable{{}, {flags: 0x7200, name: 8}, {flags: 0xdead0000, count: 1 << 40, name: 8}} {
		if got := none.read(made, 24); got.known {
			t.Errorf("%+v: %+v", none, got)
		}
	}
	if got := table.read(made, 0); got.known {
		t.Errorf("of structures without a size: %+v", got)
	}
}

// What is around a word is whatever the process has in its memory.
func FuzzAround(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 255, 255, 255, 255}, true)
	f.Fuzz(func(t *testing.T, text []byte, compact bool) {
		made, heap := arraysJVM(t, hotspotFlags{compact: compact, shortClasses: true})
		copy(heap[0x1000-min(len(text), 0x1000):], text)
		for _, address := range []uint64{0x21000, 0x21ff8, 0, 1 << 63, 0x20008} {
			made.Around(address)
		}
	})
}
