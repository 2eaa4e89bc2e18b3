package oncpu

import (
	"golang.org/x/arch/x86/x86asm"

	"culprit/internal/probe/mapped"
)

// Where another core takes a line away before a load from it is done, the processor may undo what
// ran since and start anew behind the load. A short function that ends with such an access
// (counts->seen++; return) is then sampled behind the call of it, in its caller: on Sapphire Rapids
// so are a fifth to two fifths of the samples of two processes that fight for a line of counters.

// mostOfFunction bounds how far a function is read to find where it returns, in bytes.
const mostOfFunction = 256

// returns remembers the accesses that functions end with; nil for those whose last access cannot be
// told.
type returns map[codeOf]*lastAccess

type lastAccess struct {
	inst   x86asm.Inst
	behind uint64 // the address of what follows it
}

// accessOf is the last access of a function that has just returned to where a sample was taken;
// false when none has, or its operand cannot be told.
func (r returns) accessOf(sample *oncpuOperand, before instructionsBefore) (found access, ok bool) {
	defer func() {
		if recover() != nil { // as in accessOf
			found, ok = access{}, false
		}
	}()
	call := before.of(sample.Ip, sample.Code[:codeBefore])
	if call == nil || call.Op != x86asm.CALL {
		return access{}, false
	}
	distance, direct := call.Args[0].(x86asm.Rel)
	if !direct {
		return access{}, false
	}
	last := r.of(codeOf{int32(sample.Tgid), sample.Ip + uint64(int64(distance))})
	if last == nil {
		return access{}, false
	}
	found, ok = operandOf(&last.inst, sample, last.behind, true)
	found.returned = ok
	return found, ok
}

func (r returns) of(function codeOf) *lastAccess {
	last, known := r[function]
	if known {
		return last
	}
	var code [mostOfFunction]byte
	if mapped.Copy(int(function.pid), function.address, code[:]) {
		last = lastAccessIn(code[:], function.address)
	}
	if len(r) >= maxBefore {
		clear(r)
	}
	r[function] = last
	return last
}

// lastAccessIn is the last access of a function before it returns, whose registers are still what
// they were then; nil where there is none, or where a jump may leave it out.
func lastAccessIn(code []byte, address uint64) (last *lastAccess) {
	farthest := uint64(0) // where a jump leads
	for at := 0; at < len(code); {
		inst, err := x86asm.Decode(code[at:], longMode)
		if err != nil {
			return nil
		}
		at += inst.Len
		behind := address + uint64(at)
		switch {
		case inst.Op == x86asm.RET:
			if last != nil && farthest >= last.behind {
				return nil
			}
			return last
		case inst.Op == x86asm.CALL:
			last = nil
			continue
		case leaves(&inst):
			return nil
		}
		if distance, jumps := inst.Args[0].(x86asm.Rel); jumps {
			farthest = max(farthest, behind+uint64(int64(distance)))
		}
		switch {
		case hasMemory(&inst) && !ofStack(&inst):
			last = &lastAccess{inst, behind}
		case last != nil:
			if _, memory := memoryOf(&last.inst); changed(&inst, memory) {
				last = nil
			}
		}
	}
	return nil
}

// ofStack reports whether the operand of an instruction is on the stack or the thread's own.
func ofStack(inst *x86asm.Inst) bool {
	_, memory := memoryOf(inst)
	return memory.Base == x86asm.RSP || memory.Segment == x86asm.FS
}
