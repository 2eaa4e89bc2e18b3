package symbol

import (
	"debug/dwarf"
	"sort"
	"strings"
)

// DWARF gives a function that other files cannot call (static, of an unnamed namespace, a lambda, a
// template of one) no linkage name but its bare one: "mix", "operator()". Where the compiler did
// not inline it, the symbol table has it as shop::mix. What encloses it in the tree of entries
// makes the two names one.

// scopes are the prefixes of a unit's functions, such as "shop::", by the offset of their entry;
// without empty ones.
type scopes map[dwarf.Offset]string

// scopeWalk follows a walk over a unit's tree.
type scopeWalk struct {
	found scopes
	above []scope
}

// scope is what one entry puts before the names in it.
type scope struct {
	prefix     string
	inFunction bool // not in a class within it: a function here is a nested one of C, whose symbol is its bare name
}

// entry takes one entry of the tree, in order; those that end a row of children, too.
func (w *scopeWalk) entry(l *Lines, entry *dwarf.Entry) {
	if entry.Tag == 0 {
		if len(w.above) > 0 {
			w.above = w.above[:len(w.above)-1]
		}
		return
	}
	var here scope
	if len(w.above) > 0 {
		here = w.above[len(w.above)-1]
	}
	if entry.Tag == dwarf.TagSubprogram && here.prefix != "" && !here.inFunction && l.keep(1) {
		w.found[entry.Offset] = here.prefix
	}
	if entry.Children {
		w.above = append(w.above, here.within(l, entry))
	}
}

// within is the scope that an entry's children stand in.
func (s scope) within(l *Lines, entry *dwarf.Entry) scope {
	name, _ := entry.Val(dwarf.AttrName).(string)
	switch entry.Tag {
	case dwarf.TagNamespace:
		if name == "" {
			name = "(anonymous namespace)"
		}
	case dwarf.TagClassType, dwarf.TagStructType, dwarf.TagUnionType:
		if name == "" || strings.HasPrefix(name, "<lambda") { // clang, GCC
			name = "{lambda" + strings.TrimSuffix(strings.TrimPrefix(name, "<lambda"), ">") + "}"
		}
	case dwarf.TagSubprogram:
		if readable, ok := demangled(l.linkageName(entry)); ok {
			return scope{prefix: cut(readable) + "()::", inFunction: true}
		}
		if name == "" {
			return scope{inFunction: true} // the copy of a function that another entry describes
		}
		return scope{prefix: cut(s.prefix+name) + "()::", inFunction: true}
	default:
		return s
	}
	return scope{prefix: cut(s.prefix+name) + "::"}
}

// cut bounds names that a file may nest without end.
func cut(name string) string { return name[:min(len(name), maxReadableBytes)] }

// prefix is what encloses the function whose entry is at an offset, "" for nothing.
func (l *Lines) prefix(offset dwarf.Offset) string {
	unit := l.unitAt(offset)
	if unit == nil {
		return ""
	}
	if isC(unit) {
		return ""
	}
	found, known := l.scopes[unit.Offset]
	if !known {
		walk := scopeWalk{found: scopes{}}
		l.walk(unit.Offset, func(entry *dwarf.Entry) bool {
			walk.entry(l, entry)
			return true
		})
		found = walk.found
		l.scopes[unit.Offset] = found
	}
	return found[offset]
}

// unitAt is the unit that an offset lies in.
func (l *Lines) unitAt(offset dwarf.Offset) *dwarf.Entry {
	after := sort.Search(len(l.tops), func(i int) bool { return l.tops[i].Offset > offset })
	if after == 0 {
		return nil
	}
	return l.tops[after-1]
}

// isC tells a unit whose functions stand in nothing that gives them another name. Of others all
// entries are walked where one function has no linkage name. (DWARF 5, section 7.12.)
func isC(unit *dwarf.Entry) bool {
	language, _ := unit.Val(dwarf.AttrLanguage).(int64)
	switch language {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c: // C89, C, C99, C11, C17
		return true
	}
	return false
}

// walk calls visit for every entry below the one at an offset, until it says no.
func (l *Lines) walk(from dwarf.Offset, visit func(*dwarf.Entry) bool) {
	reader := l.data.Reader()
	reader.Seek(from)
	if top, err := reader.Next(); err != nil || top == nil || !top.Children {
		return
	}
	for depth := 1; depth > 0; {
		entry, err := reader.Next()
		if err != nil || entry == nil || !visit(entry) {
			return
		}
		switch {
		case entry.Tag == 0:
			depth--
		case entry.Children:
			depth++
		}
	}
}
