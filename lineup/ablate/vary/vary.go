// Package vary is what the sources of an ablation are changed to call: it holds the numbers and the
// rules that a variant changes, and says which variants a judgement does not come to.
//
//	vary.Start(1, 2)        // of these variants
//	judge()                 // as the sources are; marks those that it comes to
//	for _, v := range vary.Reached() {
//		vary.Choose(v)
//		judge()
//	}
//
// A comparison is come to by a variant only where the variant's number makes it turn out
// differently. All of it belongs to one goroutine.
package vary

import (
	"reflect"
	"slices"
)

// None is the variant that changes nothing.
const None = -1

// variant is what one variant changes: numbers, or the rule that asks for its own index.
type variant struct {
	floats   []float
	integers []integer
	again    bool // it changes what variables of a package begin with
	early    bool // and with that what is worked out before the rules
	order    bool // all that it can change is the order of the rules
}

type float struct {
	at int
	is float64
}

type integer struct {
	at int
	is int64
}

var (
	chosen   = None
	tracking bool
	wanted   []int  // the variants in question
	reached  []bool // by variant
	staged   []bool // those that the stage came to
	inStage  bool
	initials []func() // give the variables of a package their first values
	ordered  func() string
	stages   = map[any]any{}
	byFloat  = map[int][]int{} // the variants that change a number
	byInt    = map[int][]int{}
)

// Start begins to mark which of these variants are come to.
func Start(asked []int) {
	wanted, reached, staged = asked, make([]bool, len(variants)), make([]bool, len(variants))
	for _, v := range asked {
		reached[v], staged[v] = variants[v].again, variants[v].early
		for _, f := range variants[v].floats {
			byFloat[f.at] = append(byFloat[f.at], v)
		}
		for _, i := range variants[v].integers {
			byInt[i.at] = append(byInt[i.at], v)
		}
	}
	tracking = true
}

// Reached ends the marking, and lists those that were come to.
func Reached() (list []int) {
	tracking = false
	return slices.DeleteFunc(slices.Clone(wanted), func(v int) bool { return !reached[v] })
}

// Choose lets a variant be.
func Choose(v int) {
	was := chosen
	apply(v)
	if was != None && variants[was].again || v != None && variants[v].again {
		for _, initial := range initials {
			initial()
		}
	}
}

// apply exchanges the numbers.
func apply(v int) {
	if chosen != None {
		exchange(chosen)
	}
	if v != None {
		exchange(v)
	}
	chosen = v
}

func exchange(v int) {
	for i := range variants[v].floats {
		f := &variants[v].floats[i]
		f.is, floats[f.at] = floats[f.at], f.is
	}
	for i := range variants[v].integers {
		n := &variants[v].integers[i]
		n.is, integers[n.at] = integers[n.at], n.is
	}
}

func reach(list ...int) {
	for _, v := range list {
		reached[v], staged[v] = true, staged[v] || inStage
	}
}

// Initially notes how the variables of a package get their first values.
func Initially(initial func()) { initials = append(initials, initial) }

// Ordered notes what tells the order of the rules.
func Ordered(order func() string) { ordered = order }

// Order is the order of the rules where the variant that was chosen changes nothing else, and as
// the sources are where none was; else "".
func Order() string {
	if ordered == nil || chosen != None && !variants[chosen].order {
		return ""
	}
	return ordered()
}

// Float is a number wherever it is read.
func Float(at int) float64 {
	if tracking {
		reach(byFloat[at]...)
	}
	return floats[at]
}

// Integer is a whole number wherever it is read.
func Integer(at int) int64 {
	if tracking {
		reach(byInt[at]...)
	}
	return integers[at]
}

// FloatIn is a number in what Value computes.
func FloatIn(at int) float64 { return floats[at] }

// IntegerIn is a whole number in what Value computes.
func IntegerIn(at int) int64 { return integers[at] }

// Value is computed from numbers, given by their places: whole ones after the others.
func Value[T comparable](compute func() T, floatAt, integerAt []int) T {
	is := compute()
	if !tracking {
		return is
	}
	tracking = false
	for _, at := range floatAt {
		differ(compute, is, byFloat[at])
	}
	for _, at := range integerAt {
		differ(compute, is, byInt[at])
	}
	tracking = true
	return is
}

// differ marks the variants with which something else is computed.
func differ[T comparable](compute func() T, is T, by []int) {
	for _, v := range by {
		if reached[v] && (staged[v] || !inStage) {
			continue
		}
		apply(v)
		if compute() != is {
			reach(v)
		}
		apply(None)
	}
}

// Does1 is a rule that acts, and does nothing where it is switched off.
func Does1[A any](v int, rule func(A)) func(A) {
	return func(a A) {
		if comesTo(v) {
			rule(a)
		}
	}
}

// Does2 is one of two arguments.
func Does2[A, B any](v int, rule func(A, B)) func(A, B) {
	return func(a A, b B) {
		if comesTo(v) {
			rule(a, b)
		}
	}
}

func comesTo(v int) bool {
	if tracking {
		reach(v)
	}
	return chosen != v
}

// Gives1 is a rule that answers, with nothing where it is switched off.
func Gives1[A, R any](v int, rule func(A) R) func(A) R {
	return func(a A) (r R) {
		if chosen == v {
			return r
		}
		r = rule(a)
		said(v, r)
		return r
	}
}

// Gives2 is one of two arguments.
func Gives2[A, B, R any](v int, rule func(A, B) R) func(A, B) R {
	return func(a A, b B) (r R) {
		if chosen == v {
			return r
		}
		r = rule(a, b)
		said(v, r)
		return r
	}
}

// said marks a rule that says something: without it there would be nothing.
func said(v int, answer any) {
	if !tracking || reached[v] && (staged[v] || !inStage) {
		return
	}
	if yes, is := answer.(bool); is {
		if yes {
			reach(v)
		}
		return
	}
	value := reflect.ValueOf(answer)
	if value.IsValid() && !value.IsZero() && (value.Kind() != reflect.Slice || value.Len() > 0) {
		reach(v)
	}
}

// Without is a list without the element that is switched off. The variants are those of its
// elements.
func Without[S ~[]E, E any](list S, of ...int) S {
	for at, v := range of {
		if v == None {
			continue
		}
		if tracking {
			reach(v)
		}
		if chosen == v {
			return slices.Delete(list, at, at+1)
		}
	}
	return list
}

// Stage is something worked out before the rules. It is worked out once, but for variants that it
// came to.
func Stage[T any](of any, work func() T) T {
	known, is := stages[of].(T)
	switch {
	case tracking:
		inStage = true
		known = work()
		inStage, stages[of] = false, known
	case !is || chosen != None && staged[chosen]:
		return work()
	}
	return known
}
