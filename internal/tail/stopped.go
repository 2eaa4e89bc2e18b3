package tail

import (
	"cmp"
	"regexp"
	"slices"
	"sort"
	"strings"

	"culprit/internal/cause"
	"culprit/internal/compare/perrun"
	"culprit/recording"
)

// A JVM stops its threads for an operation of its VM Thread (vmOperation.hpp): collections that the
// program's garbage brings about, and what somebody asks for, as jcmd, an agent or System.gc() do.
var (
	operation    = regexp.MustCompile(`\b(VM_\w+)::doit\b`)
	byAllocation = regexp.MustCompile(`ForAllocation|FailedAllocation|ForMetadata|^VM_G1(Pause|Concurrent|TryInitiate)|` +
		`^VM_[XZ]|^VM_Shenandoah`)
)

// tellStop says for what a JVM stopped its threads.
func (c *claim) tellStop(s *cause.Suspect) {
	times, all := map[string]int64{}, int64(0)
	for _, part := range c.parts {
		all += part.LengthNs
		if name := part.reader.operationAt(part.TimeNs, part.TimeNs+part.LengthNs); name != "" {
			times[name] += part.LengthNs
		}
	}
	name, most := perrun.Largest(times)
	if 2*most <= all {
		return
	}
	s.Places = append([]cause.Place{{Kind: cause.InCode, Role: cause.StoppedFor, Name: name}}, s.Places...)
	s.Places = s.Places[:min(len(s.Places), placesMax)]
	if byAllocation.MatchString(name) {
		return
	}
	s.Claim = "the JVM stops its threads for what it was asked for"
	s.Remedy = "find who asks for it (jcmd, jmap, an agent, System.gc()), and have it ask less often"
}

// operationAt is what the VM Thread of the target's JVM was at for most of a time, by where it ran
// or waited; "" where that is not known.
func (r *reader) operationAt(from, to int64) string {
	times := map[string]int64{}
	for tid, seen := range r.stoppers() {
		i := sort.Search(len(seen), func(i int) bool { return seen[i].TimeNs >= from-r.rec.Manifest.SliceNs })
		for ; i < len(seen) && seen[i].TimeNs < to; i++ {
			times[seen[i].operation] += seen[i].ValueNs
		}
		if longest := r.longest(tid, from, to); longest != nil {
			times[r.operation(longest.Stack)] += min(longest.BlockedNs, to-from)
		}
	}
	delete(times, "")
	name, _ := perrun.Largest(times)
	return name
}

// operation is that of a JVM which a stack is in, "" for none.
func (r *reader) operation(stack int32) string {
	for _, frame := range slices.Backward(r.stack(stack)) {
		if found := operation.FindStringSubmatch(frame.Name); found != nil {
			return found[1]
		}
	}
	return ""
}

// operating is a sample of a thread that stops all others, in an operation.
type operating struct {
	*recording.Sample
	operation string
}

// stoppers are the threads that stop all others, with their samples in operations in order of time.
func (r *reader) stoppers() map[int32][]operating {
	if r.stops != nil {
		return r.stops
	}
	r.stops = map[int32][]operating{}
	for i := range r.rec.Threads {
		if thread := &r.rec.Threads[i]; strings.TrimSpace(thread.Comm) == jvmStopper {
			r.stops[thread.Tid] = nil
		}
	}
	for i := range r.rec.Samples {
		sample := &r.rec.Samples[i]
		if _, is := r.stops[sample.Tid]; !is || sample.Signal != recording.SignalCPU {
			continue
		}
		if name := r.operation(sample.Stack); name != "" {
			r.stops[sample.Tid] = append(r.stops[sample.Tid], operating{sample, name})
		}
	}
	for _, seen := range r.stops {
		slices.SortFunc(seen, func(a, b operating) int { return cmp.Compare(a.TimeNs, b.TimeNs) })
	}
	return r.stops
}
