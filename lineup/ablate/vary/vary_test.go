package vary

import (
	"slices"
	"testing"
)

// tabled puts a table of variants in the place of the empty one, and forgets what was marked.
func tabled(t *testing.T, numbers []float64, of []variant) {
	t.Helper()
	was := [2]any{floats, variants}
	floats, variants = numbers, of
	t.Cleanup(func() {
		floats, variants = was[0].([]float64), was[1].([]variant)
		chosen, tracking, wanted, reached, staged = None, false, nil, nil, nil
		initials, ordered, stages, byFloat, byInt = nil, nil, map[any]any{}, map[int][]int{}, map[int][]int{}
	})
}

// A comparison is come to by the variant that makes it turn out differently, and by no other.
func TestComparisonsAreComeToWhereTheyTurn(t *testing.T) {
	tabled(t, []float64{2}, []variant{{floats: []float{{0, 1.5}}}, {floats: []float{{0, 2.5}}}})
	more := func(x float64) bool {
		return Value(func() bool { return x > FloatIn(0) }, []int{0}, nil)
	}
	Start([]int{0, 1})
	if more(1) || more(1.8) || !more(3) {
		t.Error("the comparison is not what it is without variants")
	}
	if got := Reached(); !slices.Equal(got, []int{0}) {
		t.Errorf("reached %v, want [0]: 1.8 is more than 1.5, and nothing lies between 2 and 2.5", got)
	}
	Choose(0)
	if !more(1.8) {
		t.Error("the chosen variant is not in force")
	}
	Choose(None)
	if more(1.8) {
		t.Error("the variant is still in force")
	}
}

// A rule is come to where it says something; switched off it says nothing.
func TestRulesAreSwitchedOff(t *testing.T) {
	tabled(t, nil, make([]variant, 4))
	even := Gives1(0, func(n int) bool { return n%2 == 0 })
	count := 0
	act := Does2(1, func(by *int, times int) { *by += times })
	list := func() []string { return Without([]string{"a", "b", "c"}, 2, None, 3) }
	Start([]int{0, 1, 2, 3})
	even(1)
	if got := Reached(); len(got) != 0 {
		t.Errorf("reached %v by a rule that said nothing", got)
	}
	Start([]int{0, 1, 2, 3})
	even(2)
	act(&count, 5)
	list()
	if got := Reached(); !slices.Equal(got, []int{0, 1, 2, 3}) {
		t.Errorf("reached %v, want all", got)
	}
	for v := range variants {
		Choose(v)
		act(&count, 1)
		if even(2) == (v == 0) {
			t.Errorf("variant %d: the rule says %v", v, even(2))
		}
		if want := map[int]int{2: 2, 3: 2}[v]; want != 0 && len(list()) != want {
			t.Errorf("variant %d: the list is %q", v, list())
		}
	}
	if list(); count != 5+3 {
		t.Errorf("the rule acted to %d, want once before and with the three others", count)
	}
}

// What is worked out before the rules is worked out again only for a variant that it came to, and
// variables begin again for one that they are made of.
func TestStagesAndBeginnings(t *testing.T) {
	tabled(t, []float64{2}, []variant{{floats: []float{{0, 1}}}, {}, {again: true}})
	worked, begun := 0, 0
	Initially(func() { begun++ })
	work := func() int {
		return Stage("scene", func() int { worked++; return int(Float(0)) })
	}
	Start([]int{0, 1, 2})
	work()
	Reached()
	for _, step := range []struct{ variant, is, worked, begun int }{{0, 1, 2, 0}, {1, 2, 2, 0}, {2, 2, 2, 1},
		{None, 2, 2, 2}} {
		Choose(step.variant)
		if is := work(); is != step.is || worked != step.worked || begun != step.begun {
			t.Errorf("variant %d: %d, worked out %d times, begun %d times; want %+v", step.variant, is, worked,
				begun, step)
		}
	}
}
