package oncpu

import "golang.org/x/arch/x86/x86asm"

// lostAt is the address of the instruction that a sample is about where that overwrote a register
// of its own address, 0 where it did not.
func lostAt(sample *oncpuOperand, before instructionsBefore) (code uint64) {
	defer func() {
		if recover() != nil { // as in accessOf
			code = 0
		}
	}()
	inst := before.of(sample.Ip, sample.Code[:codeBefore])
	if inst == nil || leaves(inst) || !hasMemory(inst) {
		return 0
	}
	if _, memory := memoryOf(inst); !changed(inst, memory) {
		return 0
	}
	return sample.Ip - uint64(inst.Len)
}

// accessAt is the operand of an instruction that ends where a sample was taken, with the registers
// from before it ran.
func accessAt(sample *oncpuOperand, code uint64) (found access, ok bool) {
	defer func() {
		if recover() != nil { // as in accessOf
			found, ok = access{}, false
		}
	}()
	length := sample.Ip - code
	if length == 0 || length > codeBefore {
		return access{}, false
	}
	inst, err := x86asm.Decode(sample.Code[codeBefore-length:codeBefore], longMode)
	if err != nil {
		return access{}, false
	}
	return operandOf(&inst, sample, sample.Ip, false)
}
