package symbol

import (
	"cmp"
	"debug/dwarf"
	"slices"
	"sort"
)

// unitLines is what one compilation unit says.
type unitLines struct {
	files []*dwarf.LineFile
	rows  []lineRow     // by address
	calls []inlinedCall // by low address, an outer call before the ones in it
}

type lineRow struct {
	address uint64
	file    string
	line    int
	end     bool // no code from here on
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

// decode reads a unit's lines and inlined calls; nil when there is no more room for them.
func (l *Lines) decode(entry *dwarf.Entry) *unitLines {
	unit := &unitLines{}
	lines, err := l.data.LineReader(entry)
	if err != nil || lines == nil {
		return nil
	}
	unit.files = lines.Files()
	var row dwarf.LineEntry
	for lines.Next(&row) == nil && l.keep(1) {
		kept := lineRow{address: row.Address, line: row.Line, end: row.EndSequence}
		if row.File != nil {
			kept.file = row.File.Name
		}
		unit.rows = append(unit.rows, kept)
	}
	// Of two rows at one address the later one counts; an end gives way to a beginning.
	slices.SortStableFunc(unit.rows, func(x, y lineRow) int {
		if x.address == y.address && x.end != y.end {
			return cmp.Compare(boolNumber(y.end), boolNumber(x.end))
		}
		return cmp.Compare(x.address, y.address)
	})
	l.findCalls(unit, entry)
	slices.SortStableFunc(unit.calls, func(x, y inlinedCall) int {
		return cmp.Or(cmp.Compare(x.depth, y.depth), cmp.Compare(x.low, y.low))
	})
	return unit
}

func boolNumber(value bool) int {
	if value {
		return 1
	}
	return 0
}

// findCalls walks the unit's tree of entries.
func (l *Lines) findCalls(unit *unitLines, entry *dwarf.Entry) {
	inlinedAbove := []int{0} // by nesting: how many of the entries around are inlined calls
	scope := scopeWalk{found: scopes{}}
	l.walk(entry, func(child *dwarf.Entry) bool {
		scope.entry(l, child)
		if child.Tag == 0 {
			inlinedAbove = inlinedAbove[:len(inlinedAbove)-1]
			return len(inlinedAbove) > 0
		}
		depth := inlinedAbove[len(inlinedAbove)-1]
		if child.Tag == dwarf.TagInlinedSubroutine {
			depth++
			if depth <= maxInlined && !l.addCall(unit, child, depth) {
				return false
			}
		}
		if child.Children {
			inlinedAbove = append(inlinedAbove, depth)
		}
		return true
	})
	l.scopes[entry.Offset] = scope.found
	l.nameCalls(unit)
}

func (l *Lines) addCall(unit *unitLines, entry *dwarf.Entry, depth int) bool {
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
		unit.calls = append(unit.calls, inlinedCall{span: span{r[0], r[1]}, depth: depth, origin: origin,
			file: int(file), line: int(line)})
	}
	return true
}

// nameCalls names what was inlined, once the whole unit was seen; calls of what has no name are
// left out.
func (l *Lines) nameCalls(unit *unitLines) {
	names := map[dwarf.Offset]string{}
	named := unit.calls[:0]
	for _, call := range unit.calls {
		name, known := names[call.origin]
		if !known {
			name = l.functionName(call.origin)
			names[call.origin] = name
		}
		if call.name = name; name != "" {
			named = append(named, call)
		}
	}
	unit.calls = named
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

func (u *unitLines) line(address uint64) (file string, line int) {
	after := sort.Search(len(u.rows), func(i int) bool { return u.rows[i].address > address })
	if after == 0 || u.rows[after-1].end {
		return "", 0
	}
	return u.rows[after-1].file, u.rows[after-1].line
}

// inlined returns the calls that an address lies in, the innermost first.
func (u *unitLines) inlined(address uint64) []inlinedCall {
	var found []inlinedCall
	for start := 0; start < len(u.calls); {
		depth := u.calls[start].depth
		end := start + sort.Search(len(u.calls)-start, func(i int) bool { return u.calls[start+i].depth > depth })
		level := u.calls[start:end]
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

func (u *unitLines) fileName(number int) string {
	if number < 0 || number >= len(u.files) || u.files[number] == nil {
		return ""
	}
	return u.files[number].Name
}
