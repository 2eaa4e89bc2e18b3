package symbol

import (
	"cmp"
	"debug/dwarf"
	"encoding/binary"
	"slices"
	"sort"
)

// smallInfo is how many bytes of entries are read whole for variables: in a larger file functions
// and types are passed over.
const smallInfo = 8 << 20

// global is a variable with an address of its own.
type global struct {
	address uint64
	entry   dwarf.Offset
	prefix  string
}

// variableAt is a pointer to the variable at an address.
func (v *Variables) variableAt(address uint64) (pointer, bool) {
	return v.among(&v.globals, address)
}

// among looks for the variable at an address in one of the lists.
func (v *Variables) among(list *[]global, address uint64) (pointer, bool) {
	if v.lines.data == nil {
		return pointer{}, false
	}
	if !v.asked {
		v.asked = true
		v.findGlobals()
	}
	all := *list
	after := sort.Search(len(all), func(i int) bool { return all[i].address > address })
	for i := after - 1; i >= 0 && i >= after-maxNesting; i-- {
		one := all[i]
		name, typ := v.describe(one.entry)
		if into := int64(address - one.address); into < v.sizeOf(typ) {
			return pointer{typ: typ, name: one.prefix + name, plus: into}, true
		}
	}
	return pointer{}, false
}

// findGlobals lists the variables with an address of their own, of a small file those within
// functions, too.
func (v *Variables) findGlobals() {
	deep := len(v.lines.read.info) <= smallInfo
	all := v.most
	v.most = bound{all.entries / 4, all.time / 2}
	for _, unit := range v.lines.tops {
		v.globalsOf(unit, deep)
	}
	v.most = all
	for _, list := range [][]global{v.globals, v.perThread} {
		slices.SortStableFunc(list, func(x, y global) int { return cmp.Compare(x.address, y.address) })
	}
}

// globalsOf lists those of one unit.
func (v *Variables) globalsOf(unit *dwarf.Entry, deep bool) {
	reader := v.lines.data.Reader()
	reader.Seek(unit.Offset)
	above := []string{} // by nesting: what encloses the names
	for first := true; first || len(above) > 0; first = false {
		entry := v.next(reader)
		if entry == nil {
			return
		}
		if entry.Tag == 0 {
			above = above[:len(above)-1]
			continue
		}
		prefix := ""
		if len(above) > 0 {
			prefix = above[len(above)-1]
		}
		named := entry.Tag == dwarf.TagNamespace
		if name, _ := entry.Val(dwarf.AttrName).(string); named && name != "" {
			prefix = cut(prefix+name) + "::"
		}
		if entry.Tag == dwarf.TagVariable {
			v.addGlobal(unit, entry, prefix)
		}
		switch {
		case !entry.Children:
		case deep || named || first:
			above = append(above, prefix)
		default:
			v.over(reader, entry)
		}
	}
}

func (v *Variables) addGlobal(unit, entry *dwarf.Entry, prefix string) {
	expression, ok := entry.Val(dwarf.AttrLocation).([]byte)
	if !ok {
		return
	}
	if address, ok := v.addressOf(unit, expression); ok && address != 0 && len(v.globals) < maxSpans {
		v.globals = append(v.globals, global{address, entry.Offset, prefix})
	}
	if at, ok := v.perThreadAt(unit, expression); ok && len(v.perThread) < maxSpans {
		v.perThread = append(v.perThread, global{at, entry.Offset, prefix})
	}
}

// Operations of DWARF's expressions (its section 7.7.1).
const (
	opAddress  = 0x03
	opIndexed  = 0xa1 // DW_OP_addrx
	opIndexed4 = 0xfb // DW_OP_GNU_addr_index
	wordBytes  = 8
)

// addressOf reads an expression that is an address and nothing more.
func (v *Variables) addressOf(unit *dwarf.Entry, expression []byte) (uint64, bool) {
	order := v.lines.read.order
	switch {
	case len(expression) == 1+wordBytes && expression[0] == opAddress:
		return order.Uint64(expression[1:]), true
	case len(expression) > 1 && (expression[0] == opIndexed || expression[0] == opIndexed4):
		index, n := binary.Uvarint(expression[1:])
		return v.indexed(unit, index, n == len(expression)-1)
	}
	return 0, false
}

// indexed reads an address of .debug_addr.
func (v *Variables) indexed(unit *dwarf.Entry, index uint64, ok bool) (uint64, bool) {
	base, has := unit.Val(dwarf.AttrAddrBase).(int64)
	if !has {
		base = wordBytes // behind the header of the only table
	}
	table := v.lines.read.found["addr"]
	if !ok || base < 0 || index > uint64(len(table)) || uint64(base)+index*wordBytes+wordBytes > uint64(len(table)) {
		return 0, false
	}
	return v.lines.read.order.Uint64(table[uint64(base)+index*wordBytes:]), true
}
