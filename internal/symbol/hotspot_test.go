package symbol

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
	"testing"
)

// madeMemory is a process's memory, made for a test: words and texts by address.
type madeMemory map[uint64][]byte

func (m madeMemory) ReadAt(p []byte, at int64) (int, error) {
	for start, text := range m {
		if into := uint64(at) - start; uint64(at) >= start && into < uint64(len(text)) {
			n := copy(p, text[into:])
			if n < len(p) {
				return n, io.EOF
			}
			return n, nil
		}
	}
	return 0, io.EOF
}

func wordsOf(values ...uint64) []byte {
	var text bytes.Buffer
	for _, value := range values {
		_ = binary.Write(&text, binary.LittleEndian, value) // to memory
	}
	return text.Bytes()
}

// madeJVM has the table of a JVM and a class, org/App$Dup, whose metadata begins at 0x9000.
func madeJVM() (memory madeMemory, at map[string]uint64) {
	memory = madeMemory{0x100: wordsOf(0x1000, 0, 8, 24, 32, 40),
		0x5000: append([]byte{11, 0, 7, 7}, "org/App$Dup"...),
		0x9000: wordsOf(0x200, 0, 0, 0x5000, 0, 0, 0x200, 0x5000)}
	table := []byte{}
	text := uint64(0x2000)
	add := func(name string) uint64 {
		memory[text] = append([]byte(name), 0)
		text += 0x40
		return text - 0x40
	}
	for _, one := range []struct {
		typ, field     string
		static, offset uint64
	}{{"Klass", "_name", 0, 24}, {"Klass", "_secondary_super_cache", 0, 32}, {"Klass", "_count", 1, 40},
		{"Klass", "_secondary_supers", 0, 40}, {"Symbol", "_length", 0, 0}, {"Symbol", "_body[0]", 0, 4},
		{"Other", "_x", 0, 32}} {
		table = append(table, wordsOf(add(one.typ), add(one.field), 0, one.static, one.offset)...)
	}
	memory[0x1000] = append(table, wordsOf(0, 0, 0, 0, 0)...)
	at = map[string]uint64{}
	for i, name := range []string{"s", "EntryTypeNameOffset", "EntryFieldNameOffset", "EntryIsStaticOffset",
		"EntryOffsetOffset", "EntryArrayStride"} {
		at[hotspotPrefix+name] = 0x100 + uint64(8*i)
	}
	return memory, at
}

// Words of a class's metadata have the class's name and the JVM's own field.
func TestHotSpot(t *testing.T) {
	memory, at := madeJVM()
	jvm, err := newHotSpot(at, 0x100, 0x1000, memory)
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[uint64]Member{0x9020: {"org.App$Dup", "::_secondary_super_cache"},
		0x9028: {"org.App$Dup", "::_secondary_supers"}, 0x9018: {"org.App$Dup", "::_name"}, 0x9008: {"org.App$Dup", ""},
		0x9038: {"org.App$Dup", ""}, 0x8ff8: {}, 0x40: {}, 0: {}} {
		if found, ok := jvm.At(address); ok != (want.Object != "") || found != want {
			t.Errorf("%#x is %+v, %v", address, found, ok)
		}
	}
}

// Memory that was changed by somebody hostile, or in the meantime, gives an error or no name.
func TestHotSpotOfAnything(t *testing.T) {
	for _, change := range []func(memory madeMemory, at map[string]uint64){
		func(_ madeMemory, at map[string]uint64) { clear(at) },
		func(memory madeMemory, _ map[string]uint64) { delete(memory, 0x1000) },
		func(memory madeMemory, _ map[string]uint64) { memory[0x100] = wordsOf(0x1000, 0, 8, 24, 32, 0) },
		func(memory madeMemory, _ map[string]uint64) { memory[0x100] = wordsOf(0x1000, 0, 8, 24, 1<<63, 40) },
		func(memory madeMemory, _ map[string]uint64) { memory[0x1000] = wordsOf(1<<63, 1<<62, 0, 0, 0) },
		func(memory madeMemory, _ map[string]uint64) { memory[0x5000] = []byte{255, 255, 0, 0, 'x'} },
		func(memory madeMemory, _ map[string]uint64) { memory[0x5000] = append([]byte{2, 0, 0, 0}, "\x1b["...) },
		func(memory madeMemory, _ map[string]uint64) { memory[0x5000] = []byte{} },
		func(memory madeMemory, _ map[string]uint64) {
			memory[0x9000] = wordsOf(0x9000, 0x9000, 0x9000, 0x9000, 0)
		},
	} {
		memory, at := madeJVM()
		change(memory, at)
		jvm, err := newHotSpot(at, 0x100, 0x1000, memory)
		if err != nil {
			continue
		}
		if found, ok := jvm.At(0x9020); ok {
			t.Errorf("%+v", found)
		}
	}
}

