package requests

import (
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/cilium/ebpf"

	"culprit/internal/probe/beat"
	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// The window is cut into slices of a second: intervals come from the spread between them. A long
// window has longer ones: when there are maxSlices, two and two become one.
const (
	sliceLength = time.Second
	maxSlices   = 240
)

// sampleRate is how many requests of a kind are handed over in a second beside the slow ones.
const sampleRate = 40

// askedPart: of what a slow request took, an answer that it waited for has at least one part of so
// many.
const askedPart = 4

// learnFrom is how many requests of a kind tell what is slow for it.
const learnFrom = 200

// tally is what was counted of one kind so far, or in one slice.
type tally struct {
	sums    requestsKindSums
	buckets map[int32]int64
	count   int64
	asks    bool // it is of what the target asks of others
}

// slice is what was counted in a stretch of the window.
type slice struct {
	fromNs, toNs int64 // CLOCK_MONOTONIC
	kinds        map[uint32]tally
	// Where only a part of it was watched: from when on, and for how long; 0: all of it.
	atNs, watchedNs int64
}

// newWatch begins to watch; what came after the window before this one, if that was carried on, is
// in the first slice.
func (s *Session) newWatch(before *carried) *watch {
	w := &watch{session: s, done: make(chan struct{}), ended: make(chan struct{}), before: map[uint32]tally{},
		beganNs: s.shared.StartNs, goroutines: s.newGoroutines()}
	if before != nil {
		w.before, w.beganNs = before.kinds, before.toNs
	}
	if s.isSliced() {
		go w.runSliced()
	} else {
		go w.run()
	}
	return w
}

// stop ends the watching.
func (w *watch) stop() {
	w.once.Do(func() { close(w.done) })
	<-w.ended
}

func (w *watch) run() {
	defer close(w.ended)
	defer w.goroutines.stop()
	from, length := w.beganNs, sliceLength
	for look := 0; ; look++ {
		pause := beat.Length // at first what is slow is learned soon
		if look >= 10 {
			pause = sliceLength
		}
		select {
		case <-w.done:
			return
		case <-beat.After(pause):
		}
		if _, err := w.session.sweep(); err != nil {
			w.failed = errors.Join(w.failed, err)
			return
		}
		now := bpf.Now()
		whole := time.Duration(now-from) >= length-beat.Length/2
		w.failed = errors.Join(w.failed, w.look(from, now, whole), w.goroutines.find())
		if w.failed != nil {
			return
		}
		if whole {
			from = now
		}
		if len(w.slices) >= maxSlices {
			w.slices, length = pairwise(w.slices), 2*length
		}
	}
}

// look reads what was counted; at the end of a slice it is kept.
func (w *watch) look(fromNs, toNs int64, whole bool) error {
	kinds, err := w.session.tallies()
	if err != nil {
		return err
	}
	for at, now := range kinds {
		if err := w.session.limit(at, now, w.before[at], time.Duration(toNs-fromNs)); err != nil {
			return err
		}
	}
	if whole {
		w.cut(fromNs, toNs, kinds)
	}
	return nil
}

// cut ends a slice.
func (w *watch) cut(fromNs, toNs int64, kinds map[uint32]tally) {
	w.cutSlice(slice{fromNs: fromNs, toNs: toNs}, kinds)
}

func (w *watch) cutSlice(next slice, kinds map[uint32]tally) {
	next.kinds = map[uint32]tally{}
	for at, now := range kinds {
		if grown := now.minus(w.before[at]); grown.count > 0 {
			next.kinds[at] = grown
		}
	}
	w.slices, w.before = append(w.slices, next), kinds
}

// limit sets what is handed over of a kind: those that are slow among all so far, and a sample of
// the others.
func (s *Session) limit(at uint32, now, before tally, since time.Duration) error {
	limit := requestsLimit{OverNs: uint64(s.shared.Options.Over)}
	if now.asks {
		limit.OverNs /= askedPart
	}
	if limit.OverNs == 0 && now.count >= learnFrom {
		limit.OverNs = uint64(now.slowFrom(s.shared.Options.Worst))
	}
	if now.count < learnFrom {
		return nil // all of them are handed over
	}
	rate := float64(now.count-before.count) / max(since.Seconds(), 1e-3)
	if one := uint32(rate / sampleRate); one > 1 {
		limit.SampleMask = 1<<bits.Len32(one-1) - 1
	}
	if err := s.collection.Maps["limits"].Update(at, limit, ebpf.UpdateExist); err != nil {
		return fmt.Errorf("set what is slow: %w", err)
	}
	return nil
}

// tallies reads what was counted of every kind since the window's begin.
func (s *Session) tallies() (map[uint32]tally, error) {
	var used uint32
	if err := s.collection.Variables["kinds_used"].Get(&used); err != nil {
		return nil, fmt.Errorf("read requests: %w", err)
	}
	kinds := map[uint32]tally{}
	var kind requestsKind
	for at := uint32(1); at < min(used, s.collection.Maps["kinds"].MaxEntries()); at++ {
		if err := s.collection.Maps["kinds"].Lookup(at, &kind); err != nil {
			return nil, fmt.Errorf("read requests: %w", err)
		}
		var perCPU []requestsKindSums
		if err := s.collection.Maps["sums"].Lookup(at, &perCPU); err != nil {
			return nil, fmt.Errorf("read requests: %w", err)
		}
		counted := tally{buckets: map[int32]int64{}, asks: s.asks(kind.Service)}
		for bucket, count := range kind.Latency {
			if count > 0 {
				counted.buckets[int32(bucket)] = int64(count)
				counted.count += int64(count)
			}
		}
		for i := range perCPU {
			addSums(&counted.sums, &perCPU[i], 1)
		}
		kinds[at] = counted
	}
	return kinds, nil
}

// asks tells a service that the target asks.
func (s *Session) asks(at uint32) bool {
	var service requestsService
	return s.collection.Maps["services"].Lookup(at, &service) == nil && service.Key.Role == roleClient
}

// crowd is how many times as many requests as are to be slow may be handed over as slow.
const crowd = 3

// slowFrom is where the slowest share begins: at the lower end of the bucket that holds it, since
// many requests that wait for the same thing take about as long, and at its upper end where that
// would be too many.
func (t tally) slowFrom(share float64) int64 {
	rank, seen := int64((1-share)*float64(t.count-1))+1, int64(0)
	for _, bucket := range sortedKeys(t.buckets) {
		before := seen
		if seen += t.buckets[bucket]; seen < rank {
			continue
		}
		low, high := recording.LatencyOf(bucket)
		if float64(t.count-before) <= crowd*share*float64(t.count) {
			return low
		}
		return high
	}
	return 0
}

func (t tally) minus(before tally) tally {
	grown := tally{sums: t.sums, buckets: map[int32]int64{}, count: t.count - before.count}
	addSums(&grown.sums, &before.sums, ^uint64(0)) // times -1
	for bucket, count := range t.buckets {
		if more := count - before.buckets[bucket]; more > 0 {
			grown.buckets[bucket] = more
		}
	}
	return grown
}

func (t tally) plus(later tally) tally {
	sum := tally{sums: t.sums, buckets: map[int32]int64{}, count: t.count + later.count}
	addSums(&sum.sums, &later.sums, 1)
	for _, one := range []tally{t, later} {
		for bucket, count := range one.buckets {
			sum.buckets[bucket] += count
		}
	}
	return sum
}

// addSums adds other times a factor, which may be -1: unsigned numbers wrap.
func addSums(to, other *requestsKindSums, factor uint64) {
	for _, add := range []struct {
		to *uint64
		by uint64
	}{{&to.Errors, other.Errors}, {&to.BytesIn, other.BytesIn}, {&to.BytesOut, other.BytesOut},
		{&to.WaitNs, other.WaitNs}, {&to.UploadNs, other.UploadNs}, {&to.ServeNs, other.ServeNs},
		{&to.AnswerNs, other.AnswerNs}, {&to.UnsentNs, other.UnsentNs}, {&to.TotalNs, other.TotalNs},
		{&to.Handed, other.Handed}, {&to.HandedNs, other.HandedNs}, {&to.Interleaved, other.Interleaved},
		{&to.Unfollowed, other.Unfollowed}, {&to.UnfollowedNs, other.UnfollowedNs}, {&to.DownstreamNs, other.DownstreamNs}} {
		*add.to += add.by * factor
	}
	for i := range to.SpentNs {
		to.SpentNs[i] += other.SpentNs[i] * factor
	}
}

// pairwise makes one slice of two.
func pairwise(slices []slice) []slice {
	var halved []slice
	for i := 0; i < len(slices); i += 2 {
		if i+1 == len(slices) {
			halved = append(halved, slices[i])
			break
		}
		one, two := slices[i], slices[i+1]
		both := slice{fromNs: one.fromNs, toNs: two.toNs, kinds: map[uint32]tally{}, atNs: one.atNs,
			watchedNs: one.watchedNs + two.watchedNs}
		for at, counted := range one.kinds {
			both.kinds[at] = counted
		}
		for at, counted := range two.kinds {
			both.kinds[at] = both.kinds[at].plus(counted)
		}
		halved = append(halved, both)
	}
	return halved
}
