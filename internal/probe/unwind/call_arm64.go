package unwind

import "encoding/binary"

const (
	callDirect = 0x25 // the six bits of BL, before 26 of offset from itself in instructions
	callLength = 4
)

// callTarget tells where a direct call leads that is followed by returnAddress; false when it is
// none.
func callTarget(code [callLength]byte, returnAddress uint64) (uint64, bool) {
	word := binary.LittleEndian.Uint32(code[:])
	offset := int64(int32(word<<6)>>6) * callLength
	return returnAddress - callLength + uint64(offset), word>>26 == callDirect
}
