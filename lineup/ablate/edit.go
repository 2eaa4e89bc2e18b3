package ablate

import (
	"cmp"
	"slices"
	"strings"
)

// edited is a text with changes.
type edited struct {
	text  string
	edits []*wrap
	tail  string // goes behind the text
}

// wrap is one change: what goes before and behind a part of the text, or what replaces it.
type wrap struct {
	start, end       int
	before, behind   string
	replaced         bool // by before
	made             func(*wrap) (before, behind string)
	floats, integers []string
}

// wrapping is the wrap around a part of the text; a part has one at most.
func (e *edited) wrapping(start, end int) *wrap {
	for _, w := range e.edits {
		if w.start == start && w.end == end && !w.replaced {
			return w
		}
	}
	w := &wrap{start: start, end: end}
	e.edits = append(e.edits, w)
	return w
}

func (e *edited) replace(start, end int, by string) {
	e.edits = append(e.edits, &wrap{start: start, end: end, before: by, replaced: true})
}

// between writes the changed text from one place to another; only changes that lie in it count.
func (e *edited) between(start, end int) string {
	type insertion struct {
		at, order, size int
		text            string
		skip            int
	}
	var list []insertion
	for _, w := range e.edits {
		if w.start < start || w.end > end {
			continue
		}
		before, behind := w.before, w.behind
		if w.made != nil {
			before, behind = w.made(w)
		}
		// The longer part begins earlier and ends later; what ends goes before what begins.
		size := w.end - w.start
		if w.replaced {
			list = append(list, insertion{w.start, 2, 0, before, size})
			continue
		}
		list = append(list, insertion{w.start, 1, -size, before, 0}, insertion{w.end, 0, size, behind, 0})
	}
	slices.SortStableFunc(list, func(x, y insertion) int {
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.order, y.order), cmp.Compare(x.size, y.size))
	})
	var b strings.Builder
	at := start
	for _, one := range list {
		b.WriteString(e.text[at:one.at])
		b.WriteString(one.text)
		at = one.at + one.skip
	}
	b.WriteString(e.text[at:end])
	return b.String()
}
