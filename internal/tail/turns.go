package tail

import (
	"cmp"
	"slices"

	"culprit/internal/cause"
	"culprit/internal/code"
	"culprit/recording"
)

const (
	// ownLeast is the part of their requests that threads answer themselves which are event loops,
	// each with connections of its own: from a pool another one may answer. Chosen.
	ownLeast = 0.95
	// interleavedLeast are the requests that several loops read while they had others in hand, to be
	// held for such. Chosen.
	interleavedLeast = 5
)

// findLoops finds the processes whose requests are all read by one thread, of which some waited
// behind others there; and those of several threads that are such loops, each for itself.
func (r *reader) findLoops() {
	rec := r.rec
	of := map[int32]*readers{}
	for i := range rec.SlowRequests {
		row := &rec.SlowRequests[i]
		if of[row.Pid] == nil {
			of[row.Pid] = &readers{tids: map[int32]bool{}}
		}
		of[row.Pid].add(row)
	}
	for i := range rec.RequestParts {
		if part := &rec.RequestParts[i]; part.Behind != 0 {
			for _, one := range of {
				one.behind = one.behind || one.tids[part.Tid]
			}
		}
	}
	for pid, one := range of {
		r.loops[pid] = r.areLoops(one)
	}
}

// readers are the threads of a process that read requests.
type readers struct {
	tids        map[int32]bool
	behind      bool // a request waited for one of them that was at another
	answered    int
	own         int // answered by who had read them
	interleaved int // while others were in hand
}

func (of *readers) add(row *recording.SlowRequest) {
	of.tids[row.Tid] = true
	if row.Interleaved {
		of.interleaved++
	}
	if row.InProgress {
		return
	}
	of.answered++
	if row.Tid == row.WriterTid {
		of.own++
	}
}

// areLoops tells threads that are event loops from a pool, or from threads with a request each.
func (r *reader) areLoops(of *readers) bool {
	if len(of.tids) == 1 {
		return of.behind || of.interleaved > 0
	}
	if of.interleaved < interleavedLeast || float64(of.own) < ownLeast*float64(of.answered) {
		return false
	}
	for tid := range of.tids {
		if r.carries(tid) {
			return false
		}
	}
	return true
}

// carries tells a thread that sleeps for tasks of a scheduler.
func (r *reader) carries(tid int32) bool {
	return slices.ContainsFunc(r.waitsOf(tid), func(wait *recording.Wait) bool {
		return code.AwaitsTasks(r.stack(wait.Stack))
	})
}

// inHandOf is the median of the time from the first read of a request to its answer, of each
// process.
func inHandOf(rec *recording.Recording) map[int32]int64 {
	rows, inHand := map[int32][]*recording.SlowRequest{}, map[int32]int64{}
	weights := map[int32]int64{}
	for i := range rec.SlowRequests {
		if row := &rec.SlowRequests[i]; !row.InProgress {
			rows[row.Pid] = append(rows[row.Pid], row)
			weights[row.Pid] += max(1, row.Weight)
		}
	}
	time := func(row *recording.SlowRequest) int64 { return row.LatencyNs - row.WaitNs }
	for pid, all := range rows {
		slices.SortFunc(all, func(a, b *recording.SlowRequest) int { return cmp.Compare(time(a), time(b)) })
		seen := int64(0)
		for _, row := range all {
			if seen += max(1, row.Weight); 2*seen >= weights[pid] {
				inHand[pid] = time(row)
				break
			}
		}
	}
	return inHand
}

// readBuckets says what each stretch of a request speaks for.
func (r *reader) readBuckets(a *asked) {
	behind := map[int64]int64{} // how long it waited for each turn of a loop
	for _, part := range a.parts {
		if part.Before {
			behind[part.Behind] += part.LengthNs
		}
	}
	for _, part := range a.parts {
		b := r.bucketOf(part, a.row.Pid)
		if b.cause == cause.LoopBlocked && behind[part.Behind] <= turnLong*r.inHand[a.row.Pid] {
			if b.cause = r.turns; b.cause == "" {
				b = bucket{class: b.class}
			}
		}
		a.buckets = append(a.buckets, b)
	}
	r.byAwaited(a)
	a.nameShort()
}

// turnLong is how many times as long as usual a loop is at one turn at least before it is said to
// be blocked.
const turnLong = 3

// nameShort takes waits too short to be kept, of which only the class and the sum are known, for
// what the request's long waits of the same class were for, where these make up a third of the
// class.
func (a *asked) nameShort() {
	longest, named, all := map[string]int{}, map[string]int64{}, map[string]int64{}
	for i, part := range a.parts {
		if part.Before {
			continue
		}
		all[part.Class] += part.LengthNs
		if part.Syscall == "" || a.buckets[i].cause == "" {
			continue
		}
		named[part.Class] += part.LengthNs
		if best, known := longest[part.Class]; !known || part.LengthNs > a.parts[best].LengthNs {
			longest[part.Class] = i
		}
	}
	for i, part := range a.parts {
		best, known := longest[part.Class]
		if known && !part.Before && part.Syscall == "" && part.Stack == recording.NoStack &&
			part.Class != recording.PartQueued && part.Class != recording.PartCPU && 3*named[part.Class] >= all[part.Class] {
			a.buckets[i] = a.buckets[best]
		}
	}
}

// joinLoops gives the loop's own long work to loop.blocked where others waited behind it.
func (r *reader) joinLoops(a *asked) {
	if !r.loops[a.row.Pid] {
		return
	}
	for i, b := range a.buckets {
		if b.cause == cause.CodeGrew && b.place != "" &&
			r.blocking[bucket{class: b.class, kind: b.kind, place: b.place}] {
			length := float64(a.parts[i].LengthNs) / 1e9
			a.spent[b] -= length
			b.cause = cause.LoopBlocked
			a.spent[b] += length
			a.buckets[i] = b
		}
	}
}
