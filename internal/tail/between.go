package tail

import (
	"fmt"
	"math"
	"slices"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/units"
	"culprit/recording"
)

const (
	// slowestLeft is the part of the slow requests, the slowest of them, that says more about
	// higher percentiles: their length depends on what else the host did. Chosen.
	slowestLeft = 0.25
	// bandLeast is how many slow requests of a side are kept in full at least: of fewer one stall
	// may be all. Chosen.
	bandLeast = 10
	// asAll is the part of the CPU time which slow requests use more that all requests have, from
	// which on it is theirs. Chosen.
	asAll = 0.5
	// mixed is the part of the slow requests of a side by which two kinds differ that are not the
	// same mix. Chosen.
	mixed = 0.5
)

// Difference is why the slow requests of one side take longer than those of another.
type Difference struct {
	Suspects []cause.Suspect // none where Why says why
	Why      string
	// OfAll: slow requests run for longer, and all requests do by half as much at least. Of what
	// all of them run more is known than of the few slow ones.
	OfAll bool
	// Kind is what the slow requests of the dearer side are mostly, and those of the other are not;
	// "" where they are alike.
	Kind string
}

// ofPeers are the causes of time that is spent waiting for other services.
var ofPeers = []cause.ID{cause.DownstreamSlow, cause.NetReconnect}

// amplified are the causes of waits that grow by more than what the program does more: requests
// queue for what others take longer for. What these are busy with says why.
var amplified = []cause.ID{cause.CodeGrew, cause.RequestQueued, cause.LoopBlocked, cause.LockContended,
	cause.CPUStarved, cause.CPUThrottled, cause.RuntimeGC}

// mostOfWaits is the part of what requests take longer that one way of waiting is at least where
// that is what made them slower: the larger part.
const mostOfWaits = 0.5

// OfPeers reports whether waiting for other services is most of the difference: what a service's
// own threads are busy with tells nothing of it.
func (d *Difference) OfPeers() bool {
	return d.firstIsMost() && slices.Contains(ofPeers, d.Suspects[0].Cause)
}

// OfWaits reports whether one way of waiting is most of the difference that is as long as what the
// program waits for: a sleep, a disk, a page.
func (d *Difference) OfWaits() bool {
	return d.firstIsMost() && !slices.Contains(amplified, d.Suspects[0].Cause)
}

func (d *Difference) firstIsMost() bool {
	return len(d.Suspects) > 0 && d.Suspects[0].Share.Value >= mostOfWaits
}

// What Between is asked of all requests: of their latency, or of that and what their answers lay in
// sockets for.
const (
	All       = "mean"
	Delivered = units.Delivery
)

// Between says where the slow requests of a side take longer than those of another one: those at
// and above a percentile ("p99"), but for the slowest quarter of them. What they are made of adds
// up to about that percentile, so that what changed between them is what changed it. Of All and
// Delivered it says where requests take longer in the mean. Both sides may have several recordings.
func Between(usual, dear []*recording.Recording, percentile string) *Difference {
	share := 1 - units.Percent(percentile)/100
	delivered := percentile == Delivered
	a, b := bandOf(usual, share, delivered), bandOf(dear, share, delivered)
	if fewer := min(len(a.band), len(b.band)); fewer < bandLeast {
		return &Difference{Why: fmt.Sprintf("too few requests at the %s were kept in full: %d of one side, %d of the other, "+
			"and %d tell; record for longer", percentile, len(a.band), len(b.band), bandLeast)}
	}
	shareStandstill(a.band)
	shareStandstill(b.band)
	g := &group{spent: map[bucket]float64{}, slow: b.band}
	for _, one := range a.band {
		g.addOrdinary(one)
	}
	g.finish()
	blocks := newBlocks(b.readers...)
	blocks.than = newBlocks(a.readers...)
	for _, one := range a.band {
		blocks.than.add(one, g)
	}
	count, extra := 0.0, 0.0
	for _, one := range b.band {
		count += one.weight
		extra += one.weight * g.extra(one)
	}
	if extra <= 0 {
		return &Difference{Why: fmt.Sprintf("the requests at the %s that were kept take no longer on that side: the time "+
			"is lost outside of what it waits for and runs", percentile)}
	}
	found := rankOf([]*group{g}, blocks, func(c *claim, share compare.Interval, extra float64) cause.Suspect {
		return c.between(share, extra, count)
	})
	d := &Difference{Suspects: found.suspects, Why: found.why}
	if len(d.Suspects) > 0 {
		first := d.Suspects[0]
		d.OfAll = first.Cause == cause.CodeGrew &&
			b.meanOf(first.Cause)-a.meanOf(first.Cause) >= asAll*first.Seconds.Value
		d.Kind = b.otherThan(a)
	}
	return d
}

