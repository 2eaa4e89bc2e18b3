package tail

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/recording"
)

// Options say what is slow.
type Options struct {
	Over  time.Duration // requests that took as long; 0: the Worst share of each kind
	Worst float64       // 0: 1 %
}

const (
	worstDefault = 0.01
	// flat is how many times as long as ordinary requests the slow ones take at least: below it the slowest are what
	// any spread has, and there is nothing to explain.
	flat = 2.0
	// leastExtra is what a slow request takes more at least, in seconds: below it the host's own noise is as long.
	leastExtra = 300e-6
	// leastShare is what a suspect accounts for at least, as surely as the slices of time tell.
	leastShare  = 0.2
	listedShare = 0.05
	leastSlow   = 3 // requests
)

// asked is a request in full with what its stretches speak for.
type asked struct {
	row   *recording.SlowRequest
	parts []*recording.RequestPart
	// buckets are by part.
	buckets []bucket
	spent   map[bucket]float64 // seconds
	// inner is what was waited for answers of the target's own services, whose requests tell of it: seconds.
	inner float64
}

// group is one kind of requests of one service.
type group struct {
	kind Kind
	over float64 // seconds
	slow []*asked
	// ordinary are those of the sample that are not slow.
	ordinary []*asked
	weight   float64            // of the ordinary ones
	usual    float64            // mean of the ordinary ones, in seconds
	inner    float64            // of the ordinary ones
	spent    map[bucket]float64 // of an ordinary one
}

// Explain compares the slow requests of a recording with the ordinary ones.
func Explain(rec *recording.Recording, options Options) *Result {
	if options.Worst == 0 {
		options.Worst = worstDefault
	}
	r := &Result{Schema: Schema, Target: rec.Manifest.Target, Seconds: float64(rec.Manifest.WindowNs) / 1e9,
		Requests: []Slow{}, Suspects: []cause.Suspect{}, Stalls: []int{}, Same: []SameClass{}, Slowest: []Line{},
		Unseen: Unseen{Why: []string{}}, RecorderCost: rec.Manifest.Cost,
		Restarts:   rec.Manifest.Restarts,
		BlindSpots: recording.Words(rec.Manifest.BlindSpots)}
	reader := newReader(rec)
	groups := groupsOf(rec, reader, options)
	var slow []*group
	for _, g := range groups {
		r.Requests = append(r.Requests, g.told())
		if len(g.slow) > 0 && g.weight > 0 && g.meanSlow() >= max(flat*g.usual, g.usual+leastExtra) {
			slow = append(slow, g)
		}
	}
	r.Slowest = slowest(groups, reader)
	r.unseen(rec, reader.left)
	r.Cold = afterRestarts(r.Restarts, groups)
	count := 0
	for _, g := range slow {
		count += len(g.slow)
	}
	switch {
	case len(groups) == 0:
		r.Why = "no request was answered"
	case len(slow) == 0:
		r.Why = fmt.Sprintf("the tail is flat: no kind has slow requests that take %g times as long as ordinary ones", flat)
	case count < leastSlow:
		r.Why = fmt.Sprintf("only %d slow requests: record for longer", count)
	default:
		r.rank(rec, reader, slow)
	}
	return r
}

// groupsOf sorts the requests in full by kind, and into slow and ordinary ones.
func groupsOf(rec *recording.Recording, reader *reader, options Options) []*group {
	type key struct{ service, protocol, kind string }
	byKey, at := map[key]*group{}, map[*asked]*group{}
	var groups []*group
	var all []*asked
	for _, kind := range Summarize(rec) {
		if kind.Side != recording.SideServer {
			continue
		}
		g := &group{kind: kind, over: options.Over.Seconds(), spent: map[bucket]float64{}}
		if g.over == 0 {
			g.over = kind.quantile(1 - options.Worst)
		}
		byKey[key{kind.Service, kind.Protocol, kind.Kind}] = g
		groups = append(groups, g)
	}
	parts := map[int64][]*recording.RequestPart{}
	for i := range rec.RequestParts {
		part := &rec.RequestParts[i]
		parts[part.Request] = append(parts[part.Request], part)
	}
	for i := range rec.SlowRequests {
		row := &rec.SlowRequests[i]
		g := byKey[key{row.Service, row.Protocol, row.Kind}]
		if g == nil || row.InProgress {
			continue
		}
		a := &asked{row: row, parts: parts[row.ID], spent: map[bucket]float64{}}
		reader.readBuckets(a)
		for i, part := range a.parts {
			a.spent[a.buckets[i]] += float64(part.LengthNs) / 1e9
			if reader.within[part.Where] && part.Class == recording.PartDownstream {
				a.inner += float64(part.LengthNs) / 1e9
			}
		}
		if reader.disturbed(a) {
			reader.left++
			continue
		}
		at[a] = g
		all = append(all, a)
	}
	for _, a := range all {
		reader.joinLoops(a)
		at[a].add(a)
	}
	for _, g := range groups {
		g.finish()
	}
	return groups
}

