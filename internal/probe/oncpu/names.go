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
	// nameRestUntil is when lines beyond those are left without names: what code reaches by a
	// pointer is known by then.
	nameRestUntil = 2 * time.Second
)

// know has the processes asked whose threads seem to share lines with so many samples.
func (l *looker) know(least int64) {
	for i, at := range l.likely(least) {
		if i == maxNamed {
			return
		}
		line := l.lines[at]
		for pid, start := range line.at {
			addresses, words := []uint64{start}, []uint64{}
			for code := range line.code {
				if code.pid == pid {
					addresses = append(addresses, code.address)
				}
			}
			for word := range line.words {
				words = append(words, start+word.Address)
			}
			l.places.know(pid, addresses)
			l.places.knowMetadata(pid, words, line.objects)
		}
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
	named, wanted := map[lineOf]bool{}, map[wordOf]bool{}
	for i := range rows {
		if len(named) < maxNamed {
			named[l.common.lineOf(rows[i].Pid, rows[i].Line)] = true
		}
		wanted[wordOf{rows[i].Pid, rows[i].Line + uint64(rows[i].Offset)}] = true
	}
	accesses := map[wordOf]map[access]int{}
	for i := range l.seen {
		one := &l.seen[i]
		at := wordOf{one.pid, one.address}
		if !wanted[at] {
			continue
		}
		if accesses[at] == nil {
			accesses[at] = map[access]int{}
		}
		accesses[at][one.access]++
	}
	start := time.Now()
	for i := range rows {
		row := &rows[i]
		most := nameAtMost
		if !named[l.common.lineOf(row.Pid, row.Line)] {
			most = nameRestUntil
		}
		if time.Since(start) > most {
			continue
		}
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
