package ablate

import (
	"fmt"
	"go/constant"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// tables are the numbers that the program of all variants reads, and what each variant changes.
type tables struct {
	floats, integers []string // as the sources are
	changes          []change // by variant
}

// change is what one variant changes.
type change struct {
	floats, integers []string // "{place, value}"
	again, early     bool
	order            bool
	in               *code
	holder           types.Object // what has the list that is shortened
}

// add takes a number in, with its values by variant, and says at which place it is.
func (t *tables) add(is constant.Value, float bool, by map[int]constant.Value) (at int) {
	list := &t.integers
	if float {
		list = &t.floats
	}
	at = len(*list)
	*list = append(*list, number(is, float))
	for _, v := range slices.Sorted(maps.Keys(by)) {
		changed := &t.changes[v].integers
		if float {
			changed = &t.changes[v].floats
		}
		*changed = append(*changed, fmt.Sprintf("{%d, %s}", at, number(by[v], float)))
	}
	return at
}

func number(is constant.Value, float bool) string {
	if float {
		value, _ := constant.Float64Val(is)
		return strconv.FormatFloat(value, 'g', -1, 64)
	}
	return constant.ToInt(is).ExactString()
}

// source writes the tables as Go.
func (t *tables) source() string {
	var b strings.Builder
	b.WriteString("package vary\n\nvar (\n")
	fmt.Fprintf(&b, "\tfloats = []float64{%s}\n\tintegers = []int64{%s}\n\tvariants = []variant{\n",
		strings.Join(t.floats, ", "), strings.Join(t.integers, ", "))
	for _, c := range t.changes {
		fmt.Fprintf(&b, "\t\t{[]float{%s}, []integer{%s}, %t, %t, %t},\n", strings.Join(c.floats, ", "),
			strings.Join(c.integers, ", "), c.again, c.early, c.order)
	}
	b.WriteString("\t}\n)\n")
	return b.String()
}
