package symbol

import (
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

const framePointer = 5 // rbp

// NumberOf is the number of the 64-bit register that a general register is part of, -1 for any
// other.
func NumberOf(register x86asm.Reg) int {
	switch {
	case register >= x86asm.RAX && register <= x86asm.R15:
		return int(register - x86asm.RAX)
	case register >= x86asm.EAX && register <= x86asm.R15L:
		return int(register - x86asm.EAX)
	case register >= x86asm.AX && register <= x86asm.R15W:
		return int(register - x86asm.AX)
	case register >= x86asm.AL && register <= x86asm.BL:
		return int(register - x86asm.AL)
	case register >= x86asm.AH && register <= x86asm.BH:
		return int(register - x86asm.AH)
	case register >= x86asm.SPB && register <= x86asm.R15B:
		return int(register-x86asm.SPB) + 4
	}
	return -1
}

// leaves reports whether what follows in memory does not follow in time.
func leaves(op x86asm.Op) bool {
	switch op {
	case x86asm.JMP, x86asm.RET, x86asm.LRET, x86asm.LJMP, x86asm.UD2, x86asm.HLT:
		return true
	}
	return false
}

// keepsFirst are instructions that leave their first operand as it is.
var keepsFirst = map[x86asm.Op]bool{x86asm.CMP: true, x86asm.TEST: true, x86asm.PUSH: true, x86asm.BT: true,
	x86asm.NOP: true, x86asm.MUL: true, x86asm.DIV: true, x86asm.IDIV: true}

// changedBy are registers that instructions change without naming them; of a call those that the
// System V ABI lets it.
var changedBy = map[x86asm.Op][]int{x86asm.MUL: {0, 2}, x86asm.DIV: {0, 2}, x86asm.IDIV: {0, 2}, x86asm.CDQ: {2},
	x86asm.CQO: {2}, x86asm.CDQE: {0}, x86asm.CMPXCHG: {0}, x86asm.CALL: {0, 1, 2, 6, 7, 8, 9, 10, 11},
	x86asm.SYSCALL: {0, 1, 11}}

// writes reports whether an instruction changes a register.
func writes(inst *x86asm.Inst, register int) bool {
	if slices.Contains(changedBy[inst.Op], register) {
		return true
	}
	both := inst.Op == x86asm.XCHG || inst.Op == x86asm.XADD
	for i, argument := range inst.Args {
		named, ok := argument.(x86asm.Reg)
		if ok && NumberOf(named) == register && (i == 0 && !keepsFirst[inst.Op] || both) {
			return true
		}
	}
	return false
}

// addend is a number that an instruction adds to its register.
func addend(inst *x86asm.Inst) (added int64, ok bool) {
	number, ok := inst.Args[1].(x86asm.Imm)
	switch {
	case !ok:
	case inst.Op == x86asm.ADD:
		return int64(number), true
	case inst.Op == x86asm.SUB:
		return -int64(number), true
	}
	return 0, false
}

// variableIn finds the variable that a register holds at an address, if it is a pointer.
func (v *Variables) variableIn(f *function, address uint64, register int) (pointer, bool) {
	for i := range f.locals {
		one := &f.locals[i]
		if !one.in(address) {
			continue
		}
		where, ok := heldIn(v.expressionOf(f.unit, one.entry, address))
		if !ok || where.register < 0 || where.register >= len(ofDWARF) || ofDWARF[where.register] != register {
			continue
		}
		name, typ := v.describe(one.entry.Offset)
		first, ok := v.typeWithin(typ, 0) // Go's slices and strings begin with their pointer
		if !ok {
			continue
		}
		if to, ok := v.pointee(first); ok {
			return pointer{typ: to, name: name, plus: -where.plus}, true
		}
	}
	return pointer{}, false
}

// inFrame finds the variable at an offset from the frame pointer.
func (v *Variables) inFrame(f *function, address uint64, offset int64) (pointer, bool) {
	base, ok := f.base()
	if !ok {
		return pointer{}, false
	}
	for i := range f.locals {
		one := &f.locals[i]
		if !one.in(address) {
			continue
		}
		where, ok := heldIn(v.expressionOf(f.unit, one.entry, address))
		if !ok || where.register >= 0 {
			continue
		}
		name, typ := v.describe(one.entry.Offset)
		if into := offset - base - where.offset; into >= 0 && into < v.sizeOf(typ) {
			return pointer{typ: typ, name: name, plus: into}, true
		}
	}
	return pointer{}, false
}

// base is where the frame of a function lies from its frame pointer, if it has one.
func (f *function) base() (int64, bool) {
	const above = 16 // the caller's frame pointer and the address to return to
	switch {
	case len(f.frame) != 1:
	case f.frame[0] == opRegister+6: // DWARF's rbp
		return 0, true
	case f.frame[0] == opCallFrame:
		for i := range f.code[:min(len(f.code), 4)] {
			inst := &f.code[i]
			if inst.Op == x86asm.MOV && inst.Args[0] == x86asm.RBP && inst.Args[1] == x86asm.RSP {
				return above, true
			}
		}
	}
	return 0, false
}

// returned is what a function that was called directly returns, if that is a pointer.
func (v *Variables) returned(call *instruction) (pointer, bool) {
	to, ok := call.Args[0].(x86asm.Rel)
	if !ok {
		return pointer{}, false
	}
	called := v.functionAt(call.address + uint64(call.Len) + uint64(int64(to)))
	if called == nil || called.typ == 0 {
		return pointer{}, false
	}
	typ, ok := v.pointee(called.typ)
	return pointer{typ: typ}, ok
}
