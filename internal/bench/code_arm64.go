package bench

import "encoding/binary"

// branchAndLink are the first six bits of BL; the others are its distance in instructions.
const branchAndLink = 0x25

// decodeCall reads one instruction: its length, 0 when it is none, and where it calls to from its
// own place on.
func decodeCall(code []byte) (length, target int, calls bool) {
	if len(code) < 4 {
		return 0, 0, false
	}
	word := binary.LittleEndian.Uint32(code)
	return 4, int(int32(word<<6)>>6) * 4, word>>26 == branchAndLink
}
