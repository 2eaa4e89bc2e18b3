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

// loopsOf finds the processes whose requests are all read by one thread, of which some waited
// behind others there; and those of several threads that are such loops, each for itself.
func loopsOf(rec *recording.Recording) map[int32]bool {
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
			for _, r := range of {
				r.behind = r.behind || r.tids[part.Tid]
			}
		}
	}
	for _, tid := range carriersOf(rec) {
		for _, r := range of {
			r.carry = r.carry || r.tids[tid]
		}
	}
	loops := map[int32]bool{}
	for pid, r := range of {
		loops[pid] = r.areLoops()
	}
	return loops
}

// readers are the threads of a process that read requests.
type readers struct {
	tids        map[int32]bool
	behind      bool // a request waited for one of them that was at another
	carry       bool // they run the tasks of a scheduler
	answered    int
	own         int // answered by who had read them
	interleaved int // while others were in hand
}

func (r *readers) add(row *recording.SlowRequest) {
	r.tids[row.Tid] = true
	if row.Interleaved {
		r.interleaved++
	}
	if row.InProgress {
		return
	}
	r.answered++
	if row.Tid == row.WriterTid {
		r.own++
	}
}

func (r *readers) areLoops() bool {
	if len(r.tids) == 1 {
		return r.behind || r.interleaved > 0
	}
	return !r.carry && r.interleaved >= interleavedLeast && float64(r.own) >= ownLeast*float64(r.answered)
}

// carriersOf are the threads that sleep for tasks of a scheduler.
func carriersOf(rec *recording.Recording) (tids []int32) {
	awaits, seen := map[int32]bool{}, map[int32]bool{}
	for i := range rec.Waits {
		wait := &rec.Waits[i]
		if wait.Stack < 0 || int(wait.Stack) >= len(rec.Stacks) || seen[wait.Tid] {
			continue
		}
		known, ok := awaits[wait.Stack]
		if !ok {
			var frames []recording.Frame
			for _, frame := range rec.Stacks[wait.Stack].Frames {
				frames = append(frames, rec.Frames[frame])
			}
			known = code.AwaitsTasks(frames)
			awaits[wait.Stack] = known
		}
		if known {
			seen[wait.Tid] = true
			tids = append(tids, wait.Tid)
		}
	}
	return tids
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
