package allocations

import "encoding/binary"

// Arm Architecture Reference Manual, C6.2: BL, BLR.
const (
	branchLink     = 0x94000000
	branchMask     = 0xfc000000
	branchRegister = 0xd63f0000
	registerMask   = 0xfffffc1f
)

// callBefore tells whether an instruction that calls ends at an address of a function, and what it
// calls.
func (f *file) callBefore(begins, address uint64) (calls callee, ok bool) {
	if address < begins+4 {
		return callee{}, false
	}
	code := f.bytes(address-4, address)
	if len(code) < 4 {
		return callee{}, false
	}
	switch word := binary.LittleEndian.Uint32(code); {
	case word&branchMask == branchLink:
		return f.calleeAt(address - 4 + uint64(int64(int32(word<<6)>>6)*4)), true
	case word&registerMask == branchRegister:
		return callee{}, true
	}
	return callee{}, false
}
