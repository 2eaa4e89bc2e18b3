package oncpu

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"runtime"
	"testing"
	"unsafe"
)

// A sample behind a call is of the access that the function ends with, where that is certain.
func TestAccessOfWhatReturned(t *testing.T) {
	const rdi, rax, rcx, rbx = 7, 0, 1, 3
	for _, test := range []struct {
		name, code string
		register   int // that the operand is counted from, by 8
		write      bool
		none       bool
	}{
		{name: "add [rdi+8], rsi; ret", code: "48017708c3", register: rdi, write: true},
		{name: "mov [rdi+8], rsi; and edx, 7; ret", code: "4889770883e207c3", register: rdi, write: true},
		{name: "cmp [rcx+8], rsi; pop rbp; ret", code: "483971085dc3", register: rcx},
		{name: "a loop before it: add [rdi+8], rsi; jne back; ret", code: "4801770875fac3", register: rdi, write: true},
		{name: "a reload from the stack behind it: mov [rdi+8], rsi; mov rax, [rsp+8]; ret",
			code: "48897708488b442408c3", register: rdi, write: true},
		{name: "the register is another's since: mov [rbx+8], rsi; pop rbx; ret", code: "488973085bc3", none: true},
		{name: "a jump leaves it out: test; je over; add [rdi+8], rsi; over: ret", code: "85c9740448017708c3", none: true},
		{name: "a call since: add [rdi+8], rsi; call; ret", code: "48017708e800000000c3", none: true},
		{name: "no end: jmp", code: "48017708eb10", none: true},
		{name: "nothing but the stack: mov rax, [rsp+8]; ret", code: "488b442408c3", none: true},
		{name: "no code", code: "0606060606", none: true},
	} {
		function := make([]byte, mostOfFunction)
		code, err := hex.DecodeString(test.code)
		if err != nil {
			t.Fatal(test.name, err)
		}
		copy(function, code)
		address := uint64(uintptr(unsafe.Pointer(&function[0])))
		sample := &oncpuOperand{Ip: address + 1<<20, Regs: registers(), Tgid: uint32(os.Getpid())}
		for i := range sample.Code {
			sample.Code[i] = 0x90 // nop
		}
		sample.Code[codeBefore-5] = 0xe8
		binary.LittleEndian.PutUint32(sample.Code[codeBefore-4:], ^uint32(1<<20)+1)
		found, ok := returns{}.accessOf(sample, instructionsBefore{})
		runtime.KeepAlive(function)
		if ok == test.none {
			t.Errorf("%s: %+v, %v", test.name, found, ok)
			continue
		}
		want := access{address: sample.Regs[test.register] + 8, write: test.write, returned: true}
		if got := (access{address: found.address, write: found.write, returned: found.returned}); ok && got != want {
			t.Errorf("%s: %+v, want %+v", test.name, got, want)
		}
	}
	sample := &oncpuOperand{Ip: testIP, Regs: registers(), Tgid: uint32(os.Getpid())}
	for i := range sample.Code {
		sample.Code[i] = 0x90
	}
	if found, ok := (returns{}).accessOf(sample, instructionsBefore{}); ok {
		t.Errorf("no call before it: %+v", found)
	}
}
