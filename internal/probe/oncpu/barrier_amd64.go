package oncpu

import "golang.org/x/arch/x86/x86asm"

// isBarrier reports whether an instruction only waits until the stores before it are done: mfence,
// or what HotSpot uses in its place, a locked addition of nothing to the stack.
func isBarrier(inst *x86asm.Inst) bool {
	if inst.Op == x86asm.MFENCE {
		return true
	}
	memory, ok := inst.Args[0].(x86asm.Mem)
	nothing, constant := inst.Args[1].(x86asm.Imm)
	return ok && constant && nothing == 0 && inst.Op == x86asm.ADD && memory.Base == x86asm.RSP && memory.Index == 0
}

// storeBefore is the store that a barrier of so many bytes waits for: a write of a volatile field
// of Java. False where another instruction stands there.
func storeBefore(sample *oncpuOperand, before instructionsBefore, barrier int) (access, bool) {
	var code [codeBefore]byte
	copy(code[barrier:], sample.Code[:codeBefore-barrier])
	behind := sample.Ip - uint64(barrier)
	inst := before.of(behind, code[:])
	if inst == nil || leaves(inst) || !hasMemory(inst) {
		return access{}, false
	}
	found, ok := operandOf(inst, sample, behind, true)
	if !ok || !found.write {
		return access{}, false
	}
	return found, true
}
