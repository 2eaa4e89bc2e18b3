package oncpu

import (
	"cmp"
	"time"

	"culprit/recording"
)

// Lines whose words are given names, and the time for it: DWARF is read for them.
const (
	maxNamed   = 32
	nameAtMost = 6 * time.Second
)

// know has the processes asked whose threads seem to share lines.
func (l *looker) know() {
	for i, at := range l.hottest(worthKnowing) {
		if i == maxNamed {
			return
		}
		addresses := []uint64{at.line}
		for code := range l.lines[at].code {
			addresses = append(addresses, code)
		}
		l.places.know(at.pid, addresses)
		var words []uint64
		for word := range l.lines[at].words {
			words = append(words, word.Address)
		}
		l.places.knowMetadata(at.pid, words)
	}
}

// wordOf is a word of a process.
type wordOf struct {
	pid     int32
	address uint64
}

// nameRows names the words of the most sampled lines. Different code may touch one word: that which
// does most often and has a name for it gives it.
func (l *looker) nameRows(rows []recording.Line) {
	named := map[lineOf]bool{}
	for i := range rows {
		if at := (lineOf{rows[i].Pid, rows[i].Line}); len(named) < maxNamed {
			named[at] = true
		}
	}
	accesses := map[wordOf]map[access]int{}
	for i := range l.seen {
		one := &l.seen[i]
		if !named[one.line()] {
			continue
		}
		at := wordOf{one.pid, one.address}
		if accesses[at] == nil {
			accesses[at] = map[access]int{}
		}
		accesses[at][one.access]++
	}
	start := time.Now()
	for i := range rows {
		if time.Since(start) > nameAtMost {
			return // those of the hottest lines have theirs
		}
		row := &rows[i]
		at := wordOf{row.Pid, row.Line + uint64(row.Offset)}
		for _, one := range mostFirst(accesses[at], byCode) {
			if found, ok := l.places.name(row.Pid, &one); ok {
				row.Name, row.Field = found.Object, found.Field
				break
			}
		}
	}
}

func byCode(a, b access) int {
	return cmp.Or(cmp.Compare(a.code, b.code), cmp.Compare(a.size, b.size), cmp.Compare(a.base, b.base))
}
