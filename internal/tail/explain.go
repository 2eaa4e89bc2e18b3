package tail

import (
	"fmt"
	"time"

	"culprit/internal/cause"
	"culprit/recording"
)

// Options say what is slow.
type Options struct {
	Over  time.Duration // requests that took as long; 0: the Worst share of each kind
	Worst float64       // 0: 1 %
}

const (
	worstDefault = 0.01
	// flat is how many times as long as ordinary requests the slow ones take at least: below it the
	// slowest are what any spread has, and there is nothing to explain.
	flat = 2.0
	// leastExtra is what a slow request takes more at least, in seconds: below it the host's own
	// noise is as long.
	leastExtra = 300e-6
	// leastShare is what a suspect accounts for at least, as surely as the slices of time tell.
	leastShare  = 0.2
	listedShare = 0.05
	leastSlow   = 3 // requests
)

// asked is a request in full with what its stretches speak for.
type asked struct {
	row    *recording.SlowRequest
	reader *reader // of its recording
	weight float64 // how many slow ones it counts for
	parts  []*recording.RequestPart
	// buckets are by part.
	buckets []bucket
	spent   map[bucket]float64 // seconds
	// inner is what was waited for answers of the target's own services, whose requests tell of it:
	// seconds.
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
	var all []*asked
	for _, g := range slow {
		all = append(all, g.slow...)
	}
	shareStandstill(all)
	count := len(all)
	switch {
	case len(groups) == 0:
		r.Why = "no request was answered"
	case len(slow) == 0:
		r.Why = fmt.Sprintf("the tail is flat: no kind has slow requests that take %g times as long as ordinary ones", flat)
	case count < leastSlow:
		r.Why = fmt.Sprintf("only %d slow requests: record for longer", count)
	default:
		r.rank(reader, slow)
	}
	return r
}

// groupsOf sorts the requests in full by kind, and into slow and ordinary ones.
func groupsOf(rec *recording.Recording, reader *reader, options Options) []*group {
	type key struct{ service, protocol, kind string }
	byKey := map[key]*group{}
	var groups []*group
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
	of := func(row *recording.SlowRequest) *group { return byKey[key{row.Service, row.Protocol, row.Kind}] }
	for _, a := range reader.readAll(func(row *recording.SlowRequest) bool { return of(row) != nil }) {
		of(a.row).add(a)
	}
	for _, g := range groups {
		g.finish()
	}
	return groups
}

// readAll reads the answered requests in full that are wanted, without those that the recorder
// itself held up.
func (r *reader) readAll(wanted func(*recording.SlowRequest) bool) (all []*asked) {
	for i := range r.rec.SlowRequests {
		row := &r.rec.SlowRequests[i]
		if row.InProgress || !wanted(row) {
			continue
		}
		a := &asked{row: row, reader: r, weight: 1, parts: r.parts[row.ID], spent: map[bucket]float64{}}
		r.addUnsent(a)
		r.readBuckets(a)
		for i, part := range a.parts {
			a.spent[a.buckets[i]] += float64(part.LengthNs) / 1e9
			if r.within[part.Where] && part.Class == recording.PartDownstream {
				a.inner += float64(part.LengthNs) / 1e9
			}
		}
		if r.disturbed(a) {
			r.left++
			continue
		}
		all = append(all, a)
	}
	for _, a := range all {
		r.joinLoops(a)
	}
	return all
}

func (g *group) add(a *asked) {
	if a.seconds() >= g.over && g.over > 0 {
		g.slow = append(g.slow, a)
		return
	}
	g.addOrdinary(a)
}

func (g *group) addOrdinary(a *asked) {
	g.ordinary = append(g.ordinary, a)
	weight, seconds := float64(max(1, a.row.Weight)), a.seconds()
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

// extra is what a slow request took more than an ordinary one, in seconds, without what the
// target's own services took.
func (g *group) extra(a *asked) float64 {
	return a.seconds() - a.inner - (g.usual - g.inner)
}

func (g *group) meanSlow() float64 {
	sum := 0.0
	for _, a := range g.slow {
		sum += a.seconds()
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
