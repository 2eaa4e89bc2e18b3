package symbol

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"
)

const (
	maxFunction = 64 << 10 // bytes of code that are decoded for one function
	maxLocals   = 1024     // variables of one function
	maxKept     = 16       // functions
	longMode    = 64
)

// function is one function's code and variables.
type function struct {
	span
	unit   *dwarf.Entry // nil: DWARF has no function there
	frame  []byte       // the expression of its frame's base
	typ    dwarf.Offset // of what it returns
	locals []local
	code   []instruction
}

// local is a variable, of the function or of one that was inlined into it, and where it is in
// scope.
type local struct {
	entry *dwarf.Entry
	scope [][2]uint64 // nil: everywhere
}

type instruction struct {
	x86asm.Inst
	address uint64
}

// functionAt reads the function that an address is in; nil where DWARF has none.
func (v *Variables) functionAt(address uint64) *function {
	for _, one := range v.kept {
		if address >= one.low && address < one.high && one.unit != nil {
			return one
		} else if address == one.low && one.unit == nil {
			return nil
		}
	}
	if v.lines == nil || v.lines.data == nil {
		return nil
	}
	for _, span := range v.lines.units {
		if address < span.low || address >= span.high {
			continue
		}
		if found := v.functionIn(span.entry, address); found != nil {
			v.keep(found)
			return found
		}
	}
	v.keep(&function{span: span{address, address + 1}}) // it need not be looked for again
	return nil
}

func (v *Variables) keep(found *function) {
	if len(v.kept) == maxKept {
		v.kept = v.kept[1:]
	}
	v.kept = append(v.kept, found)
}

// functionIn walks a unit: what does not hold the address is passed over.
func (v *Variables) functionIn(unit *dwarf.Entry, address uint64) (found *function) {
	reader, depth := v.lines.data.Reader(), 0
	reader.Seek(unit.Offset)
	var scopes [][][2]uint64 // by nesting within the function
	for {
		entry := v.next(reader)
		if entry == nil {
			return found
		}
		switch {
		case entry.Tag == 0:
			depth--
			if found != nil {
				if len(scopes) == 0 {
					return found
				}
				scopes = scopes[:len(scopes)-1]
			}
			if depth <= 0 {
				return found
			}
			continue
		case found == nil && entry.Tag == dwarf.TagSubprogram:
			if ranges, held := v.holds(entry, address); held != nil {
				found = &function{span: span{held[0], held[1]}, unit: unit}
				found.frame, _ = entry.Val(dwarf.AttrFrameBase).([]byte)
				_, found.typ = v.describe(entry.Offset)
				found.code = v.decode(found.span)
				scopes = append(scopes, ranges)
				if !entry.Children {
					return found
				}
				depth++
				scopes = scopes[:0]
				continue
			}
			v.over(reader, entry)
			continue
		case found != nil:
			v.addLocal(found, entry, scopes)
		}
		if entry.Children {
			depth++
			if found != nil {
				ranges, err := v.lines.data.Ranges(entry)
				if err != nil || len(ranges) == 0 {
					ranges = nil
				}
				scopes = append(scopes, ranges)
			}
		}
	}
}

// holds gives the range of a function in which an address lies.
func (v *Variables) holds(entry *dwarf.Entry, address uint64) (all [][2]uint64, held *[2]uint64) {
	all, err := v.lines.data.Ranges(entry)
	if err != nil {
		return nil, nil
	}
	for i := range all {
		if address >= all[i][0] && address < all[i][1] {
			return all, &all[i]
		}
	}
	return all, nil
}

func (v *Variables) addLocal(to *function, entry *dwarf.Entry, scopes [][][2]uint64) {
	if entry.Tag != dwarf.TagVariable && entry.Tag != dwarf.TagFormalParameter || len(to.locals) == maxLocals {
		return
	}
	one := local{entry: entry}
	for _, scope := range scopes {
		if scope != nil {
			one.scope = scope
		}
	}
	to.locals = append(to.locals, one)
}

func (l *local) in(address uint64) bool {
	if l.scope == nil {
		return true
	}
	for _, r := range l.scope {
		if address >= r[0] && address < r[1] {
			return true
		}
	}
	return false
}

// decode reads the instructions of a range, as far as they make sense.
func (v *Variables) decode(of span) (list []instruction) {
	if v.elf.Machine != elf.EM_X86_64 || of.high <= of.low {
		return nil
	}
	code := v.bytesAt(of.low, min(of.high-of.low, maxFunction))
	for at := 0; at < len(code); {
		inst, ok := decodeOne(code[at:])
		if !ok { // what the decoder does not know: go on where it falls into step again
			inst = x86asm.Inst{Len: 1}
		}
		list = append(list, instruction{inst, of.low + uint64(at)})
		at += inst.Len
	}
	return list
}

// decodeOne decodes; bytes that are no code can be more than the decoder bears.
func decodeOne(code []byte) (inst x86asm.Inst, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	// Of the instructions that end a branch's target (endbr64) and long no-ops the decoder knows
	// only some.
	if len(code) >= 4 && binary.LittleEndian.Uint32(code) == 0xfa1e0ff3 {
		return x86asm.Inst{Op: x86asm.NOP, Len: 4}, true
	}
	inst, err := x86asm.Decode(code, longMode)
	return inst, err == nil && inst.Len > 0
}

// bytesAt reads what the file has at an address.
func (v *Variables) bytesAt(address, length uint64) []byte {
	for _, segment := range v.elf.Progs {
		if segment.Type != elf.PT_LOAD || address < segment.Vaddr || address-segment.Vaddr >= segment.Filesz {
			continue
		}
		data := make([]byte, min(length, segment.Filesz-(address-segment.Vaddr)))
		n, _ := segment.ReadAt(data, int64(address-segment.Vaddr)) // what it has is looked at
		return data[:n]
	}
	return nil
}
