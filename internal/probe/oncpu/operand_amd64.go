package oncpu

import (
	"math"

	"golang.org/x/arch/x86/x86asm"

	"culprit/internal/symbol"
)

const (
	codeBefore    = 64 // CODE_BEFORE of operands.h
	longMode      = 64
	stackRegister = 4
)

// taskRegister is R14, where Go keeps the task that runs (cmd/compile/abi-internal.md).
const taskRegister = 14

// accessOf finds the operand that a sample is about; false when there is none or its registers have
// changed.
func accessOf(sample *oncpuOperand, before instructionsBefore) (found access, ok bool) {
	defer func() {
		if recover() != nil { // bytes that are no code can be more than the decoder bears
			found, ok = access{}, false
		}
	}()
	code := sample.Code[:]
	if previous := before.of(sample.Ip, code[:codeBefore]); previous != nil {
		if isBarrier(previous) {
			return storeBefore(sample, before, previous.Len)
		}
		if !leaves(previous) && hasMemory(previous) {
			return operandOf(previous, sample, sample.Ip, true)
		}
	}
	next, err := x86asm.Decode(code[codeBefore:], longMode)
	if err != nil {
		return access{}, false
	}
	return operandOf(&next, sample, sample.Ip+uint64(next.Len), false)
}

// accessBy is the access that the processor sampled at an instruction, and where; false where the
// instruction has no operand in memory.
func accessBy(sample *oncpuOperand) (found access, ok bool) {
	defer func() {
		if recover() != nil { // as in accessOf
			found, ok = access{}, false
		}
	}()
	inst, err := x86asm.Decode(sample.Code[codeBefore:], longMode)
	if err != nil || !hasMemory(&inst) {
		return access{}, false
	}
	found = operandAt(&inst, sample.Data, sample.Ip+uint64(inst.Len))
	return found.placed(sample.Regs[stackRegister], sample.Thread, false)
}

// maxBefore bounds what is remembered: 300 bytes each.
const maxBefore = 4096

// instructionsBefore remembers the instruction before an address, which takes 64 decodings to find,
// by the code: hot code is sampled again and again.
type instructionsBefore map[codeAt]*x86asm.Inst

type codeAt struct {
	address uint64
	before  [codeBefore]byte
}

// of is the instruction that ends where the code ends, nil when it cannot be told.
func (b instructionsBefore) of(address uint64, code []byte) *x86asm.Inst {
	at := codeAt{address: address, before: [codeBefore]byte(code)}
	found, known := b[at]
	if !known {
		if inst, err := x86asm.Decode(code[len(code)-lengthBefore(code):], longMode); err == nil {
			found = &inst
		}
		if len(b) >= maxBefore {
			clear(b)
		}
		b[at] = found
	}
	return found
}

// lengthBefore is the length of the instruction that ends where the code ends, 0 when it cannot be
// told. Decoding from almost anywhere falls into step after a few instructions: most beginnings
// decide.
func lengthBefore(code []byte) int {
	last := make([]int, len(code)) // the last instruction's length when one decodes from here on; 0: not up to the end
	var votes [16]int
	for at := len(code) - 1; at >= 0; at-- { // from behind, so that each place is decoded once
		inst, err := x86asm.Decode(code[at:], longMode)
		if err != nil {
			continue
		}
		if next := at + inst.Len; next < len(code) {
			last[at] = last[next]
		} else {
			last[at] = inst.Len
		}
		if last[at] < len(votes) && at < len(code)-1 {
			votes[last[at]]++
		}
	}
	votes[0] = 0
	best := 0
	for length, count := range votes {
		if count > votes[best] {
			best = length
		}
	}
	return best
}

// leaves reports whether the instruction that follows in memory need not follow in time.
func leaves(inst *x86asm.Inst) bool {
	switch inst.Op {
	case x86asm.JMP, x86asm.RET, x86asm.LRET, x86asm.CALL, x86asm.LCALL, x86asm.SYSCALL, x86asm.UD2, x86asm.HLT:
		return true
	}
	return false
}

// noAccess are instructions that have an address and do not use it, or that use the stack.
var noAccess = map[x86asm.Op]bool{x86asm.LEA: true, x86asm.NOP: true, x86asm.PREFETCHT0: true, x86asm.PREFETCHT1: true,
	x86asm.PREFETCHT2: true, x86asm.PREFETCHNTA: true, x86asm.PREFETCHW: true, x86asm.PUSH: true, x86asm.POP: true,
	x86asm.CLFLUSH: true, x86asm.CALL: true, x86asm.RET: true}

// readOnly are instructions whose first operand is read and not written.
var readOnly = map[x86asm.Op]bool{x86asm.CMP: true, x86asm.TEST: true, x86asm.BT: true, x86asm.MUL: true,
	x86asm.IMUL: true, x86asm.DIV: true, x86asm.IDIV: true, x86asm.JMP: true, x86asm.FLD: true, x86asm.FILD: true,
	x86asm.FADD: true, x86asm.FMUL: true, x86asm.FSUB: true, x86asm.FDIV: true, x86asm.LDMXCSR: true,
	x86asm.COMISD: true, x86asm.COMISS: true, x86asm.UCOMISD: true, x86asm.UCOMISS: true, x86asm.CMPSB: true,
	x86asm.CMPSW: true, x86asm.CMPSD: true, x86asm.CMPSQ: true, x86asm.SCASB: true, x86asm.SCASW: true,
	x86asm.SCASD: true, x86asm.SCASQ: true}

