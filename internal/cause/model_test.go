package cause

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"culprit/internal/compare"
)

// holdToModel checks what must hold of any judgement: no second has two owners or none gets lost,
// no two recognisers without a stated order recognise the same, and no rule of rank undoes what
// another asserts.
func holdToModel(t *testing.T, judged Judgement) {
	t.Helper()
	if judged.ranking != nil {
		holdToOrder(t, judged.ranking.scene)
		holdToSum(t, judged.ranking.ledger)
		contradictions(t, judged.ranking)
	}
}

// sameSum is how far two sums of the same seconds may be apart, as a part of them.
const sameSum = 1e-9

// covered is how far the seconds of all paths may be from the metric's growth, as a part of the
// larger side's metric. The corpus keeps six digits of each amount: 2 millionths were seen.
const covered = 1e-5

// holdToSum checks that each path has one owner at most, that claims and owners agree, and that
// what is owned and what is nobody's add up to the growth.
func holdToSum(t *testing.T, l *ledger) {
	t.Helper()
	times, owned := make([]int, len(l.paths)), 0.0
	for _, c := range l.claims {
		if len(c.members) == 0 {
			t.Errorf("the claim on %s owns nothing", c.cause)
		}
		for _, i := range c.members {
			times[i]++
			owned += l.grown(i)
			if l.owner[i] != c {
				t.Errorf("the claim on %s counts a path that it does not own: %s", c.cause,
					pathText(&l.paths[i]))
			}
		}
	}
	all, free := 0.0, 0.0
	for i := range l.paths {
		all += l.grown(i)
		if l.free(i) {
			free += l.grown(i)
		}
		if want := map[bool]int{true: 0, false: 1}[l.free(i)]; times[i] != want {
			t.Errorf("%d claims count a path, want %d: %s", times[i], want, pathText(&l.paths[i]))
		}
	}
	size := max(mean(l.metricA), mean(l.metricB))
	if math.Abs(owned+free-all) > sameSum*size {
		t.Errorf("claims have %g s and nobody %g s of %g s", owned, free, all)
	}
	if math.Abs(all-l.growth) > covered*size {
		t.Errorf("all paths grew by %g s, the metric by %g s, %.2g of the larger side off", all, l.growth,
			math.Abs(all-l.growth)/size)
	}
}

// overlap is what two recognisers without a stated order both recognise.
type overlap struct {
	first, then Rule    // as they are asked
	seconds     float64 // of the paths that both recognise: their growth, whatever its sign
	path        int     // the one that grew most of them
}

// disputed is the part of the growth from which the order of two recognisers must be stated.
const disputed = 0.01

// holdToOrder checks that of two recognisers of the same path one defers to the other, and says
// why: which of them is asked first must not hang on the order of a list, nor on what a third one
// defers to.
func holdToOrder(t *testing.T, s *scene) {
	t.Helper()
	for _, one := range overlaps(s, recognisers()) {
		text := fmt.Sprintf("%q is asked before %q, for no stated reason, and both recognise %.3g s, "+
			"%.2g %% of the growth: %s", one.first, one.then, one.seconds, 100*one.seconds/s.growth,
			pathText(&s.paths[one.path]))
		if one.seconds >= disputed*s.growth {
			t.Error(text)
		} else if testing.Verbose() {
			t.Log(text)
		}
	}
}

func overlaps(s *scene, all []recogniser) (list []overlap) {
	grown, by := make([]float64, len(s.paths)), make([][]int, len(s.paths)) // who recognises each path
	for i := range s.paths {
		grown[i] = s.grown(i)
	}
	for at := range all {
		for _, found := range all[at].find(s) {
			for i := range s.paths {
				if recognised := len(by[i]) > 0 && by[i][len(by[i])-1] == at; grown[i] != 0 && !recognised && found.match(i) {
					by[i] = append(by[i], at)
				}
			}
		}
	}
	seen := map[[2]int]*overlap{}
	for i, those := range by {
		for n, first := range those {
			for _, then := range those[n+1:] {
				of := seen[[2]int{first, then}]
				if of == nil {
					of = &overlap{first: all[first].rule, then: all[then].rule, path: i}
					seen[[2]int{first, then}] = of
				}
				if math.Abs(grown[i]) >= math.Abs(grown[of.path]) {
					of.path = i
				}
				of.seconds += math.Abs(grown[i])
			}
		}
	}
	for _, pair := range slices.SortedFunc(maps.Keys(seen), func(x, y [2]int) int {
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]))
	}) {
		if !all[pair[1]].defers(all[pair[0]].rule) {
			list = append(list, *seen[pair])
		}
	}
	return list
}

// defers reports whether a recogniser states that another goes first.
func (r *recogniser) defers(to Rule) bool {
	return slices.ContainsFunc(r.defersTo, func(reason deference) bool {
		return slices.Contains(reason.to, to)
	})
}

func pathText(path *compare.Path) string {
	way := strings.TrimPrefix(route(path.Frames)+";"+path.Syscall, ";")
	return fmt.Sprintf("%v %s %s", path.Kind, path.Process, way)
}

// contradictions checks that after all rules of rank what each of them put before something still
// stands before it.
func contradictions(t *testing.T, r *ranking) (found int) {
	t.Helper()
	for at, pair := range r.pairs {
		first, then := slices.Index(r.told, pair[0]), slices.Index(r.told, pair[1])
		if first >= 0 && then >= 0 && first > then {
			found++
			t.Errorf("%q put %s before %s, and another rule put it behind: %s", r.moves[at].Rule,
				r.moves[at].First, r.moves[at].Before, rankedText(r))
		}
	}
	return found
}

func rankedText(r *ranking) string {
	var text strings.Builder
	for _, one := range r.told {
		share := one.share()
		fmt.Fprintf(&text, "\n  %s %.2f (%.2f … %.2f) known %v, consequence %v, of a setting %v, "+
			"library %v", one.cause, share.Value, share.Low, share.High, one.known, one.consequence,
			one.ofSetting, one.library)
	}
	for _, move := range r.moves {
		fmt.Fprintf(&text, "\n  %q: %s before %s", move.Rule, move.First, move.Before)
	}
	return text.String()
}
