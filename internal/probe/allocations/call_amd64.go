package allocations

import "golang.org/x/arch/x86/x86asm"

const longMode = 64

// callLengths are how long calls are, the direct one first: that is the only one which another
// could end in.
var callLengths = []uint64{5, 2, 3, 6, 7, 4}

// callBefore tells whether an instruction that calls ends at an address of a function, and what it
// calls.
func (f *file) callBefore(begins, address uint64) (calls callee, ok bool) {
	defer func() {
		if recover() != nil { // bytes that are no code can be more than the decoder bears
			calls, ok = callee{}, false
		}
	}()
	for _, length := range callLengths {
		if address-begins < length {
			continue
		}
		inst, err := x86asm.Decode(f.bytes(address-length, address), longMode)
		if err != nil || inst.Op != x86asm.CALL || uint64(inst.Len) != length {
			continue
		}
		if to, direct := inst.Args[0].(x86asm.Rel); direct {
			return f.calleeAt(address + uint64(int64(to))), true
		}
		return callee{}, true
	}
	return callee{}, false
}
