package oncpu

import (
	"os"
	"testing"
	"unsafe"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/spe"
	"culprit/recording"
)

// Records of threads that the clock met become samples, with the code of their process; those of
// others do not, nor those of Go programs, whose tasks they do not tell.
func TestPackets(t *testing.T) {
	own := int32(os.Getpid())
	code := [4]byte{0x20, 0x00, 0x40, 0xf9} // ldr x0, [x1]
	at := uint64(uintptr(unsafe.Pointer(&code)))
	reader := &packetReader{threads: map[int32]int32{}, golang: map[int32]bool{own: false, 7: true},
		code: map[codeOf]uint32{}}
	reader.knows(11, own)
	reader.knows(12, 7)
	var got []*oncpuOperand
	keep := func(one *oncpuOperand) { got = append(got, one) }
	for _, tid := range []int32{11, 12, 13, 0} {
		reader.sample(&spe.Record{Tid: tid, Code: at, Address: 0x123450}, 99, keep)
	}
	reader.sample(&spe.Record{Tid: 11, Code: at}, 99, keep) // no address
	if len(got) != 1 {
		t.Fatalf("%d samples", len(got))
	}
	if one := got[0]; one.Tgid != uint32(own) || one.Tid != 11 || one.Time != 99 || one.Data != 0x123450 || one.Ip != at ||
		[4]byte(one.Code[codeBefore:]) != code {
		t.Errorf("sampled %+v", one)
	}
	window := &bpf.Window{Recording: &recording.Recording{}}
	told := reader.tell(window)
	if lost := window.Recording.Manifest.Losses; !told || len(lost) != 1 || lost[0].Count != 1 {
		t.Errorf("told %v, losses %+v", told, lost)
	}
}

// A Go program is known as one: this test is.
func TestPacketsOfGo(t *testing.T) {
	own := int32(os.Getpid())
	reader := &packetReader{threads: map[int32]int32{}, golang: map[int32]bool{}}
	reader.knows(own, own)
	if !reader.golang[own] || len(reader.threads) != 0 {
		t.Errorf("threads %v, Go %v", reader.threads, reader.golang)
	}
}

// The access is where the processor says; how large and whether it writes the instruction tells.
func TestObservedA64(t *testing.T) {
	for name, test := range map[string]struct {
		word uint32
		want access
		ok   bool
	}{
		"ldr x0, [x1]":         {0xf9400020, access{size: 8}, true},
		"strh w6, [x7, #2]":    {0x790004e6, access{size: 2, write: true}, true},
		"stlxr w2, w3, [x4]":   {0x8802fc83, access{size: 4, write: true, locked: true}, true},
		"ldp x0, x1, [x2]":     {0xa9400440, access{size: 16}, true},
		"code that is unknown": {0, access{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := observedA64(test.word, testIP, 0x123450, 0, 0)
			if ok != test.ok || got.size != test.want.size || got.write != test.want.write || got.locked != test.want.locked {
				t.Fatalf("%+v, %v", got, ok)
			}
			if ok && (got.address != 0x123450 || got.code != testIP) {
				t.Errorf("%+v", got)
			}
		})
	}
}
