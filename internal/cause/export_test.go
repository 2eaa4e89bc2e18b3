package cause

import (
	"testing"

	"culprit/internal/compare"
)

// Case is an input of a judgement with a name.
type Case struct {
	Name  string
	Input Input
}

// MadeUp are the situations of the tests: as they are, with the sides exchanged, and the dearer side alone.
func MadeUp(t *testing.T) (cases []Case) {
	for _, one := range append(situations(), loopSituations()...) {
		for name, sides := range map[string][2]plan{"": {one.a, one.b}, ", sides exchanged": {one.b, one.a},
			", alone": {one.b, {}}} {
			cases = append(cases, Case{one.name + name, inputOf(t, one.metric, sides[0], sides[1], one.costs)})
		}
	}
	return cases
}

// Overlap is what two recognisers without a stated order both recognise in one case.
type Overlap struct {
	First, Then Rule    // in the order in which they are asked
	Seconds     float64 // per run, of the paths that both match: their growth, whatever its sign
	Growth      float64 // of the case
	Path        string  // the path that grew most of them
	Held        float64 // of the seconds, those that the first owned when the recognisers had been asked
	Wanted      float64 // of the seconds, those that the second would have got without the first
	Direct, Way bool
}

// Overlaps lists the pairs of recognisers without a stated order that recognise the same path of an input.
func Overlaps(in Input) (list []Overlap) {
	s, all, stated := newScene(in), recognisers(), statedOrder()
	if !(s.growth > 0) {
		return nil
	}
	matched := make([]map[int]bool, len(all))
	l := newLedger(s)
	for at, one := range all {
		matched[at] = map[int]bool{}
		for _, found := range one.find(s) {
			for i := range s.paths {
				if s.grown(i) != 0 && found.match(i) {
					matched[at][i] = true
				}
			}
			l.claim(one.rule, found)
		}
	}
	for first := range all {
		for then := first + 1; then < len(all); then++ {
			overlap := Overlap{First: all[first].rule, Then: all[then].rule, Growth: s.growth}
			overlap.Way = stated[[2]Rule{all[first].rule, all[then].rule}] || stated[[2]Rule{all[then].rule, all[first].rule}]
			for _, d := range all[then].defersTo {
				for _, r := range d.to {
					overlap.Direct = overlap.Direct || r == all[first].rule
				}
			}
			var alone *ledger
			most := 0.0
			for i := range s.paths {
				if !matched[first][i] || !matched[then][i] {
					continue
				}
				if alone == nil {
					alone = without(s, all[:then+1], first)
				}
				grown := max(s.grown(i), -s.grown(i))
				overlap.Seconds += grown
				if l.owner[i] != nil && l.owner[i].rule == overlap.First {
					overlap.Held += grown
				}
				if alone.owner[i] != nil && alone.owner[i].rule == overlap.Then {
					overlap.Wanted += grown
				}
				if grown >= most {
					most, overlap.Path = grown, pathText(&s.paths[i])
				}
			}
			if overlap.Seconds > 0 {
				list = append(list, overlap)
			}
		}
	}
	return list
}

func pathText(path *compare.Path) string {
	text := ""
	for _, frame := range path.Frames {
		text += ";" + frame.Name
	}
	kind := map[compare.PathKind]string{compare.Running: "running", compare.Runnable: "runnable",
		compare.Blocked: "blocked"}[path.Kind]
	if kind == "" {
		kind = string(path.Kind)
	}
	return kind + " " + path.Process + " " + path.Syscall + " " + text
}

// statedOrder holds the pairs of rules of which the first defers to the second, directly or by way of others.
func statedOrder() map[[2]Rule]bool {
	direct := map[Rule][]Rule{}
	for _, one := range recognisers() {
		for _, reason := range one.defersTo {
			direct[one.rule] = append(direct[one.rule], reason.to...)
		}
	}
	stated := map[[2]Rule]bool{}
	for from := range direct {
		var follow func(Rule)
		follow = func(rule Rule) {
			for _, to := range direct[rule] {
				if pair := [2]Rule{from, to}; !stated[pair] {
					stated[pair] = true
					follow(to)
				}
			}
		}
		follow(from)
	}
	return stated
}

// without is the ledger of recognisers but one.
func without(s *scene, all []recogniser, but int) *ledger {
	l := newLedger(s)
	for at, one := range all {
		if at == but {
			continue
		}
		for _, found := range one.find(s) {
			l.claim(one.rule, found)
		}
	}
	return l
}
func DumpStated() (text string) {
	all, stated := recognisers(), statedOrder()
	for i := range all {
		text += string(all[i].rule) + ": "
		for k := range all {
			if stated[[2]Rule{all[i].rule, all[k].rule}] { text += string(all[k].rule) + ", " }
		}
		text += "\n"
	}
	return text
}
