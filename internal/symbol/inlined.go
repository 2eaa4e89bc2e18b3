package symbol

import (
	"cmp"
	"debug/dwarf"
	"slices"
	"sort"
)

// body is the code of one function as its unit describes it.
type body struct {
	at    dwarf.Offset  // of the function's entry
	read  bool          // calls are those that were inlined into it; else they are not known yet
	calls []inlinedCall // by depth and low address: an outer call before the ones in it
}

// inlinedCall is the code of one function in another one.
type inlinedCall struct {
	span
	depth  int
	origin dwarf.Offset // of the entry that describes the function
	name   string       // raw, or readable with what encloses it
	file   int          // where it was called: a number of files
	line   int
}

// findFunctions lists a unit's functions without reading what is in them: most are never asked for,
// and their entries are most of a unit. Compilers of C give each entry the place of the next one
// beside it, where reading goes on.
func (l *Lines) findFunctions(unit *unitLines) {
	reader := l.data.Reader()
	reader.Seek(unit.entry.Offset)
	if _, err := reader.Next(); err != nil || !unit.entry.Children {
		return
	}
	last := unit.entry.Offset
	for depth := 1; depth > 0; {
		entry, err := reader.Next()
		if err != nil || entry == nil {
			break
		}
		if entry.Tag == 0 { // the end of a row, which has no offset
			depth--
			continue
		}
		if entry.Offset <= last { // a damaged file may lead back
			break
		}
		last = entry.Offset
		switch entry.Tag {
		case dwarf.TagNamespace, dwarf.TagModule:
			if entry.Children {
				depth++
			}
		case dwarf.TagSubprogram:
			if !l.addFunction(unit, entry) {
				depth = 0 // no room for more
			}
			reader.SkipChildren()
		default:
			reader.SkipChildren()
		}
	}
	slices.SortStableFunc(unit.functions, func(x, y functionSpan) int { return cmp.Compare(x.low, y.low) })
}

func (l *Lines) addFunction(unit *unitLines, entry *dwarf.Entry) bool {
	ranges, err := l.data.Ranges(entry)
	if err != nil || !l.keep(len(ranges)) {
		return false
	}
	if len(ranges) == 0 {
		return true
	}
	of := &body{at: entry.Offset, read: !entry.Children}
	for _, r := range ranges {
		unit.functions = append(unit.functions, functionSpan{span{r[0], r[1]}, of})
	}
	return true
}

// callsAt returns the calls that an address lies in, the innermost first.
func (l *Lines) callsAt(unit *unitLines, address uint64) []inlinedCall {
	of := unit.bodyAt(address)
	if of == nil { // a function that is described within a class or another function: all of the unit is read
		of = &unit.whole
	}
	if !of.read {
		of.read = true
		l.findCalls(unit, of)
	}
	return of.around(address)
}

// findCalls walks the tree of entries below a function's own.
func (l *Lines) findCalls(unit *unitLines, of *body) {
	inlinedAbove := []int{0} // by nesting: how many of the entries around are inlined calls
	l.walk(of.at, func(child *dwarf.Entry) bool {
		if child.Tag == 0 {
			inlinedAbove = inlinedAbove[:len(inlinedAbove)-1]
			return len(inlinedAbove) > 0
		}
		depth := inlinedAbove[len(inlinedAbove)-1]
		if child.Tag == dwarf.TagInlinedSubroutine {
			depth++
			if depth <= maxInlined && !l.addCall(of, child, depth) {
				return false
			}
		}
		if child.Children {
			inlinedAbove = append(inlinedAbove, depth)
		}
		return true
	})
	l.nameCalls(unit, of)
	slices.SortStableFunc(of.calls, func(x, y inlinedCall) int {
		return cmp.Or(cmp.Compare(x.depth, y.depth), cmp.Compare(x.low, y.low))
	})
}

func (l *Lines) addCall(of *body, entry *dwarf.Entry, depth int) bool {
	ranges, err := l.data.Ranges(entry)
	if err != nil || !l.keep(len(ranges)) {
		return false
	}
	origin, ok := entry.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
	if !ok {
		return true
	}
	file, _ := entry.Val(dwarf.AttrCallFile).(int64)
	line, _ := entry.Val(dwarf.AttrCallLine).(int64)
	for _, r := range ranges {
		of.calls = append(of.calls, inlinedCall{span: span{r[0], r[1]}, depth: depth, origin: origin,
			file: int(file), line: int(line)})
	}
	return true
}

// nameCalls names what was inlined, once the whole function was seen; calls of what has no name are
// left out.
func (l *Lines) nameCalls(unit *unitLines, of *body) {
	named := of.calls[:0]
	for _, call := range of.calls {
		name, known := unit.inlined[call.origin]
		if !known {
			name = l.functionName(call.origin)
			unit.inlined[call.origin] = name
		}
		if call.name = name; name != "" {
			named = append(named, call)
		}
	}
	of.calls = named
}

// maxOrigins bounds the references from an inlined call to the entry that has its name.
const maxOrigins = 4

func (l *Lines) functionName(offset dwarf.Offset) (name string) {
	l.origins(offset, func(entry *dwarf.Entry) bool {
		if name, _ = entry.Val(dwarf.AttrLinkageName).(string); name == "" {
			if name, _ = entry.Val(dwarf.AttrName).(string); name != "" {
				name = l.prefix(entry.Offset) + name
			}
		}
		return name == ""
	})
	return name[:min(len(name), maxNameBytes)]
}

// linkageName is that of a function which an entry describes, itself or by reference.
func (l *Lines) linkageName(entry *dwarf.Entry) (name string) {
	l.origins(entry.Offset, func(origin *dwarf.Entry) bool {
		name, _ = origin.Val(dwarf.AttrLinkageName).(string)
		return name == ""
	})
	return name
}

// origins calls visit for the entry at an offset and for what it refers to for its description,
// until it says no.
func (l *Lines) origins(offset dwarf.Offset, visit func(*dwarf.Entry) bool) {
	for range maxOrigins {
		reader := l.data.Reader()
		reader.Seek(offset)
		entry, err := reader.Next()
		if err != nil || entry == nil || !visit(entry) {
			return
		}
		origin, ok := entry.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			if origin, ok = entry.Val(dwarf.AttrSpecification).(dwarf.Offset); !ok {
				return
			}
		}
		offset = origin
	}
}

// around returns the calls that an address lies in, the innermost first.
func (b *body) around(address uint64) []inlinedCall {
	var found []inlinedCall
	for start := 0; start < len(b.calls); {
		depth := b.calls[start].depth
		end := start + sort.Search(len(b.calls)-start, func(i int) bool { return b.calls[start+i].depth > depth })
		level := b.calls[start:end]
		after := sort.Search(len(level), func(i int) bool { return level[i].low > address })
		if after == 0 || level[after-1].high <= address {
			break
		}
		found = append(found, level[after-1])
		start = end
	}
	slices.Reverse(found)
	return found
}