func (g *group) add(a *asked) {
	seconds := float64(a.row.LatencyNs) / 1e9
	if seconds >= g.over && g.over > 0 {
		g.slow = append(g.slow, a)
		return
	}
	g.ordinary = append(g.ordinary, a)
	weight := float64(max(1, a.row.Weight))
	g.weight += weight
	g.usual += weight * seconds
	g.inner += weight * a.inner
	for b, spent := range a.spent {
		g.spent[b] += weight * spent
	}
}

func (g *group) finish() {
	if g.weight == 0 {
		return
	}
	g.usual /= g.weight
	g.inner /= g.weight
	for b := range g.spent {
		g.spent[b] /= g.weight
	}
}

// extra is what a slow request took more than an ordinary one, in seconds, without what the target's own services took.
func (g *group) extra(a *asked) float64 {
	return float64(a.row.LatencyNs)/1e9 - a.inner - (g.usual - g.inner)
}

func (g *group) meanSlow() float64 {
	sum := 0.0
	for _, a := range g.slow {
		sum += float64(a.row.LatencyNs) / 1e9
	}
	return sum / float64(max(1, len(g.slow)))
}

func (g *group) told() Slow {
	count := SlowCount{Over: g.over, Usual: g.usual, Kept: len(g.slow), Count: g.kind.above(g.over)}
	if len(g.slow) > 0 {
		count.Mean = g.meanSlow()
	}
	return Slow{Kind: g.kind, Slow: count}
}

// rank gives each cause its share of the time that slow requests took more.
func (r *Result) rank(rec *recording.Recording, reader *reader, groups []*group) {
	blocks := newBlocks(rec.Manifest.WindowNs)
	for _, g := range groups {
		for _, a := range g.slow {
			r.Extra += g.extra(a)
			blocks.add(a, g)
		}
	}
	claims := claimsOf(groups)
	r.Same = sameClasses(groups)
	for _, c := range claims {
		share := blocks.share(c.cause)
		if share.Value < listedShare || c.cause == "" {
			continue
		}
		extra := interval(c.extra, share.Low*r.Extra, share.High*r.Extra)
		suspect := c.suspect(reader, share, extra)
		r.Suspects = append(r.Suspects, suspect)
		r.Stalls = append(r.Stalls, c.stalls())
	}
	if len(r.Suspects) == 0 || r.Suspects[0].Share.Low < leastShare {
		r.Why = "no cause accounts for a fifth of what slow requests took more"
		if len(r.Suspects) > 0 {
			r.Why += fmt.Sprintf(": %s has %.0f %%, between %.0f and %.0f", r.Suspects[0].Cause,
				100*r.Suspects[0].Share.Value, 100*r.Suspects[0].Share.Low, 100*r.Suspects[0].Share.High)
		}
		r.Suspects, r.Stalls = []cause.Suspect{}, []int{}
	}
}

// claim is what one cause has of the extra time.
type claim struct {
	cause  cause.ID
	extra  float64
	places map[bucket]float64
	parts  []*recording.RequestPart
}

// claimsOf adds up the extra time by cause, the largest first.
func claimsOf(groups []*group) []*claim {
	at := map[cause.ID]*claim{}
	for _, g := range groups {
		n := float64(len(g.slow))
		for _, a := range g.slow {
			for b, spent := range a.spent {
				claimAt(at, b.cause).places[b] += spent
			}
		}
		for b, usual := range g.spent {
			claimAt(at, b.cause).places[b] -= usual * n
		}
	}
	var claims []*claim
	for _, c := range at {
		for _, extra := range c.places {
			c.extra += extra
		}
		claims = append(claims, c)
	}
	collectParts(at, groups)
	slices.SortFunc(claims, func(a, b *claim) int {
		return cmp.Or(cmp.Compare(b.extra, a.extra), cmp.Compare(a.cause, b.cause))
	})
	return claims
}

func claimAt(at map[cause.ID]*claim, id cause.ID) *claim {
	if at[id] == nil {
		at[id] = &claim{cause: id, places: map[bucket]float64{}}
	}
	return at[id]
}

// interval makes a share.
func interval(value, low, high float64) compare.Interval {
	return compare.Interval{Value: value, Low: low, High: high}
}
