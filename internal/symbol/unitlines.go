package symbol

import (
	"cmp"
	"debug/dwarf"
	"slices"
	"sort"
)

// unitLines is what one compilation unit says.
type unitLines struct {
	entry     *dwarf.Entry
	files     []*dwarf.LineFile
	names     []string       // of the files that rows are in
	rows      []lineRow      // by address
	functions []functionSpan // by low address
	whole     body           // all of the unit's functions together
	inlined   map[dwarf.Offset]string
}

// lineRow says what line the code from an address on is of. A file of a hundred thousand lines has
// as many: no pointers, which the garbage collector would go through.
type lineRow struct {
	address uint64
	line    int32
	file    int32 // a number of names; noCode: no code from here on
}

const noCode = -1

// functionSpan is a range of a function's code.
type functionSpan struct {
	span
	body *body
}

// decode reads a unit's lines and where its functions are; nil when there is no more room for them.
func (l *Lines) decode(entry *dwarf.Entry) *unitLines {
	unit := &unitLines{entry: entry, whole: body{at: entry.Offset}, inlined: map[dwarf.Offset]string{}}
	lines, err := l.data.LineReader(entry)
	if err != nil || lines == nil {
		return nil
	}
	unit.files = lines.Files()
	l.readRows(unit, lines)
	l.findFunctions(unit)
	return unit
}

func (l *Lines) readRows(unit *unitLines, lines *dwarf.LineReader) {
	rows, numbers := l.rows[:0], map[*dwarf.LineFile]int32{}
	var row dwarf.LineEntry
	for lines.Next(&row) == nil && l.keep(1) {
		kept := lineRow{address: row.Address, line: int32(row.Line), file: noCode}
		if !row.EndSequence {
			kept.file = unit.number(numbers, row.File)
		}
		rows = append(rows, kept)
	}
	// Of two rows at one address the later one counts; an end gives way to a beginning.
	order := func(x, y lineRow) int {
		return cmp.Or(cmp.Compare(x.address, y.address), cmp.Compare(min(x.file, 0), min(y.file, 0)))
	}
	if !slices.IsSortedFunc(rows, order) {
		slices.SortStableFunc(rows, order)
	}
	unit.rows, l.rows = slices.Clone(rows), rows
}

// number is that of a file among the names of those that rows are in.
func (u *unitLines) number(numbers map[*dwarf.LineFile]int32, file *dwarf.LineFile) int32 {
	number, known := numbers[file]
	if !known {
		number = int32(len(u.names))
		numbers[file] = number
		name := ""
		if file != nil {
			name = file.Name
		}
		u.names = append(u.names, name)
	}
	return number
}

func (u *unitLines) line(address uint64) (file string, line int) {
	after := sort.Search(len(u.rows), func(i int) bool { return u.rows[i].address > address })
	if after == 0 || u.rows[after-1].file == noCode {
		return "", 0
	}
	return u.names[u.rows[after-1].file], int(u.rows[after-1].line)
}

// bodyAt is the function that an address lies in; nil where no function of the unit's own is known
// there.
func (u *unitLines) bodyAt(address uint64) *body {
	after := sort.Search(len(u.functions), func(i int) bool { return u.functions[i].low > address })
	if after == 0 || u.functions[after-1].high <= address {
		return nil
	}
	return u.functions[after-1].body
}

func (u *unitLines) fileName(number int) string {
	if number < 0 || number >= len(u.files) || u.files[number] == nil {
		return ""
	}
	return u.files[number].Name
}