// monitorJVM has a monitor at 0x7000, whose first word is called header, of the object at 0x8000.
// The class at 0x9000 has the number 7, which is shifted.
func monitorJVM(t *testing.T, header string, first uint64, object []uint64, shift uint64) (madeMemory, *HotSpot) {
	t.Helper()
	memory, at := madeJVM()
	memory[0x7000] = wordsOf(first, 0x7800, 0, 0, 0, 0, 0, 0, 0xabc, 0) // header, _object … _owner
	memory[0x7800] = wordsOf(0x8000)                                    // the handle
	memory[0x8000] = wordsOf(object...)
	jvm, err := newHotSpot(at, 0x100, 0x1000, memory)
	if err != nil {
		t.Fatal(err)
	}
	jvm.monitor.take(header, 0)
	jvm.monitor.take("_object", 8)
	jvm.monitor.take("_owner", 64)
	jvm.narrow = narrowKlass{base: 0x9000 - 7<<shift, shift: shift}
	return memory, jvm
}

// A monitor is told by the object that leads back to it, and by nothing less; it has the object's
// class.
func TestMonitor(t *testing.T) {
	made := func() (madeMemory, *HotSpot) {
		return monitorJVM(t, "_header", markUnlocked, []uint64{0x7000 | markMonitor, 7}, 3)
	}
	memory, jvm := made()
	for address, want := range map[uint64]string{0x7040: "monitor of org.App$Dup", 0x7000: "monitor of org.App$Dup",
		0x7050: "", 0x8000: "", 0x9020: "org.App$Dup"} {
		if found, _ := jvm.At(address); found.Object != want {
			t.Errorf("%#x is %+v", address, found)
		}
	}
	memory[0x8000] = wordsOf(0x7000|markMonitor, 0xdead)
	if found, _ := jvm.At(0x7040); found.Object != "monitor of an object" {
		t.Errorf("of a class that does not tell: %+v", found)
	}
	for _, near := range []func(memory madeMemory, jvm *HotSpot){
		func(memory madeMemory, _ *HotSpot) { memory[0x8000] = wordsOf(0x7100|markMonitor, 7) }, // another's monitor
		func(memory madeMemory, _ *HotSpot) { memory[0x8000] = wordsOf(0x7000, 7) },             // a plain pointer back
		func(memory madeMemory, _ *HotSpot) { memory[0x7000] = wordsOf(0x40, 0x7800, 0, 0, 0, 0, 0, 0, 1, 0) },
		func(_ madeMemory, jvm *HotSpot) { jvm.monitor = monitorFields{} },
		func(memory madeMemory, _ *HotSpot) { delete(memory, 0x7800) },
	} {
		memory, jvm := made()
		near(memory, jvm)
		if found, ok := jvm.At(0x7040); ok {
			t.Errorf("%+v", found)
		}
	}
	memory, jvm = made()
	memory[0x7000], memory[0x8000] = wordsOf(markUnlocked, 0x8000, 0, 0, 0, 0, 0, 0, 1, 0), wordsOf(0x7000|markMonitor, 7)
	if found, _ := jvm.At(0x7040); found.Object != "monitor of org.App$Dup" {
		t.Errorf("without a handle: %+v", found)
	}
}

// Where monitors are in a table, an object's mark says that it has one, and not which.
func TestMonitorOfATable(t *testing.T) {
	made := func() (madeMemory, *HotSpot) {
		memory, jvm := monitorJVM(t, "_metadata", 0x1234, []uint64{7<<compactShift | markMonitor, 0}, 10) // a hash
		jvm.flags = hotspotFlags{known: true, compact: true, monitorTable: true}
		return memory, jvm
	}
	_, plain := made()
	for address, want := range map[uint64]string{0x7040: "monitor of org.App$Dup", 0x7000: "monitor of org.App$Dup",
		0x7050: ""} {
		if found, _ := plain.At(address); found.Object != want {
			t.Errorf("%#x is %+v", address, found)
		}
	}
	memory, jvm := made()
	memory[0x7800], jvm.flags.z = wordsOf(0x8000<<14|1<<13|1<<6), true
	if found, _ := jvm.At(0x7040); found.Object != "monitor of org.App$Dup" && runtime.GOARCH == "amd64" {
		t.Errorf("behind a reference of ZGC: %+v", found)
	}
	for name, near := range map[string]func(memory madeMemory, jvm *HotSpot){
		"an object without a monitor": func(memory madeMemory, _ *HotSpot) {
			memory[0x8000] = wordsOf(7<<compactShift|markUnlocked, 0)
		},
		"of no class": func(memory madeMemory, _ *HotSpot) {
			memory[0x8000] = wordsOf(5<<compactShift|markMonitor, 0)
		},
		"no handle":          func(memory madeMemory, _ *HotSpot) { delete(memory, 0x7800) },
		"a JVM without such": func(_ madeMemory, jvm *HotSpot) { jvm.flags.monitorTable = false },
	} {
		memory, jvm := made()
		near(memory, jvm)
		if found, ok := jvm.At(0x7040); ok {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
