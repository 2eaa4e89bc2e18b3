package symbol

import (
	"debug/dwarf"
	"encoding/binary"
)

// Where a variable is at an instruction: location lists of DWARF 4 and 5, of which the library
// reads nothing.

// Operations of expressions, and entries of location lists (DWARF 5, sections 7.7.1 and 7.7.3).
const (
	opRegister  = 0x50 // to 0x6f: DW_OP_reg0 to DW_OP_reg31
	opBase      = 0x70 // to 0x8f: DW_OP_breg0 to DW_OP_breg31
	opFrame     = 0x91 // DW_OP_fbreg
	opPiece     = 0x93
	opCallFrame = 0x9c // DW_OP_call_frame_cfa
	opValue     = 0x9f // DW_OP_stack_value

	listEnd         = 0
	listBaseIndexed = 1
	listStartEndX   = 2
	listStartLenX   = 3
	listOffsets     = 4
	listDefault     = 5
	listBase        = 6
	listStartEnd    = 7
	listStartLength = 8

	maxList = 4096 // entries of one list
)

// held is where a variable is: in a register, in memory at an offset from the frame, or a register
// plus what it is more than that.
type held struct {
	register int // of DWARF; -1: in the frame
	plus     int64
	offset   int64 // in the frame
}

// expressionOf is how to find a variable at an address; nil where it is nowhere.
func (v *Variables) expressionOf(unit, variable *dwarf.Entry, address uint64) []byte {
	field := variable.AttrField(dwarf.AttrLocation)
	if field == nil {
		return nil
	}
	switch value := field.Val.(type) {
	case []byte:
		return value
	case int64:
		if field.Class == dwarf.ClassLocListPtr && value >= 0 {
			if list := v.lines.read.found["loclists"]; v.isFive(unit) {
				return v.inLists(unit, from(list, uint64(value)), address)
			}
			return v.inLoc(unit, from(v.lines.read.found["loc"], uint64(value)), address)
		}
	case uint64: // a number of the unit's list of lists
		base, _ := unit.Val(dwarf.AttrLoclistsBase).(int64)
		table := from(v.lines.read.found["loclists"], uint64(base))
		if at := from(table, 4*value); base > 0 && len(at) >= 4 { // of 32-bit DWARF
			return v.inLists(unit, from(table, uint64(v.lines.read.order.Uint32(at))), address)
		}
	}
	return nil
}

// isFive tells a unit of DWARF 5, by the version in its header.
func (v *Variables) isFive(unit *dwarf.Entry) bool {
	const least = 11 // bytes of the shortest header
	for back := uint64(least); back <= 32; back++ {
		at := uint64(unit.Offset) - back
		if at >= uint64(len(v.lines.read.info)) {
			return false
		}
		header := v.lines.read.info[at:]
		length := v.lines.read.order.Uint32(header)
		if rest := v.lines.read.headerRest(header[4:], 4); 4+rest == back && length < 1<<31 {
			version := v.lines.read.order.Uint16(header[4:])
			if version >= 2 && version <= 5 && uint64(length) <= uint64(len(header))-4 {
				return version == 5
			}
		}
	}
	return false
}

func from(data []byte, at uint64) []byte {
	if at >= uint64(len(data)) {
		return nil
	}
	return data[at:]
}

// lowest is where a unit's code begins, to which offsets are added.
func (v *Variables) lowest(unit *dwarf.Entry) uint64 {
	low, _ := unit.Val(dwarf.AttrLowpc).(uint64)
	return low
}

// inLoc looks through a list of .debug_loc.
func (v *Variables) inLoc(unit *dwarf.Entry, list []byte, address uint64) []byte {
	order, base := v.lines.read.order, v.lowest(unit)
	for range maxList {
		if len(list) < 2*wordBytes {
			return nil
		}
		low, high := order.Uint64(list), order.Uint64(list[wordBytes:])
		list = list[2*wordBytes:]
		switch {
		case low == 0 && high == 0:
			return nil
		case low == ^uint64(0):
			base = high
			continue
		case len(list) < 2 || len(list)-2 < int(order.Uint16(list)):
			return nil
		}
		length := int(order.Uint16(list))
		if address >= base+low && address < base+high {
			return list[2 : 2+length]
		}
		list = list[2+length:]
	}
	return nil
}

// listReader takes a list of .debug_loclists apart.
type listReader struct {
	v      *Variables
	unit   *dwarf.Entry
	data   []byte
	broken bool
}

func (r *listReader) number() uint64 {
	value, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.broken, r.data = true, nil
		return 0
	}
	r.data = r.data[n:]
	return value
}

func (r *listReader) address() uint64 {
	if len(r.data) < wordBytes {
		r.broken, r.data = true, nil
		return 0
	}
	value := r.v.lines.read.order.Uint64(r.data)
	r.data = r.data[wordBytes:]
	return value
}

func (r *listReader) indexed() uint64 {
	value, ok := r.v.indexed(r.unit, r.number(), true)
	r.broken = r.broken || !ok
	return value
}

func (r *listReader) expression() []byte {
	length := r.number()
	if length > uint64(len(r.data)) {
		r.broken = true
		return nil
	}
	found := r.data[:length]
	r.data = r.data[length:]
	return found
}

// inLists looks through a list of .debug_loclists.
func (v *Variables) inLists(unit *dwarf.Entry, list []byte, address uint64) (otherwise []byte) {
	r, base := &listReader{v: v, unit: unit, data: list}, v.lowest(unit)
	for range maxList {
		if len(r.data) == 0 {
			return otherwise
		}
		kind := r.data[0]
		r.data = r.data[1:]
		var low, high uint64
		switch kind {
		case listBaseIndexed:
			base = r.indexed()
			continue
		case listBase:
			base = r.address()
			continue
		case listStartEndX:
			low, high = r.indexed(), r.indexed()
		case listStartLenX:
			low = r.indexed()
			high = low + r.number()
		case listOffsets:
			low, high = base+r.number(), base+r.number()
		case listDefault:
			otherwise = r.expression()
			continue
		case listStartEnd:
			low, high = r.address(), r.address()
		case listStartLength:
			low = r.address()
			high = low + r.number()
		default: // listEnd, and what is not known
			return otherwise
		}
		expression := r.expression()
		if r.broken {
			return otherwise
		}
		if address >= low && address < high {
			return expression
		}
	}
	return otherwise
}

// heldIn reads an expression that is one register, one place of the frame, or a register and a sum;
// of one in pieces the first, which of Go's slices and strings is the pointer.
func heldIn(expression []byte) (held, bool) {
	if len(expression) == 0 {
		return held{}, false
	}
	op, rest := expression[0], expression[1:]
	switch {
	case op >= opRegister && op < opBase:
		return held{register: int(op - opRegister)}, len(rest) == 0 || rest[0] == opPiece
	case op >= opBase && op < opFrame-1:
		plus, n := signed(rest)
		return held{register: int(op - opBase), plus: plus}, n > 0 && len(rest) > n && rest[n] == opValue
	case op == opFrame:
		offset, n := signed(rest)
		return held{register: -1, offset: offset}, n > 0 && n == len(rest)
	}
	return held{}, false
}

// signed reads a signed number of DWARF (its section 7.6).
func signed(data []byte) (value int64, n int) {
	for shift := 0; n < len(data) && shift < 64; {
		b := data[n]
		n++
		value |= int64(b&0x7f) << shift
		shift += 7
		if b&0x80 == 0 {
			if shift < 64 && b&0x40 != 0 {
				value |= -1 << shift
			}
			return value, n
		}
	}
	return 0, 0
}
