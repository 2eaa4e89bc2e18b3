package try

import (
	"fmt"
	"strings"
)

// condition is one combination of levels.
type condition struct {
	levels  []int // index into the levels of each factor
	control bool  // the baseline once more
	label   string
}

// pair are two conditions that differ in what is compared.
type pair struct{ base, other int }

// comparison is one question: what does this level do against the baseline of its factor. terms are
// the pairs of conditions that answer it, one but in a factorial; of an interaction, minus are
// those to be taken off.
type comparison struct {
	factor, level, against string
	terms, minus           []pair
	control, negative      bool
	stage                  int
}

// layout is a design, worked out: what there is to run and what there is to ask.
type layout struct {
	conditions []condition
	stages     []stage
}

// stage is a set of conditions that are run in the same blocks.
type stage struct {
	conditions  []int
	comparisons []comparison
}

func (l layout) comparisons() int {
	count := 0
	for _, stage := range l.stages {
		count += len(stage.comparisons)
	}
	return count
}

// ControlLevel is what the baseline is called where it runs once more.
const ControlLevel = "control"

// layOut works out the conditions and comparisons of an experiment.
func layOut(e Experiment) (layout, error) {
	var l layout
	baseline := make([]int, len(e.Factors))
	l.add(e, baseline, false)
	if e.Control {
		l.add(e, baseline, true)
	}
	switch e.Design {
	case Factorial:
		if len(e.Factors) < 2 {
			return l, fmt.Errorf("design factorial crosses factors; vary two or more, or leave --design away")
		}
		l.factorial(e)
	case One:
		for f, factor := range e.Factors {
			if !factor.held() {
				l.stages = append(l.stages, l.oneFactor(e, f))
			}
		}
	default:
		all := stage{}
		for f := range e.Factors {
			one := l.oneFactor(e, f)
			all.conditions = append(all.conditions, one.conditions[1:]...)
			all.comparisons = append(all.comparisons, one.comparisons...)
		}
		all.conditions = append([]int{0}, all.conditions...)
		l.stages = []stage{all}
	}
	if e.Control {
		l.control()
	}
	for i := range l.stages {
		for j := range l.stages[i].comparisons {
			l.stages[i].comparisons[j].stage = i
		}
	}
	return l, nil
}

// control puts the A/A comparison into the first stage.
func (l *layout) control() {
	const second = 1 // right after the baseline, see layOut
	first := &l.stages[0]
	first.conditions = append(first.conditions, second)
	first.comparisons = append(first.comparisons, comparison{factor: ControlLevel, level: ControlLevel,
		against: l.conditions[0].label, terms: []pair{{0, second}}, control: true})
}

// add makes a condition known and returns its number.
func (l *layout) add(e Experiment, levels []int, control bool) int {
	made := condition{levels: append([]int(nil), levels...), control: control}
	var names []string
	for f, level := range levels {
		if !e.Factors[f].held() {
			names = append(names, e.Factors[f].Levels[level].Name)
		}
	}
	made.label = strings.Join(names, " × ")
	if control {
		made.label = ControlLevel
	}
	l.conditions = append(l.conditions, made)
	return len(l.conditions) - 1
}

// oneFactor compares each level of a factor with the baseline, everything else at its baseline.
func (l *layout) oneFactor(e Experiment, f int) stage {
	made := stage{conditions: []int{0}}
	factor := e.Factors[f]
	for level := 1; level < len(factor.Levels); level++ {
		levels := make([]int, len(e.Factors))
		levels[f] = level
		number := l.add(e, levels, false)
		made.conditions = append(made.conditions, number)
		made.comparisons = append(made.comparisons, comparison{factor: factor.Name, level: factor.Levels[level].Name,
			against: factor.Levels[0].Name, terms: []pair{{0, number}}, negative: factor.Negative})
	}
	return made
}

// factorial crosses all factors: each level is compared over all combinations of the others, and
// for each two factors whether the effect of one depends on the other.
func (l *layout) factorial(e Experiment) {
	numbers := map[string]int{fmt.Sprint(l.conditions[0].levels): 0}
	all := stage{conditions: []int{0}}
	for levels := next(e, make([]int, len(e.Factors))); levels != nil; levels = next(e, levels) {
		if len(l.conditions) > maxConditions {
			break // Check refuses it
		}
		number := l.add(e, levels, false)
		numbers[fmt.Sprint(levels)] = number
		all.conditions = append(all.conditions, number)
	}
	for f, factor := range e.Factors {
		for level := 1; level < len(factor.Levels); level++ {
			all.comparisons = append(all.comparisons, comparison{factor: factor.Name, level: factor.Levels[level].Name,
				against: factor.Levels[0].Name, negative: factor.Negative,
				terms: l.pairs(numbers, f, level, func([]int) bool { return true })})
		}
	}
	for f := range e.Factors {
		for g := f + 1; g < len(e.Factors); g++ {
			all.comparisons = append(all.comparisons, l.interactions(e, numbers, f, g)...)
		}
	}
	l.stages = []stage{all}
}

// interactions ask whether a level of g does more or less at a level of f than at f's baseline.
func (l *layout) interactions(e Experiment, numbers map[string]int, f, g int) []comparison {
	var made []comparison
	one, other := e.Factors[f], e.Factors[g]
	for i := 1; i < len(one.Levels); i++ {
		for j := 1; j < len(other.Levels); j++ {
			at := func(level int) func([]int) bool { return func(levels []int) bool { return levels[f] == level } }
			made = append(made, comparison{factor: one.Name + " × " + other.Name,
				level:   one.Levels[i].Name + " × " + other.Levels[j].Name,
				against: "both apart", negative: one.Negative || other.Negative,
				terms: l.pairs(numbers, g, j, at(i)), minus: l.pairs(numbers, g, j, at(0))})
		}
	}
	return made
}

// pairs are the conditions that differ only in factor f: at its baseline and at a level.
func (l *layout) pairs(numbers map[string]int, f, level int, want func(levels []int) bool) []pair {
	var pairs []pair
	for number, made := range l.conditions {
		if made.control || made.levels[f] != 0 || !want(made.levels) {
			continue
		}
		levels := append([]int(nil), made.levels...)
		levels[f] = level
		if other, found := numbers[fmt.Sprint(levels)]; found {
			pairs = append(pairs, pair{number, other})
		}
	}
	return pairs
}

// next counts through all combinations of levels; nil after the last.
func next(e Experiment, levels []int) []int {
	levels = append([]int(nil), levels...)
	for f := len(levels) - 1; f >= 0; f-- {
		if levels[f]++; levels[f] < len(e.Factors[f].Levels) {
			return levels
		}
		levels[f] = 0
	}
	return nil
}

// usedBy lists the conditions that a comparison needs.
func (c comparison) usedBy() map[int]bool {
	used := map[int]bool{}
	for _, pairs := range [][]pair{c.terms, c.minus} {
		for _, pair := range pairs {
			used[pair.base], used[pair.other] = true, true
		}
	}
	return used
}
