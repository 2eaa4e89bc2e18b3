package symbol

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
)

// Operations that begin the expression of a variable that each thread has of its own: where it lies
// in the image of them, and that an address within the running thread's is to be made of that.
const (
	opNumber4    = 0x0c // DW_OP_const4u
	opNumber8    = 0x0e // DW_OP_const8u
	opOfThread   = 0x9b // DW_OP_form_tls_address
	opOfThread4  = 0xe0 // DW_OP_GNU_push_tls_address
	opIndexed2   = 0xa2 // DW_OP_constx
	opConstIndex = 0xfc // DW_OP_GNU_const_index

	headA64 = 16 // bytes that a thread's own memory begins with on arm64
)

// InThread names a variable that each thread has of its own, in the memory of the thread with this
// thread pointer (the base of FS, tpidr_el0). Of the program's own file alone: where the variables
// of libraries lie only the running program knows.
func (v *Variables) InThread(pointer, address uint64, size int64) (found Member, ok bool) {
	at, ok := v.inImage(pointer, address)
	if !ok {
		return Member{}, false
	}
	if v.lines != nil {
		v.guarded(func() { found, ok = v.global(&v.perThread, at, size) })
		if ok && found.Object != "" {
			return found, true
		}
	}
	return v.symbolAt(at, elf.STT_TLS)
}

// inImage is where an address of a thread's own memory lies in the image that it is made of. The
// ABIs (Drepper, ELF Handling For Thread-Local Storage, 3.4) have it right below the thread pointer
// or, on arm64, behind two words.
func (v *Variables) inImage(pointer, address uint64) (at uint64, ok bool) {
	for _, segment := range v.elf.Progs {
		if segment.Type != elf.PT_TLS {
			continue
		}
		align := max(segment.Align, 1)
		if align&(align-1) != 0 || align > 1<<20 || segment.Vaddr%align != 0 || segment.Memsz > 1<<40 {
			return 0, false
		}
		start := pointer - (segment.Memsz+align-1)&^(align-1)
		if v.elf.Machine == elf.EM_AARCH64 {
			start = pointer + (headA64+align-1)&^(align-1)
		}
		at = address - start
		return at, at < segment.Memsz // an address below the start is a large number
	}
	return 0, false
}

// perThreadAt reads an expression that is a place in the image.
func (v *Variables) perThreadAt(unit *dwarf.Entry, expression []byte) (uint64, bool) {
	last := len(expression) - 1
	if last < 1 || expression[last] != opOfThread && expression[last] != opOfThread4 {
		return 0, false
	}
	order := v.lines.read.order
	switch first := expression[0]; {
	case first == opNumber8 && last == 1+wordBytes:
		return order.Uint64(expression[1:]), true
	case first == opNumber4 && last == 5:
		return uint64(order.Uint32(expression[1:])), true
	case first == opIndexed2 || first == opConstIndex:
		index, n := binary.Uvarint(expression[1:last])
		return v.indexed(unit, index, n == last-1)
	}
	return 0, false
}
