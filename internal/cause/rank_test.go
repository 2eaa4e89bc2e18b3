package cause

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"culprit/internal/compare"
)

// madeUpRankings is how many rankings are tried.
const madeUpRankings = 20_000

// Rules that put suspects in order must not undo each other: what each asserts holds after all.
func TestRulesOfRankDoNotContradictEachOther(t *testing.T) {
	t.Parallel()
	random, all := rand.New(rand.NewPCG(14, 2)), IDs()
	times, example := map[string]int{}, map[string]string{}
	moved := map[Rule]int{}
	for range madeUpRankings {
		r := madeUpRanking(random, all)
		for _, one := range undoneIn(r) {
			if times[one.text]++; times[one.text] == 1 {
				example[one.text] = fmt.Sprintf("%s before %s: %s", one.Move.First, one.Before,
					rankedText(r))
			}
		}
		for _, move := range r.moves {
			moved[move.Rule]++
		}
	}
	for text, count := range times {
		t.Errorf("%s, in %d of %d rankings, as of %s", text, count, madeUpRankings, example[text])
	}
	for _, rule := range rankRules {
		if moved[rule.rule] < madeUpRankings/1000 {
			t.Errorf("%q moved %d suspects: the rankings do not try it", rule.rule, moved[rule.rule])
		}
	}
}

// undone is a move that a later rule undid.
type undone struct {
	Move
	text string // which rule did what to which
}

// undoneIn makes all rules on a ranking and lists what the later undid of the earlier.
func undoneIn(r *ranking) (list []undone) {
	slices.SortStableFunc(r.told, func(x, y *ranked) int {
		return cmp.Compare(y.surely(), x.surely())
	})
	broken := map[int]bool{}
	for _, rule := range rankRules {
		rule.apply(r, rule)
		for at, pair := range r.pairs {
			if slices.Index(r.told, pair[0]) > slices.Index(r.told, pair[1]) && !broken[at] {
				broken[at] = true
				list = append(list, undone{r.moves[at],
					fmt.Sprintf("%q undoes %q", rule.rule, r.moves[at].Rule)})
			}
		}
	}
	return list
}

// madeUpRanking has suspects as a ledger may hold them: of one recording there is no code and no
// setting that differs, garbage and compiling alone may be consequences, and what is done more of
// alone may be done for a setting. Shares are often close to each other and to what rules ask for.
func madeUpRanking(random *rand.Rand, all []ID) *ranking {
	chance := func(of int) bool { return random.IntN(of) == 0 }
	s := &scene{oneSided: chance(6), paths: []compare.Path{{Kind: compare.Runnable,
		WakerOwn: chance(2), B: []float64{1}}}}
	r := &ranking{ledger: newLedger(s)}
	often := []ID{CodeGrew, CodeGrew, CodeAdded, ConfigDiffers, RuntimeCold, RuntimeGC, MemoryFaults}
	if s.oneSided {
		often = []ID{CPUStarved, FileSync, RuntimeCold}
	}
	typical, spread := 0.1+0.6*random.Float64(), random.Float64()
	for range 1 + random.IntN(6) {
		id := often[random.IntN(len(often))]
		if chance(3) {
			id = all[random.IntN(len(all))]
		}
		twice := slices.ContainsFunc(r.told, func(one *ranked) bool { return one.cause == id })
		if !id.is(isCode) && twice || s.oneSided && (id.is(isCode) || id == ConfigDiffers) {
			continue
		}
		value := max(listedShare, typical*(1+spread*(2*random.Float64()-1)))
		below := 0.3 * value * random.Float64()
		if chance(4) {
			below *= 6
		}
		one := &ranked{known: !chance(8), library: id.is(isCode) && chance(2), claim: &claim{cause: id,
			members: []int{0}, ofSetting: id.is(doneMore) && chance(2),
			consequence: !s.oneSided && (id == RuntimeCold || id == RuntimeGC) && chance(2)}}
		one.suspect = Suspect{Cause: id,
			Share: compare.Interval{Value: value, Low: value - below, High: value + below}}
		r.told = append(r.told, one)
	}
	return r
}
