package oncpu

import "encoding/binary"

// taskRegister is R28, where Go keeps the task that runs (cmd/compile/abi-internal.md).
const taskRegister = 28

// lengthsBefore remembers nothing: all instructions have one length.
type lengthsBefore struct{}

// accessOf finds the operand that a sample is about; false when there is none or its registers have changed.
func accessOf(sample *oncpuOperand, _ lengthsBefore) (access, bool) {
	before, next := binary.LittleEndian.Uint32(sample.Code[:4]), binary.LittleEndian.Uint32(sample.Code[4:])
	return accessA64(before, next, &sample.Regs, sample.Ip, sample.Thread)
}
