package oncpu

// Loads and stores of arm64, by the encodings of the Arm Architecture Reference Manual, C4.1 (Loads
// and Stores). All instructions have four bytes, so the one before a sample needs no guessing.

const (
	registersA64 = 32 // x0 to x30 and the stack pointer
	noRegister   = -1
)

// operandA64 is what an instruction of arm64 works on.
type operandA64 struct {
	base, index int   // numbers of registers; noRegister: none, of the base the instruction's own address
	extend      int   // of the index: option field
	shift       uint  // of the index
	offset      int64 // added for the access
	moved       int64 // added to the base for good
	size        int32
	write       bool
	locked      bool
	loads       [2]int // general registers that the access changes
}

// decodeA64 tells the operand in memory of an instruction; false when it has none.
func decodeA64(word uint32) (operandA64, bool) {
	switch field := word >> 24 & 0x3f; {
	case field == 0x08:
		return exclusiveA64(word), true
	case field == 0x0c || field == 0x0d: // structures of vectors
		size := int32(8) << (word >> 30 & 1)
		found := plainA64(word, size, word>>22&1 == 0)
		found.loads = [2]int{noRegister, noRegister}
		if word>>23&1 == 1 {
			found.index, found.extend = movedByA64, 0
		}
		return found, true
	case field&0x3b == 0x18:
		return literalA64(word)
	case field == 0x19 && word>>21&1 == 0 && word>>10&3 == 0: // ordered, with an offset
		found := plainA64(word, 1<<(word>>30), word>>22&3 == 0)
		found.offset = signed(word>>12, 9)
		return found, true
	case field&0x3a == 0x28:
		return pairA64(word), true
	case field&0x3a == 0x38:
		return singleA64(word)
	}
	return operandA64{}, false
}

// movedByA64 stands for a base that is moved by an amount that is not followed.
const movedByA64 = -2

// plainA64 is an access at the base register.
func plainA64(word uint32, size int32, write bool) operandA64 {
	found := operandA64{base: int(word >> 5 & 31), index: noRegister, size: size, write: write,
		loads: [2]int{noRegister, noRegister}}
	if !write {
		found.loads[0] = general(word)
	}
	return found
}

// general is the number of a register that may be the zero register.
func general(field uint32) int {
	if number := int(field & 31); number != 31 {
		return number
	}
	return noRegister
}

func signed(field uint32, bits uint) int64 { return int64(int32(field<<(32-bits)) >> (32 - bits)) }

// exclusiveA64: exclusive and ordered accesses, compare and swap.
func exclusiveA64(word uint32) operandA64 {
	ordered, load, paired := word>>23&1 == 1, word>>22&1 == 1, word>>21&1 == 1
	size := int32(1) << (word >> 30)
	found := plainA64(word, size, !load)
	switch {
	case paired && (ordered || word>>31 == 0): // CAS, CASP
		if !ordered {
			found.size = 8 << (word >> 30 & 1)
		}
		found.write, found.locked = true, true
		found.loads = [2]int{general(word >> 16), noRegister}
	case paired: // LDXP, STXP
		found.size, found.locked = 2*size, true
		found.loads[1] = general(word >> 16) // STXP: whether it was stored
		if load {
			found.loads[1] = general(word >> 10)
		}
	default:
		found.locked = !ordered
		if !load && !ordered {
			found.loads[0] = general(word >> 16)
		}
	}
	return found
}

// literalA64: loads from beside the code.
func literalA64(word uint32) (operandA64, bool) {
	kind, vector := word>>30, word>>26&1 == 1
	if kind == 3 { // a prefetch, or none
		return operandA64{}, false
	}
	found := operandA64{base: noRegister, index: noRegister, offset: signed(word>>5, 19) * 4, size: 4 << (kind & 1),
		loads: [2]int{noRegister, noRegister}}
	if vector {
		found.size = 4 << kind
	} else {
		found.loads[0] = general(word)
	}
	return found, true
}

