package tail

import (
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
	add := func(stack int32, ns int64) {
		for _, frame := range slices.Backward(r.stack(stack)) {
			if found := operation.FindStringSubmatch(frame.Name); found != nil {
				times[found[1]] += ns
				return
			}
		}
	}
	for tid, samples := range r.stoppers() {
		i := sort.Search(len(samples), func(i int) bool { return samples[i].TimeNs >= from-r.rec.Manifest.SliceNs })
		for ; i < len(samples) && samples[i].TimeNs < to; i++ {
			add(samples[i].Stack, samples[i].ValueNs)
		}
		if longest := r.longest(tid, from, to); longest != nil {
			add(longest.Stack, min(longest.BlockedNs, to-from))
		}
	}
	name, _ := perrun.Largest(times)
	return name
}

// stoppers are the threads that stop all others, with their samples in order of time.
func (r *reader) stoppers() map[int32][]*recording.Sample {
	if r.stops != nil {
		return r.stops
	}
	r.stops = map[int32][]*recording.Sample{}
	for i := range r.rec.Threads {
		if thread := &r.rec.Threads[i]; strings.TrimSpace(thread.Comm) == jvmStopper {
			r.stops[thread.Tid] = nil
		}
	}
	for i := range r.rec.Samples {
		sample := &r.rec.Samples[i]
		if _, is := r.stops[sample.Tid]; is && sample.Signal == recording.SignalCPU {
			r.stops[sample.Tid] = append(r.stops[sample.Tid], sample)
		}
	}
	for _, samples := range r.stops {
		slices.SortFunc(samples, func(a, b *recording.Sample) int { return int(a.TimeNs - b.TimeNs) })
	}
	return r.stops
}
