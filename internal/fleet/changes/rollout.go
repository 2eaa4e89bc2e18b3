package changes

import (
	"fmt"
	"math"
	"math/rand/v2"

	"culprit/internal/stat"
)

// RolloutOptions say what is left out and how sure an answer is.
type RolloutOptions struct {
	// Warm is how many hours after its restart a host is left out: caches are cold. 1; below zero
	// none.
	Warm int
	Seed uint64
}

// Rollout is what a new version costs against the old one.
type Rollout struct {
	// Change is new/old − 1 in the same hours, with 95 %.
	Change stat.Interval `json:"change"`
	// P is how often the same costs with the hosts' turns dealt out anew show as much. It is never
	// below 1/10,000, which is what an alarm should ask for.
	P     float64 `json:"p"`
	New   int     `json:"new"`   // hosts
	Old   int     `json:"old"`   // hosts that still ran the old version in one of the hours
	Hours int     `json:"hours"` // in which both ran
}

// Never marks a host that does not get the new version.
const Never = math.MaxInt

const (
	leastHosts = 5    // of each version, in an hour and over all
	deals      = 9999 // of the hosts' turns
	// enoughDeals that show as much end the dealing: the answer is no then.
	enoughDeals = 50
)

// CompareRollout holds hosts that have the new version against hosts that still have the old one.
// switched has the hour of the table at which each host began to run the new version. The day
// before the first of them and the hours in which both versions ran are fitted with a level for
// each host, one for each hour, and the change (differences in differences). Hosts are taken to
// have been picked as by a die: after a roll-out by zone a zone's own trouble looks like the
// version's.
func CompareRollout(table *Table, switched []int, options RolloutOptions) (*Rollout, error) {
	if options.Warm == 0 {
		options.Warm = 1
	}
	if len(switched) != len(table.Values) {
		return nil, fmt.Errorf("compare roll-out: %d hosts, %d times", len(table.Values), len(switched))
	}
	start := Never
	for _, hour := range switched {
		start = min(start, hour)
	}
	if start == Never || start < leastBefore {
		return nil, fmt.Errorf("compare roll-out: %w: it needs six hours before its first host", ErrTooShort)
	}
	p := newPanel(table, switched, start, max(options.Warm, 0))
	result := &Rollout{New: p.fresh, Old: p.old, Hours: p.both, P: 1}
	if p.fresh < leastHosts || p.old < leastHosts || p.both == 0 {
		return result, fmt.Errorf("compare roll-out: %w: %d hosts of the new and %d of the old version side by side, %d each",
			ErrTooShort, p.fresh, p.old, leastHosts)
	}
	p.demean(p.cost)
	p.demean(p.version)
	squares := p.product(p.version, p.version)
	if squares <= 0 {
		return result, fmt.Errorf("compare roll-out: %w: the versions cannot be told from the hours", ErrTooShort)
	}
	effect := p.product(p.version, p.cost) / squares
	result.P = p.dealt(options.Seed)
	rest := make([][]float64, len(p.cost))
	for i, row := range p.cost {
		rest[i] = make([]float64, len(row))
		for j := range row {
			rest[i][j] = row[j] - effect*p.version[i][j]
		}
	}
	half := 1.96 * math.Sqrt(p.dealtVariance(rest)) / squares
	result.Change = stat.Interval{Value: math.Expm1(effect), Low: math.Expm1(effect - half),
		High: math.Expm1(effect + half)}
	return result, nil
}

// dealt is the share of deals of the hosts' turns in which they show as much as in truth.
func (p *panel) dealt(seed uint64) float64 {
	kinds, gain := p.gains(p.cost)
	observed := 0.0
	for host, kind := range kinds {
		observed += gain[host][kind]
	}
	random := rand.New(rand.NewPCG(seed, 0x726f6c6c))
	as, done := 0, 0
	for done < deals && as < enoughDeals {
		random.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		sum := 0.0
		for host, kind := range kinds {
			sum += gain[host][kind]
		}
		if math.Abs(sum) >= math.Abs(observed)*(1-1e-12) {
			as++
		}
		done++
	}
	return float64(as+1) / float64(done+1)
}

// dealtVariance is that of the sum over all deals: Hoeffding's formula for Σ a(i, π(i)).
func (p *panel) dealtVariance(values [][]float64) float64 {
	kinds, gain := p.gains(values)
	n := float64(len(kinds))
	counts := make([]float64, len(gain[0]))
	for _, kind := range kinds {
		counts[kind]++
	}
	columns := make([]float64, len(counts))
	rows := make([]float64, len(gain))
	all := 0.0
	for host, row := range gain {
		for kind, value := range row {
			rows[host] += value * counts[kind] / n
			columns[kind] += value / n
		}
		all += rows[host] / n
	}
	sum := 0.0
	for host, row := range gain {
		for kind, value := range row {
			away := value - rows[host] - columns[kind] + all
			sum += counts[kind] * away * away
		}
	}
	return sum / (n - 1)
}
