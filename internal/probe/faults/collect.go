package faults

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/unwind"
	"culprit/recording"
)

// joinWithinNs is how long after a sample its unwound stack may carry its own
// time: the one program calls the other, some microseconds apart.
const joinWithinNs = 200_000

// Collect moves faults and reclaim into the window's samples. It comes before
// the probes that take all stacks that nobody claimed.
func (s *Session) Collect(window *bpf.Window) error {
	samples, over, err := s.ring.Take()
	if err = errors.Join(err, s.failed); err != nil {
		return err
	}
	window.Lose("faults: samples over the limit", over)
	samples = slices.DeleteFunc(samples, func(sample faultsSample) bool {
		return int64(sample.Time) < window.StartNs || int64(sample.Time) >= window.EndNs
	})
	exact, err := s.takeExact()
	if err != nil {
		return err
	}
	stacks := claim(window, samples)
	for _, pid := range slices.Sorted(maps.Keys(exact)) {
		book(window, recording.SignalFault, pid, int64(exact[pid].Minor), stacks[key{pid, 0}])
		book(window, recording.SignalMajor, pid, int64(exact[pid].Major), stacks[key{pid, 1}])
	}
	if err := s.takeReclaims(window); err != nil {
		return err
	}
	s.misses.Take(window, "faults", s.collection)
	return window.TakeLosses(s.collection.Maps["losses"], "faults: samples dropped",
		"faults: processes that did not fit", "faults: samples without an unwinder")
}

// takeExact adds up the faults of each process: of threads that ended, and of those that are there.
func (s *Session) takeExact() (map[uint32]faultsTotal, error) {
	exact := map[uint32]faultsTotal{}
	add := func(pid uint32, part *faultsTotal) {
		sum := exact[pid]
		sum.Minor, sum.Major = sum.Minor+part.Minor, sum.Major+part.Major
		exact[pid] = sum
	}
	if err := bpf.Drain(s.collection.Maps["ended"], add); err != nil {
		return nil, fmt.Errorf("read counts of faults: %w", err)
	}
	for i := range s.remaining {
		part := faultsTotal{Minor: s.remaining[i].Total.Minor, Major: s.remaining[i].Total.Major}
		add(s.remaining[i].Tgid, &part)
	}
	return exact, nil
}

// key is a process and whether its faults were major.
type key struct{ pid, major uint32 }

// stack is one that was unwound, and how many samples it stands for.
type stack struct {
	*unwind.Trace
	weight int64
}

// claim finds the stack of each sample and marks it as taken.
func claim(window *bpf.Window, samples []faultsSample) map[key][]stack {
	traces := window.TracesByThread()
	stacks := map[key][]stack{}
	missing := int64(0)
	for i := range samples {
		sample := &samples[i]
		trace := find(window, traces, sample)
		if trace == nil {
			missing++
			continue
		}
		trace.LeftCPU = true
		at := key{sample.Tgid, sample.Major}
		stacks[at] = append(stacks[at], stack{trace, int64(sample.Weight)})
	}
	window.Lose("faults: samples whose stack did not arrive", missing)
	return stacks
}

// find returns the stack that was unwound for a sample, nil when it did not arrive.
func find(window *bpf.Window, traces bpf.ThreadTraces, sample *faultsSample) *unwind.Trace {
	trace := traces.Unclaimed(int32(sample.Tid), int64(sample.Time), int64(sample.Time)+joinWithinNs)
	if trace == nil {
		return nil
	}
	_, kernel := window.Unwinder.Frames(trace.Stack)
	for _, frame := range kernel {
		if frame.Name == "schedule" || frame.Name == "__schedule" {
			return nil // the thread left the CPU shortly after the fault: that stack is the switch's
		}
	}
	return trace
}

// book spreads the exact count over the stacks that were sampled, without a stack where there is
// none.
func book(window *bpf.Window, signal string, pid uint32, exact int64, stacks []stack) {
	row := recording.Sample{Signal: signal, Pid: int32(pid), Tid: int32(pid), CPU: -1, Stack: recording.NoStack,
		Target: true, Comm: window.Comm[int32(pid)]}
	if exact > 0 && len(stacks) == 0 {
		row.Count = exact
		window.Recording.Samples = append(window.Recording.Samples, row)
	}
	all := int64(0)
	for _, one := range stacks {
		all += one.weight
	}
	seen, booked := int64(0), int64(0)
	for _, one := range stacks {
		seen += one.weight
		row.Count = int64(float64(exact)*float64(seen)/float64(all)) - booked
		booked += row.Count
		if row.Count == 0 {
			continue
		}
		row.Tid, row.CPU, row.TimeNs = one.Tid, one.CPU, window.Slice(one.KtimeNs-window.StartNs)
		row.Stack = window.Stack(window.Unwinder.Frames(one.Trace.Stack))
		window.Recording.Samples = append(window.Recording.Samples, row)
	}
}

// reclaimers are the functions of the kernel whose begin and end are timed, by reclaim_key.group.
var reclaimers = map[uint32]string{0: "try_to_free_pages", 1: "try_to_free_mem_cgroup_pages"}

func (s *Session) takeReclaims(window *bpf.Window) error {
	var rows []recording.Sample
	err := bpf.Drain(s.collection.Maps["reclaims"], func(key faultsReclaimKey, total *faultsReclaim) {
		kernel := []*recording.Frame{{Name: reclaimers[key.Group], Kind: recording.KindKernel}}
		rows = append(rows, recording.Sample{Signal: recording.SignalReclaim, Pid: int32(key.Tgid),
			Tid: int32(key.Tid), CPU: -1, Stack: window.Stack(nil, kernel), Count: int64(total.Count),
			ValueNs: int64(total.TotalNs), Target: true, Comm: window.Comm[int32(key.Tgid)]})
	})
	if err != nil {
		return fmt.Errorf("read times of reclaim: %w", err)
	}
	slices.SortFunc(rows, func(a, b recording.Sample) int { return cmp.Compare(a.Tid, b.Tid) })
	window.Recording.Samples = append(window.Recording.Samples, rows...)
	return nil
}
