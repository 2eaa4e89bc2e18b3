package oncpu

import (
	"encoding/hex"
	"strings"
	"testing"
)

// operands are instructions with what they work on, by what registers() gives: register i holds
// (i+1) << 32.
var operands = []struct {
	name   string
	before string // code in front of the address, behind other instructions; "": none of interest
	after  string
	want   access
	none   bool
	thread int64 // its pointer; 0: testThread, -1: not known
}{
	{name: "lock xadd [rdi], rax", before: "f0480fc107",
		want: access{address: 8 << 32, size: 8, write: true, locked: true}},
	{name: "mov rcx, [rdx+rbx*8+0x10]", before: "488b4cda10", want: access{address: 3<<32 + 8*4<<32 + 0x10, size: 8}},
	{name: "mov [r9], r10d", before: "458911", want: access{address: 10 << 32, size: 4, write: true}},
	{name: "cmp [rsi], eax", before: "3906", want: access{address: 7 << 32, size: 4}},
	{name: "xchg [rdi], rax: rax is not its address", before: "488707",
		want: access{address: 8 << 32, size: 8, write: true, locked: true}},
	{name: "add dword [rip+0x100], 1 to come", after: "83050001000001",
		want: access{address: testIP + 7 + 0x100, size: 4, write: true}},
	{name: "mov rax, [rax+8]: its address is lost", before: "488b4008", none: true},
	{name: "mov rax, [rax+8] to come", after: "488b4008", want: access{address: 1<<32 + 8, size: 8}},
	{name: "mov [rsp+8], rax: the stack", before: "4889442408", none: true},
	{name: "mov rax, fs:[0x28]: of the thread", before: "6448" + "8b042528000000",
		want: access{address: testThread + 0x28, size: 8, block: testThread}},
	{name: "add dword fs:[-4], 1: a variable of the thread's own", before: "64830425fcffffff01",
		want: access{address: testThread - 4, size: 4, write: true, block: testThread}},
	{name: "mov fs:[rdx], rax", before: "64488902",
		want: access{address: testThread + 3<<32, size: 8, write: true, block: testThread}},
	{name: "mov rax, fs:[rax]: its address is lost", before: "64488b00", none: true},
	{name: "mov gs:[0x10], eax", after: "6589042510000000",
		want: access{address: testOther + 0x10, size: 4, write: true}},
	{name: "mov [r8-8], rax: the thread's own, by a pointer", before: "498940f8",
		want: access{address: 9<<32 - 8, size: 8, write: true, block: 9 << 32}, thread: 9 << 32},
	{name: "mov [rsp+8], rax: the stack right below the thread's own", before: "4889442408", none: true,
		thread: 5<<32 + 2*threadBelow},
	{name: "mov rax, fs:[0x28] of a thread whose base is not known", before: "6448" + "8b042528000000", none: true,
		thread: -1},
	{name: "mov [rdi+0x18], rax, then lock add dword [rsp-0x40], 0: a volatile field of Java",
		before: "48894718" + "f0834424c000", want: access{address: 8<<32 + 0x18, size: 8, write: true}},
	{name: "mov [rdi], rax, then mfence", before: "488907" + "0faef0",
		want: access{address: 8 << 32, size: 8, write: true}},
	{name: "mov rax, [rdi], then mfence: no store", before: "488b07" + "0faef0", none: true},
	{name: "mov [rdi], rax, then lock add dword [rsp], 1: no barrier", before: "488907" + "f083042401", none: true},
	{name: "lea rax, [rdi+8]", after: "488d4708", none: true},
	{name: "prefetcht0 [rdi]", after: "0f180f", none: true},
	{name: "jmp, then add dword [rdi], 1", before: "830701eb10", after: "830601",
		want: access{address: 7 << 32, size: 4, write: true}},
	{name: "no instruction", after: strings.Repeat("06", codeBefore/4), none: true},
}

const (
	testThread = 0x7f0000001000
	testOther  = 0x7f1000000000
)

func registers() (all [16]uint64) {
	for i := range all {
		all[i] = uint64(i+1) << 32
	}
	return all
}

func TestAccessOf(t *testing.T) {
	for _, test := range operands {
		sample := &oncpuOperand{Ip: testIP, Regs: registers(), Thread: testThread, Other: testOther}
		if test.thread != 0 {
			sample.Thread = uint64(max(test.thread, 0))
		}
		for i := range sample.Code {
			sample.Code[i] = 0x90 // nop
		}
		before, err := hex.DecodeString(test.before)
		if err != nil {
			t.Fatal(test.name, err)
		}
		after, err := hex.DecodeString(test.after)
		if err != nil {
			t.Fatal(test.name, err)
		}
		copy(sample.Code[codeBefore-len(before):], before)
		copy(sample.Code[codeBefore:], after)
		got, ok := accessOf(sample, instructionsBefore{})
		got = access{address: got.address, size: got.size, write: got.write, locked: got.locked, base: test.want.base,
			block: got.block}
		if ok == test.none || got != test.want {
			t.Errorf("%s: %+v, %v, want %+v", test.name, got, ok, test.want)
		}
		if lost := lostAt(sample, instructionsBefore{}); (lost != 0) != strings.HasSuffix(test.name, "is lost") {
			t.Errorf("%s: lost at %#x", test.name, lost)
		}
	}
}

// What a task of Go or its P takes along from thread to thread is not shared between them.
func TestWhatBelongsToATask(t *testing.T) {
	for _, test := range []struct {
		code, function string
		want           bool
	}{
		{"493b6610", "main.join", true},      // cmp rsp, [r14+0x10]: how each function begins
		{"488b4710", "main.join", false},     // mov rax, [rdi+0x10]
		{"488b4710", "runtime.malloc", true}, // the same, of the run time
	} {
		sample := &oncpuOperand{Ip: testIP, Regs: registers()}
		code, err := hex.DecodeString(test.code)
		if err != nil {
			t.Fatal(err)
		}
		for i := range sample.Code {
			sample.Code[i] = 0x90 // nop
		}
		copy(sample.Code[codeBefore:], code)
		found, ok := accessOf(sample, instructionsBefore{})
		if got := isOfTask(test.function, &found); !ok || got != test.want {
			t.Errorf("%s in %s: %v (%+v, %v)", test.code, test.function, got, found, ok)
		}
	}
}

// Code is whatever the target has: any bytes give an access or none.
func FuzzAccessOf(f *testing.F) {
	f.Add([]byte("\xf0\x48\x0f\xc1\x07"), []byte("\x90"))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		sample := &oncpuOperand{Ip: testIP, Regs: registers(), Thread: testThread}
		copy(sample.Code[max(0, codeBefore-len(before)):codeBefore], before)
		copy(sample.Code[codeBefore:], after)
		got, ok := accessOf(sample, instructionsBefore{})
		if ok && (got.size <= 0 || got.size > lineBytes) || !ok && got != (access{}) {
			t.Errorf("%+v, %v", got, ok)
		}
	})
}
