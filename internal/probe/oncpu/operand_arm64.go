package oncpu

import "encoding/binary"

// codeBefore is CODE_BEFORE of operands.h.
const codeBefore = 4

// taskRegister is R28, where Go keeps the task that runs (cmd/compile/abi-internal.md).
const taskRegister = 28

// instructionsBefore remembers nothing: all instructions have one length.
type instructionsBefore struct{}

// returns knows nothing: on arm64 no sample behind a call was seen to be of what the function did.
type returns struct{}

func (returns) accessOf(*oncpuOperand, instructionsBefore) (access, bool) { return access{}, false }

// accessOf finds the operand that a sample is about; false when there is none or its registers have
// changed.
func accessOf(sample *oncpuOperand, _ instructionsBefore) (access, bool) {
	before, next := binary.LittleEndian.Uint32(sample.Code[:4]), binary.LittleEndian.Uint32(sample.Code[4:])
	return accessA64(before, next, &sample.Regs, sample.Ip, sample.Thread)
}

// lostAt is the address of the instruction before a sample where that overwrote a register of its
// own address, 0 where it did not.
func lostAt(sample *oncpuOperand, _ instructionsBefore) (code uint64) {
	operand, ok := decodeA64(binary.LittleEndian.Uint32(sample.Code[:4]))
	if !ok {
		return 0
	}
	if _, ok := operand.address(&sample.Regs, sample.Ip-4, true); ok {
		return 0
	}
	return sample.Ip - 4
}

// accessAt is the operand of the instruction before a sample, with the registers from before it
// ran.
func accessAt(sample *oncpuOperand, code uint64) (access, bool) {
	operand, ok := decodeA64(binary.LittleEndian.Uint32(sample.Code[:4]))
	if !ok || code != sample.Ip-4 {
		return access{}, false
	}
	return operand.of(&sample.Regs, code, sample.Thread, false)
}

// accessBy is the access that the processor sampled at an instruction, and where; false where the
// instruction has no operand in memory.
func accessBy(sample *oncpuOperand) (access, bool) {
	return observedA64(binary.LittleEndian.Uint32(sample.Code[codeBefore:]), sample.Ip, sample.Data, sample.Regs[31],
		sample.Thread)
}
