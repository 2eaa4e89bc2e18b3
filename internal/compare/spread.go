package compare

import (
	"sort"

	"culprit/recording"
)

const (
	// A stretch of so many sample periods with less than this part of the samples that it
	// should have is no running: an event was lost, or the thread's last wait never ended.
	sparsePeriods = 20
	sparsePart    = 0.2
)

// group is a set of threads whose running stretches share their samples: a
// stretch is often shorter than the time between two samples.
type group struct {
	process, comm, parent string
	short, ticking        bool
}

// weighted is the time that samples give to one key.
type weighted struct {
	key    pathKey
	weight float64
	thread *thread // nil where it does not matter
}

// spread gives the running stretches of the critical path to stacks, in
// proportion to the samples that the same threads took within them.
func (r *run) spread(segments []segment) []piece {
	var pieces []piece
	lengths, threads := map[group]int64{}, map[*thread][]segment{}
	var order []group
	for _, s := range segments {
		if r.sparse(s) {
			pieces = append(pieces, r.unknownPiece(s.thread, s.to-s.from))
			continue
		}
		g := r.groupOf(s.thread)
		if lengths[g] == 0 {
			order = append(order, g)
		}
		lengths[g] += s.to - s.from
		threads[s.thread] = append(threads[s.thread], s)
	}
	found := map[group][]weighted{}
	for _, t := range r.threads() {
		if list := threads[t]; len(list) > 0 {
			g := r.groupOf(t)
			found[g] = append(found[g], r.weigh(t, list)...)
		}
	}
	for _, g := range order {
		found[g] = shareLost(found[g])
		total := 0.0
		for _, one := range found[g] {
			total += one.weight
		}
		seconds := float64(lengths[g]) / 1e9
		if total == 0 {
			key := pathKey{kind: Running, stack: recording.NoStack, comm: g.comm, process: g.process, parent: g.parent,
				short: g.short, ticking: g.ticking, wakerStack: recording.NoStack, forStack: recording.NoStack}
			pieces = append(pieces, piece{key: key, seconds: seconds, holder: recording.NoStack})
			continue
		}
		for _, one := range found[g] {
			pieces = append(pieces, piece{key: one.key, seconds: seconds * one.weight / total,
				holder: recording.NoStack})
		}
	}
	return pieces
}

func (r *run) groupOf(t *thread) group {
	key := r.key(t, Running, recording.NoStack)
	return groupOf(&key)
}

func groupOf(key *pathKey) group {
	return group{key.process, key.comm, key.parent, key.short, key.ticking}
}

// weigh returns what the samples of one thread say about its stretches.
func (r *run) weigh(t *thread, segments []segment) []weighted {
	sort.Slice(segments, func(i, j int) bool { return segments[i].from < segments[j].from })
	parts := map[int64]float64{}
	// The part of a slice's samples that fell into the stretches: of the time that the thread ran in it.
	part := func(at int64) float64 {
		known, seen := parts[at]
		if !seen {
			from, to := at*r.sliceNs, (at+1)*r.sliceNs
			ran := r.sliceNs - t.offCPU(from, to)
			known = min(1, float64(overlap(segments, from, to))/max(1, float64(ran)))
			parts[at] = known
		}
		return known
	}
	var list []weighted
	for _, sample := range t.cpu {
		if weight := float64(sample.ValueNs) * part(sample.TimeNs/r.sliceNs); weight > 0 {
			list = append(list, weighted{key: r.key(t, Running, r.stackOf(sample.Stack)), weight: weight})
		}
	}
	left := map[int64]float64{}
	for _, sample := range t.short {
		at := sample.TimeNs / r.sliceNs
		if _, seen := left[at]; !seen {
			left[at] = float64(r.sliceNs)
		}
		// A sample that spans more than its slice says nothing about this one.
		value := min(float64(sample.ValueNs), left[at])
		left[at] -= value
		if weight := value * part(at); weight > 0 {
			list = append(list, weighted{key: r.shortKey(t, sample), weight: weight})
		}
	}
	return list
}

// overlap is how much of a stretch lies within segments, which are in order of time and apart.
func overlap(segments []segment, from, to int64) int64 {
	var sum int64
	for i := sort.Search(len(segments), func(i int) bool { return segments[i].to > from }); i < len(segments); i++ {
		if segments[i].from >= to {
			break
		}
		sum += min(segments[i].to, to) - max(segments[i].from, from)
	}
	return sum
}

// sparse reports whether a stretch has far fewer samples than a thread that runs takes.
func (r *run) sparse(s segment) bool {
	length := float64(s.to - s.from)
	if length < sparsePeriods*r.samplePeriodNs() {
		return false
	}
	seen := 0.0
	for _, list := range [][]*recording.Sample{s.thread.cpu, s.thread.short} {
		from := sort.Search(len(list), func(i int) bool { return list[i].TimeNs+r.sliceNs > s.from })
		for _, sample := range list[from:] {
			if sample.TimeNs >= s.to {
				break
			}
			seen += float64(sample.ValueNs)
		}
	}
	return seen < sparsePart*length
}
