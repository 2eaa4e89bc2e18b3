package oncpu

import (
	"testing"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/watchpoint"
	"culprit/recording"
)

// observedAt is a sample of the processor at mov [rdi+8], rax: its registers are of another time,
// its address is not.
func observedAt(tid uint32, address uint64) *oncpuOperand {
	one := &oncpuOperand{Ip: testIP, Regs: registers(), Thread: testThread, Tgid: 7, Tid: tid, Data: address, Time: 5}
	for i := range one.Code {
		one.Code[i] = 0x90 // nop
	}
	copy(one.Code[codeBefore:], "\x48\x89\x47\x08")
	return one
}

// Who writes a line is known by the processor's samples though no sample of the clock met a store:
// it is a user of the line and confirmed, and stands for no time.
func TestObserved(t *testing.T) {
	looker := newLooker(nil, newCommon(nil, nil), false)
	reader := seenOperand{time: 5, pid: 7, tid: 8, access: access{address: 0x100000, size: 8, base: -1}}
	looker.seen = append(looker.seen, reader)
	looker.add(&looker.seen[0])
	looker.observe(observedAt(9, 0x100008))
	looker.observe(observedAt(9, 0x100008))
	looker.observe(observedAt(8, 0x100000))
	looker.observe(observedAt(9, 0x500000)) // another line, which no clock met
	none := observedAt(9, 0x100010)
	none.Code[codeBefore] = 0x90 // no operand in memory
	none.Code[codeBefore+1], none.Code[codeBefore+2], none.Code[codeBefore+3] = 0x90, 0x90, 0x90
	looker.observe(none)
	line := looker.lines[looker.common.lineOf(7, 0x100000)]
	if line == nil || !line.shown() || len(line.hits) != 2 {
		t.Fatalf("the line is %+v", line)
	}
	if by := line.hits[0]; by.Tid != 9 || by.Word != (watchpoint.Word{Address: 0x100008, Size: 8}) || by.Writes != 2 ||
		by.Touches != 2 {
		t.Errorf("hits %+v", line.hits)
	}
	window := &bpf.Window{Recording: &recording.Recording{}, EndNs: 10}
	words := map[word]touched{}
	at := word{in: looker.common.lineOf(7, 0x100000), pid: 7, tid: 8, address: 0x100000, size: 8}
	words[at] = touched{samples: 3}
	lines := map[lineOf]*sharers{at.in: (*sharers)(nil).with(&at)}
	looker.addObserved(window, words, lines, nil)
	if line := lines[at.in]; !line.shared() || len(lines) != 1 {
		t.Errorf("shared by %+v", line)
	}
	samples := int64(0)
	for _, times := range words {
		samples += times.samples
	}
	if samples != 3 || len(words) != 3 {
		t.Errorf("words %+v", words)
	}
}

// An operand that its instruction overwrote is taken for one where the processor saw the same
// thread go there.
func TestLocated(t *testing.T) {
	looker := newLooker(nil, newCommon(nil, nil), false)
	seen := observedAt(8, 0x100008)
	copy(seen.Code[codeBefore:], "\x48\x8b\x40\x08") // mov rax, [rax+8]
	looker.observe(seen)
	lost := &oncpuOperand{Ip: testIP + 4, Regs: registers(), Thread: testThread, Tgid: 7, Tid: 8}
	for i := range lost.Code {
		lost.Code[i] = 0x90 // nop
	}
	copy(lost.Code[codeBefore-4:], "\x48\x8b\x40\x08")
	looker.lose(lost)
	other := *lost
	other.Tid = 9 // was not seen there
	looker.lose(&other)
	if len(looker.seen) != 2 || looker.seen[1].address != 0x100008 || looker.seen[1].observed || looker.seen[1].tid != 8 {
		t.Errorf("seen %+v", looker.seen)
	}
}