// implied are registers that an instruction changes beside its operands, by register number.
var implied = map[x86asm.Op][]int{x86asm.MUL: {0, 2}, x86asm.DIV: {0, 2}, x86asm.IDIV: {0, 2}, x86asm.CMPXCHG: {0},
	x86asm.MOVSB: {6, 7}, x86asm.MOVSW: {6, 7}, x86asm.MOVSD: {6, 7}, x86asm.MOVSQ: {6, 7}, x86asm.STOSB: {7},
	x86asm.STOSW: {7}, x86asm.STOSD: {7}, x86asm.STOSQ: {7}, x86asm.LODSB: {6, 0}, x86asm.LODSQ: {6, 0},
	x86asm.SCASB: {7}, x86asm.SCASW: {7}, x86asm.SCASD: {7}, x86asm.SCASQ: {7}, x86asm.CMPSB: {6, 7},
	x86asm.CMPSW: {6, 7}, x86asm.CMPSD: {6, 7}, x86asm.CMPSQ: {6, 7}}

func hasMemory(inst *x86asm.Inst) bool {
	if noAccess[inst.Op] {
		return false
	}
	for _, argument := range inst.Args {
		if _, ok := argument.(x86asm.Mem); ok {
			return true
		}
	}
	return false
}

// operandOf computes the address of an instruction's operand. done: the instruction has run, so
// that a register which it changed is not the one that it used.
func operandOf(inst *x86asm.Inst, sample *oncpuOperand, behind uint64, done bool) (access, bool) {
	if !hasMemory(inst) {
		return access{}, false
	}
	_, memory := memoryOf(inst)
	if done && changed(inst, memory) {
		return access{}, false // it is lost
	}
	address, ok := effective(memory, sample, behind)
	if !ok {
		return access{}, false
	}
	found := operandAt(inst, address, behind)
	return found.placed(sample.Regs[stackRegister], sample.Thread, memory.Segment == x86asm.FS)
}

// memoryOf is the operand in memory of an instruction that has one, and its number.
func memoryOf(inst *x86asm.Inst) (at int, memory x86asm.Mem) {
	for inst.Args[at] == nil || !isMemory(inst.Args[at]) {
		at++
	}
	return at, inst.Args[at].(x86asm.Mem)
}

// operandAt describes the operand of an instruction that has one in memory, at an address.
func operandAt(inst *x86asm.Inst, address, behind uint64) access {
	at, memory := memoryOf(inst)
	found := access{address: address, size: int32(inst.MemBytes), write: at == 0 && !readOnly[inst.Op],
		code: behind - uint64(inst.Len), base: symbol.NumberOf(memory.Base), offset: memory.Disp, indexed: memory.Index != 0}
	for _, prefix := range inst.Prefix {
		found.locked = found.locked || prefix&0xFF == x86asm.PrefixLOCK
	}
	if inst.Op == x86asm.XCHG {
		found.write, found.locked = true, true
	}
	if found.size <= 0 || found.size > lineBytes {
		found.size = 8
	}
	return found
}

func isMemory(argument x86asm.Arg) bool {
	_, ok := argument.(x86asm.Mem)
	return ok
}

// effective adds up segment, base, index and displacement.
func effective(memory x86asm.Mem, sample *oncpuOperand, behind uint64) (uint64, bool) {
	address, registers := uint64(memory.Disp), &sample.Regs
	if memory.Base == 0 && address <= math.MaxUint32 {
		address = uint64(int64(int32(address))) // which the decoder leaves to the reader
	}
	if memory.Segment == x86asm.FS || memory.Segment == x86asm.GS {
		base := sample.Thread
		if memory.Segment == x86asm.GS {
			base = sample.Other
		}
		if base == 0 {
			return 0, false // the kernel does not know it yet
		}
		address += base
	}
	switch number := symbol.NumberOf(memory.Base); {
	case memory.Base == x86asm.RIP:
		address += behind
	case number >= 0:
		address += registers[number]
	case memory.Base != 0:
		return 0, false
	}
	if memory.Index != 0 {
		number := symbol.NumberOf(memory.Index)
		if number < 0 {
			return 0, false // a vector of indices
		}
		address += registers[number] * uint64(memory.Scale)
	}
	return address, true
}

// changed reports whether an instruction changes a register of its own address.
func changed(inst *x86asm.Inst, memory x86asm.Mem) bool {
	uses := func(number int) bool {
		return number >= 0 && (symbol.NumberOf(memory.Base) == number || symbol.NumberOf(memory.Index) == number)
	}
	for _, number := range implied[inst.Op] {
		if uses(number) {
			return true
		}
	}
	for i, argument := range inst.Args {
		register, ok := argument.(x86asm.Reg)
		if !ok || !uses(symbol.NumberOf(register)) {
			continue
		}
		if i == 0 && !readOnly[inst.Op] || inst.Op == x86asm.XCHG || inst.Op == x86asm.XADD {
			return true
		}
	}
	return false
}