// pairA64: two registers at once.
func pairA64(word uint32) operandA64 {
	kind, vector, load := word>>30, word>>26&1 == 1, word>>22&1 == 1
	scale := 2 + kind>>1
	if vector {
		scale = 2 + kind
	}
	found := plainA64(word, 2<<scale, !load)
	if load {
		found.loads[1] = general(word >> 10)
	}
	if vector {
		found.loads = [2]int{noRegister, noRegister}
	}
	found.index64(word>>23&3, signed(word>>15, 7)<<scale)
	return found
}

// index64 sets an offset by the mode: 1 adds it to the base behind the access, 3 before it, else
// not at all.
func (o *operandA64) index64(mode uint32, offset int64) {
	switch mode {
	case 1:
		o.moved = offset
	case 3:
		o.offset, o.moved = offset, offset
	default:
		o.offset = offset
	}
}

// singleA64: one register.
func singleA64(word uint32) (operandA64, bool) {
	kind, vector, access := word>>30, word>>26&1 == 1, word>>22&3
	atomic := word>>24&1 == 0 && word>>21&1 == 1 && word>>10&3 == 0
	if !vector && !atomic && kind == 3 && access == 2 { // a prefetch
		return operandA64{}, false
	}
	scale := kind
	write := access == 0
	if vector {
		scale, write = kind|access&2<<1, access&1 == 0
	}
	found := plainA64(word, 1<<scale, write)
	if vector {
		found.loads[0] = noRegister
	}
	switch {
	case word>>24&1 == 1:
		found.offset = int64(word>>10&0xfff) << scale
	case word>>21&1 == 0:
		found.index64(word>>10&3, signed(word>>12, 9))
	case word>>10&3 == 2:
		found.index, found.extend = general(word>>16), int(word>>13&7)
		found.shift = uint(word>>12&1) * uint(scale)
	case atomic && !vector:
		found.size, found.loads[0] = 1<<kind, general(word)
		found.write = word>>12&0xf != 0xc // LDAPR reads only
		found.locked = found.write
	default:
		return operandA64{}, false
	}
	return found, true
}

// address adds up the operand's parts. done: the instruction has run, so that a register which it
// changed is not the one that it used; false when that one is lost.
func (o *operandA64) address(registers *[registersA64]uint64, own uint64, done bool) (uint64, bool) {
	at := own
	if o.base != noRegister {
		at = registers[o.base]
	}
	if done && o.base != noRegister {
		if o.index == movedByA64 || o.loads[0] == o.base || o.loads[1] == o.base {
			return 0, false
		}
		at -= uint64(o.moved)
	}
	if o.index >= 0 {
		if done && (o.loads[0] == o.index || o.loads[1] == o.index) {
			return 0, false
		}
		at += extended(registers[o.index], o.extend) << o.shift
	}
	return at + uint64(o.offset), true
}

// extended is an index as its option takes it: UXTW, SXTW, else all 64 bits.
func extended(value uint64, option int) uint64 {
	switch option {
	case 2:
		return uint64(uint32(value))
	case 6:
		return uint64(int64(int32(value)))
	}
	return value
}

// accessA64 finds the operand of the instruction before a sample or, when that has none or is a
// branch, of the one to come.
func accessA64(before, next uint32, registers *[registersA64]uint64, ip, thread uint64) (access, bool) {
	if operand, ok := decodeA64(before); ok {
		return operand.of(registers, ip-4, thread, true)
	}
	if operand, ok := decodeA64(next); ok {
		return operand.of(registers, ip, thread, false)
	}
	return access{}, false
}

func (o *operandA64) of(registers *[registersA64]uint64, own, thread uint64, done bool) (access, bool) {
	address, ok := o.address(registers, own, done)
	if !ok {
		return access{}, false
	}
	return o.at(address, own, registers[31], thread)
}

// at is the access of an instruction to an address.
func (o *operandA64) at(address, own, stack, thread uint64) (access, bool) {
	return access{address: address, code: own, size: o.size, write: o.write, locked: o.locked, base: o.base,
		offset: o.offset, indexed: o.index >= 0}.placed(stack, thread, false)
}

// observedA64 is the access of an instruction to an address that the processor tells.
func observedA64(word uint32, own, address, stack, thread uint64) (access, bool) {
	operand, ok := decodeA64(word)
	if !ok {
		return access{}, false
	}
	return operand.at(address, own, stack, thread)
}
