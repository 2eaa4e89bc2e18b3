package symbol

import (
	"debug/dwarf"
	"strconv"

	"golang.org/x/arch/x86/x86asm"
)

// What an instruction reaches through a register: the register holds a variable of the function, as
// DWARF says, or what an earlier instruction made of one. Those are followed backwards in the order
// of the code, which branches may leave: a name is what the code says, no proof.

const (
	maxBack  = 64 // instructions looked back for one register
	maxChain = 8  // registers followed from one to the next
)

// Operand is memory as an instruction names it.
type Operand struct {
	Register int   // number of the base in the instruction set: rax 0, rcx 1 … r15 15
	Offset   int64 // from what it holds
	Indexed  bool  // and from an index
	Size     int64
}

// pointer is what a register holds: the address of an object, and so many bytes more.
type pointer struct {
	typ    dwarf.Offset // of the object
	name   string       // of the variable that holds it, "" where code worked it out
	plus   int64
	within bool // at an element that only the running program knows
}

// ofDWARF are the registers of the instruction set by DWARF's numbers (System V ABI of x86-64).
var ofDWARF = [16]int{0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15}

// Behind names what an instruction's operand is: the type that its base points to, and the field.
func (v *Variables) Behind(code uint64, operand Operand) (found Member, ok bool) {
	if v.lines == nil || operand.Register < 0 || operand.Register > 15 {
		return Member{}, false
	}
	v.guarded(func() {
		of := v.functionAt(code)
		if of == nil {
			return
		}
		at := of.index(code)
		if at < 0 {
			return
		}
		var to pointer
		if to, ok = v.holding(of, at, operand.Register, maxChain); ok {
			to.plus += operand.Offset
			to.within = to.within || operand.Indexed
			found, ok = v.reached(to, operand.Size)
		}
	})
	return found, ok && found.Object != ""
}

// reached names the place that a pointer, with all that was added, leads to.
func (v *Variables) reached(to pointer, size int64) (Member, bool) {
	whole := v.sizeOf(to.typ)
	if whole <= 0 || to.plus < 0 && !to.within {
		return Member{}, false
	}
	place, element := to.plus, int64(0)
	if to.within {
		place = (to.plus%whole + whole) % whole
	} else {
		element, place = to.plus/whole, to.plus%whole
	}
	name, field := v.typeName(to.typ), v.member(to.typ, place, size)
	if entry := v.bare(to.typ); entry != nil {
		switch entry.Tag {
		case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagArrayType:
		default: // a number: its variable says more than its type
			if to.name != "" {
				name = "*" + Demangle(to.name)
			}
		}
	}
	if element > 0 {
		field = "[" + strconv.FormatInt(element, 10) + "]" + field
	}
	return v.named(name, field, to.typ, place), true
}

// index is the number of the instruction at an address, -1 where none begins.
func (f *function) index(address uint64) int {
	for i := range f.code {
		if f.code[i].address == address {
			return i
		}
	}
	return -1
}

// holding tells what a register holds right before an instruction.
func (v *Variables) holding(f *function, at, register, chain int) (pointer, bool) {
	var plus int64
	within := false
	for back := at; back >= max(0, at-maxBack) && chain > 0; back-- {
		if found, ok := v.variableIn(f, f.code[back].address, register); ok {
			found.plus, found.within = found.plus+plus, found.within || within
			return found, true
		}
		if back == 0 {
			break
		}
		inst := &f.code[back-1]
		if inst.Op == x86asm.CALL && register == 0 {
			found, ok := v.returned(inst)
			found.plus, found.within = found.plus+plus, within
			return found, ok
		}
		if leaves(inst.Op) {
			break
		}
		if !writes(&inst.Inst, register) {
			continue
		}
		added, keeps := addend(&inst.Inst)
		switch {
		case keeps:
			plus += added
			within = true // of an array, in a loop
		case inst.Op == x86asm.ADD:
			other, ok := inst.Args[1].(x86asm.Reg)
			if !ok {
				return pointer{}, false
			}
			if found, ok := v.holding(f, back-1, NumberOf(other), chain-1); ok {
				found.plus, found.within = found.plus+plus, true
				return found, true
			}
			within = true
		default:
			found, ok := v.moved(f, back-1, chain-1)
			found.plus, found.within = found.plus+plus, found.within || within
			return found, ok
		}
	}
	return pointer{}, false
}

// moved tells what an instruction that fills a register put there.
func (v *Variables) moved(f *function, at, chain int) (pointer, bool) {
	inst := &f.code[at]
	source := inst.Args[1]
	if register, ok := source.(x86asm.Reg); ok && inst.Op == x86asm.MOV {
		return v.holding(f, at, NumberOf(register), chain)
	}
	memory, ok := source.(x86asm.Mem)
	if !ok || memory.Segment == x86asm.FS || memory.Segment == x86asm.GS {
		return pointer{}, false
	}
	if inst.Op == x86asm.LEA {
		if memory.Base == x86asm.RIP {
			return v.variableAt(inst.address + uint64(inst.Len) + uint64(memory.Disp))
		}
		found, ok := v.holding(f, at, NumberOf(memory.Base), chain)
		found.plus += memory.Disp
		found.within = found.within || memory.Index != 0
		return found, ok
	}
	if inst.Op != x86asm.MOV {
		return pointer{}, false
	}
	return v.loaded(f, at, memory, chain)
}

// loaded tells what a pointer in memory points to.
func (v *Variables) loaded(f *function, at int, memory x86asm.Mem, chain int) (pointer, bool) {
	inst := &f.code[at]
	var holds pointer
	var ok bool
	switch number := NumberOf(memory.Base); {
	case memory.Base == x86asm.RIP:
		holds, ok = v.variableAt(inst.address + uint64(inst.Len) + uint64(memory.Disp))
	case number == framePointer && memory.Index == 0:
		if holds, ok = v.inFrame(f, inst.address, memory.Disp); ok {
			break
		}
		fallthrough
	default:
		holds, ok = v.holding(f, at, number, chain)
		holds.plus += memory.Disp
		holds.within = holds.within || memory.Index != 0
	}
	if !ok {
		return pointer{}, false
	}
	whole := v.sizeOf(holds.typ)
	if whole <= 0 {
		return pointer{}, false
	}
	typ, ok := v.typeWithin(holds.typ, (holds.plus%whole+whole)%whole)
	if !ok {
		return pointer{}, false
	}
	to, ok := v.pointee(typ)
	return pointer{typ: to, name: holds.name}, ok
}

// typeWithin is the type of what lies at a place in another: a pointer, mostly.
func (v *Variables) typeWithin(typ dwarf.Offset, at int64) (dwarf.Offset, bool) {
	for l := range v.levels(typ, at) {
		if !l.isStruct() && l.entry.Tag != dwarf.TagArrayType {
			return l.entry.Offset, l.at == 0
		}
	}
	return 0, false
}