// between makes a suspect, in seconds of a slow request, of which there are count.
func (c *claim) between(share compare.Interval, extra, count float64) cause.Suspect {
	each := extra / count
	s := c.suspect(share, interval(c.extra/count, share.Low*each, share.High*each))
	if c.cause == cause.CodeGrew {
		s.Claim = "requests of one side run this for longer than those of the other"
	}
	s.Evidence = []cause.Evidence{{Signal: "requests", Unit: "s/request",
		Text: "time of such a request that belongs to this cause", A: c.usual, B: c.usual + c.extra/count}}
	return s
}

// side is what one side's requests in full are.
type side struct {
	readers []*reader
	all     []*asked
	band    []*asked // that are slow
}

// bandOf reads the requests of a side, and finds those around a percentile, above which is such a
// share.
func bandOf(group []*recording.Recording, share float64, delivered bool) *side {
	s := &side{}
	counts, count := map[int32]int64{}, int64(0)
	for _, rec := range group {
		r := newReader(rec)
		r.delivered = delivered
		if share == 1 {
			r.turns = cause.RequestQueued // one side may wait for more of them
		}
		s.readers = append(s.readers, r)
		for _, kind := range Summarize(rec) {
			if kind.Side == recording.SideServer {
				for bucket, n := range kind.buckets {
					counts[bucket] += n
					count += n
				}
			}
		}
	}
	buckets, _ := InOrder(counts)
	low := quantile(buckets, counts, count, 1-share)
	high := quantile(buckets, counts, count, 1-share*slowestLeft)
	if share == 1 {
		low, high = 0, math.Inf(1)
	}
	for _, r := range s.readers {
		for _, one := range r.readAll(func(*recording.SlowRequest) bool { return true }) {
			one.weight = float64(max(1, one.row.Weight))
			s.all = append(s.all, one)
			// Quantiles are the middles of buckets: the band has both of these whole.
			if seconds := one.seconds(); seconds >= low*(1-halfBucket) && seconds <= high*(1+halfBucket) {
				s.band = append(s.band, one)
			}
		}
	}
	return s
}

// halfBucket is how far the ends of a bucket of latencies are from its middle, as a part of it, at
// most.
const halfBucket = 1.0 / 64

// meanOf is what a request of this side has of a cause, of all that it answered, in seconds.
func (s *side) meanOf(id cause.ID) float64 {
	spent, weight := 0.0, 0.0
	for _, one := range s.all {
		weight += one.weight
		for b, seconds := range one.spent {
			if b.cause == id {
				spent += one.weight * seconds
			}
		}
	}
	return spent / max(1, weight)
}

// otherThan is a kind of requests that most slow ones are of which few are so on the other side; ""
// for none.
func (s *side) otherThan(other *side) string {
	shares, others := s.kinds(), other.kinds()
	for kind, share := range shares {
		if share-others[kind] >= mixed {
			return kind
		}
	}
	return ""
}

// kinds are the parts of the slow requests by kind.
func (s *side) kinds() map[string]float64 {
	parts, weight := map[string]float64{}, 0.0
	for _, one := range s.band {
		parts[one.row.Kind] += one.weight
		weight += one.weight
	}
	for kind := range parts {
		parts[kind] /= weight
	}
	return parts
}
