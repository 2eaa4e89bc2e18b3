package oncpu

import (
	"slices"
	"testing"

	"culprit/internal/probe/watchpoint"
)

// Samples of an instruction that overwrote its register are taken for accesses to where their
// threads were caught, in turns; those of threads that were not caught, and of other instructions,
// are left alone.
func TestRegain(t *testing.T) {
	const code = testIP - 4 // mov rax, [rax+8]
	looker := newLooker(nil, newCommon(nil, nil), true)
	sample := func(tid uint32) *oncpuOperand {
		one := &oncpuOperand{Ip: testIP, Regs: registers(), Thread: testThread, Tgid: 7, Tid: tid}
		for i := range one.Code {
			one.Code[i] = 0x90 // nop
		}
		copy(one.Code[codeBefore-4:], "\x48\x8b\x40\x08")
		return one
	}
	for range worthACatch {
		looker.lose(sample(8))
	}
	looker.lose(sample(9))
	other := sample(8)
	copy(other.Code[codeBefore-4:], "\x48\x8b\x48\x08") // mov rcx, [rax+8]: its register is as it was
	looker.lose(other)
	of := looker.lost[codeOf{7, code}]
	if of == nil || len(of.samples) != worthACatch+1 || len(looker.lost) != 1 || len(looker.seen) != 0 {
		t.Fatalf("lost %+v, seen %v", looker.lost, looker.seen)
	}
	caught := []watchpoint.Caught{{Tid: 8}, {Tid: 8}, {Tid: 10}}
	caught[0].Registers[0], caught[1].Registers[0], caught[2].Registers[0] = 0x100000, 0x200000, 0x300000
	looker.locate(codeOf{7, code}, caught)
	looker.lose(sample(8))
	looker.lose(sample(8))
	looker.lose(sample(8))
	looker.lose(sample(9))
	var got []uint64
	for _, one := range looker.seen {
		got = append(got, one.address)
		if one.code != code || one.write || one.size != 8 || one.tid != 8 {
			t.Errorf("%+v", one)
		}
	}
	want := slices.Repeat([]uint64{0x100008, 0x200008}, 7)[:worthACatch+3] // those that waited, and three
	if !slices.Equal(got, want) {
		t.Errorf("accesses to %#x, want %#x", got, want)
	}
}

// Without consent to debug registers nothing is kept for them.
func TestLoseWithoutConfirm(t *testing.T) {
	looker := newLooker(nil, newCommon(nil, nil), false)
	looker.lose(&oncpuOperand{Ip: testIP, Regs: registers(), Tgid: 7, Tid: 8})
	if len(looker.lost) != 0 {
		t.Errorf("lost %+v", looker.lost)
	}
}
