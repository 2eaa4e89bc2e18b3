package unwind

import "encoding/binary"

const (
	callDirect = 0xe8 // call with a 32-bit offset from the next instruction
	callLength = 5
)

// callTarget tells where a direct call leads that is followed by returnAddress; false when it is
// none.
func callTarget(code [callLength]byte, returnAddress uint64) (uint64, bool) {
	offset := int32(binary.LittleEndian.Uint32(code[1:]))
	return returnAddress + uint64(int64(offset)), code[0] == callDirect
}
