package symbol

import (
	"debug/dwarf"
	"iter"
	"strconv"
)

// Types are followed entry by entry: the library's own reader of types calls itself as deep as a
// file nests them, which a hostile one does until the stack is used up.

const (
	maxTypes   = 24   // followed from one to the next
	maxMembers = 4096 // of one type
)

// entryAt reads one entry; nil where there is none.
func (v *Variables) entryAt(offset dwarf.Offset) *dwarf.Entry {
	if offset == 0 {
		return nil
	}
	reader := v.lines.data.Reader()
	reader.Seek(offset)
	return v.next(reader)
}

// bare is a type without what does not change its layout: names, const, volatile, _Atomic.
func (v *Variables) bare(typ dwarf.Offset) *dwarf.Entry {
	for range maxTypes {
		entry := v.entryAt(typ)
		if entry == nil {
			return nil
		}
		switch entry.Tag {
		case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagAtomicType:
			typ, _ = entry.Val(dwarf.AttrType).(dwarf.Offset)
		default:
			return entry
		}
	}
	return nil
}

// sizeOf is how long a type is, 0 when that is not known.
func (v *Variables) sizeOf(typ dwarf.Offset) int64 {
	size := int64(1)
	for range maxTypes {
		entry := v.bare(typ)
		if entry == nil {
			return 0
		}
		if bytes, ok := entry.Val(dwarf.AttrByteSize).(int64); ok {
			return product(size, bytes)
		}
		switch entry.Tag {
		case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
			return product(size, wordBytes)
		case dwarf.TagArrayType:
			for _, count := range v.dimensions(entry) {
				size = product(size, count)
			}
			typ, _ = entry.Val(dwarf.AttrType).(dwarf.Offset)
		default:
			return 0
		}
	}
	return 0
}

// product is 0 for what no type in memory is as long as.
func product(x, y int64) int64 {
	const most = 1 << 47
	if x <= 0 || y <= 0 || x > most/y {
		return 0
	}
	return x * y
}

// dimensions are the lengths of an array, the slowest first.
func (v *Variables) dimensions(array *dwarf.Entry) (counts []int64) {
	v.children(array, func(child *dwarf.Entry) bool {
		if child.Tag == dwarf.TagSubrangeType {
			count, ok := child.Val(dwarf.AttrCount).(int64)
			if last, has := child.Val(dwarf.AttrUpperBound).(int64); !ok && has {
				count = last + 1
			}
			counts = append(counts, count)
		}
		return len(counts) < maxInlined
	})
	return counts
}

// children calls visit for the entries right below one, until it says no.
func (v *Variables) children(of *dwarf.Entry, visit func(*dwarf.Entry) bool) {
	if !of.Children {
		return
	}
	reader := v.lines.data.Reader()
	reader.Seek(of.Offset)
	if v.next(reader) == nil {
		return
	}
	for range maxMembers {
		child := v.next(reader)
		if child == nil || child.Tag == 0 || !visit(child) {
			return
		}
		v.over(reader, child)
	}
}

// level is a type on the way from another one down to a place in it.
type level struct {
	entry *dwarf.Entry // bare
	at    int64        // of the place in it
	// name is what of the type the place lies in: ".seen", "[2]"; "" where that has no name, and at
	// the last level.
	name string
}

// isStruct tells that a level has members.
func (l *level) isStruct() bool {
	switch l.entry.Tag {
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
		return true
	}
	return false
}

// levels goes down the types at a place, outermost first.
func (v *Variables) levels(typ dwarf.Offset, at int64) iter.Seq[level] {
	return func(yield func(level) bool) {
		for range maxTypes {
			l := level{entry: v.bare(typ), at: at}
			if l.entry == nil {
				return
			}
			goesOn := false
			if l.isStruct() {
				name, of, from, ok := v.memberAt(l.entry, at)
				if name != "" {
					l.name = "." + name
				}
				typ, at, goesOn = of, at-from, ok
			} else if l.entry.Tag == dwarf.TagArrayType {
				typ, _ = l.entry.Val(dwarf.AttrType).(dwarf.Offset)
				if each := v.sizeOf(typ); each != 0 {
					l.name = indices(v.dimensions(l.entry), at/each)
					at, goesOn = at%each, true
				}
			}
			if !yield(l) || !goesOn {
				return
			}
		}
	}
}

// member is the path from a type to the operand of a size at a place in it: ".seen", "[2].seen". It
// ends at what the operand covers whole, so that an atomic is not taken apart.
func (v *Variables) member(typ dwarf.Offset, at, size int64) (path string) {
	for l := range v.levels(typ, at) {
		if l.isStruct() && l.entry.Tag != dwarf.TagUnionType {
			if whole := v.sizeOf(l.entry.Offset); whole > 0 && whole <= size {
				break
			}
		}
		path += l.name
	}
	return path
}

// indices writes the number of an array's element: "[2]", "[1][0]".
func indices(dimensions []int64, number int64) (text string) {
	for i := len(dimensions) - 1; i > 0; i-- {
		if dimensions[i] <= 0 {
			break
		}
		text = "[" + strconv.FormatInt(number%dimensions[i], 10) + "]" + text
		number /= dimensions[i]
	}
	return "[" + strconv.FormatInt(number, 10) + "]" + text
}

// memberAt finds the member or base that a place lies in.
func (v *Variables) memberAt(of *dwarf.Entry, at int64) (name string, typ dwarf.Offset, from int64, ok bool) {
	v.children(of, func(child *dwarf.Entry) bool {
		if child.Tag != dwarf.TagMember && child.Tag != dwarf.TagInheritance {
			return true
		}
		start, _ := child.Val(dwarf.AttrDataMemberLoc).(int64) // of a union none: 0
		member, _ := child.Val(dwarf.AttrType).(dwarf.Offset)
		if at < start || at-start >= v.sizeOf(member) {
			return true
		}
		name, _ = child.Val(dwarf.AttrName).(string)
		typ, from, ok = member, start, true
		return false
	})
	return Demangle(name), typ, from, ok
}

// pointee is what a type points to; Go's slices and the like begin with their pointer.
func (v *Variables) pointee(typ dwarf.Offset) (dwarf.Offset, bool) {
	entry := v.bare(typ)
	if entry == nil {
		return 0, false
	}
	switch entry.Tag {
	case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
		of, ok := entry.Val(dwarf.AttrType).(dwarf.Offset)
		return of, ok
	}
	return 0, false
}

// typeName is what a type is called; "" without a name.
func (v *Variables) typeName(typ dwarf.Offset) string {
	for range maxTypes {
		entry := v.entryAt(typ)
		if entry == nil {
			return ""
		}
		if name, _ := entry.Val(dwarf.AttrName).(string); name != "" {
			return Demangle(name)
		}
		switch entry.Tag {
		case dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagAtomicType:
			typ, _ = entry.Val(dwarf.AttrType).(dwarf.Offset)
		default:
			return ""
		}
	}
	return ""
}
