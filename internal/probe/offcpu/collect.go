package offcpu

import (
	"errors"
	"slices"
	"sort"
	"strings"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/syscalls"
	"culprit/internal/probe/unwind"
	"culprit/recording"
)

// joinWithinNs is how long after the switch-out was timed its unwound stack may
// carry its own time: the two programs run in the same switch, a few µs apart;
// an interrupt or a stolen CPU can come between.
const joinWithinNs = 2_000_000

// collection turns events and totals of one window into rows.
type collection struct {
	window *bpf.Window
	stacks map[int32][]uint64 // kernel addresses by id, leaf first
	named  map[int32][]*recording.Frame
	traces bpf.ThreadTraces
	users  map[signed][]*weighted // user stacks seen for a signature
	// releases are the user stacks of those who ended long waits for a futex.
	releases map[release][]*recording.Frame
	rhythms  map[offcpuTotalKey]*offcpuRhythm // by thread, call and signature
	looked   map[offcpuTotalKey][]lookedAt    // by place: the key without its stack
}

type signed struct {
	tid       int32
	signature uint32
}

type weighted struct {
	stack  int
	weight float64
	user   []*recording.Frame
	broken bool
}

// Collect moves waits and totals into the window and marks the stacks that were taken at a
// switch-out.
func (s *Session) Collect(window *bpf.Window) error {
	events, over, err := s.ring.Take()
	if err = errors.Join(err, s.failed); err != nil {
		return err
	}
	window.Lose("offcpu: waits over the limit", over)
	c := &collection{window: window, named: map[int32][]*recording.Frame{}, traces: window.TracesByThread(),
		users:    map[signed][]*weighted{},
		releases: map[release][]*recording.Frame{}, looked: map[offcpuTotalKey][]lookedAt{}}
	if c.stacks, err = bpf.TakeKernelStacks(s.collection); err != nil {
		return err
	}
	if c.rhythms, err = s.takeRhythms(); err != nil {
		return err
	}
	s.still = within(s.still, window)
	events = append(within(events, window), s.still...)
	sort.Slice(events, func(i, j int) bool { return events[i].Start < events[j].Start })
	joined := make([]*unwind.Trace, len(events))
	for i := range events {
		joined[i] = c.join(&events[i])
		c.joinRelease(&events[i])
	}
	c.dropBroken()
	c.claimRest()
	window.Recording.Waits = slices.Grow(window.Recording.Waits, s.countWhole(events)) // hundreds of bytes each
	for i := range events {
		if s.isWhole(&events[i]) {
			window.Recording.Waits = append(window.Recording.Waits, c.wait(&events[i], joined[i]))
		}
	}
	for i := range s.still {
		event := &s.still[i]
		c.addTotal(offcpuTotalKey{Tgid: event.Tgid, Tid: event.Tid, Stack: event.Stack, Call: event.Call,
			State: event.State, Signature: event.Signature},
			1, float64(event.BlockedNs+event.RunqueueNs))
	}
	c.addWakeups()
	if err := errors.Join(s.takeTotals(c), s.takeRests(c), s.takeLocks(c)); err != nil {
		return err
	}
	s.misses.Take(window, "offcpu", s.collection)
	return window.TakeLosses(s.collection.Maps["losses"], "offcpu: waits dropped",
		"offcpu: times a place did not fit (the time is kept with its process, without a stack)",
		"offcpu: kernel stacks that did not fit", "offcpu: switches without an unwinder",
		"offcpu: user stacks left out to keep the cost down (their times are exact)",
		"offcpu: places whose rhythm did not fit", "offcpu: futexes that did not fit",
		"offcpu: wakers that could not be watched")
}

// isWhole tells a stay that is long enough to be kept whole; the others came to bring the stack
// that was unwound there.
func (s *Session) isWhole(event *offcpuWaitEvent) bool {
	return event.BlockedNs+event.RunqueueNs >= s.waitNs
}

func (s *Session) countWhole(events []offcpuWaitEvent) (count int) {
	for i := range events {
		if s.isWhole(&events[i]) {
			count++
		}
	}
	return count
}

// within drops what came from before the window, a straggler of the one before, or from after it,
// and clips what went on beyond its end: between the end and the last program's detachment lie
// milliseconds.
func within(events []offcpuWaitEvent, window *bpf.Window) []offcpuWaitEvent {
	kept := events[:0]
	for _, event := range events {
		if start := int64(event.Start); start >= window.StartNs && start < window.EndNs {
			clip(&event, window.EndNs)
			kept = append(kept, event)
		}
	}
	return kept
}

// clip ends a stay that was not over with the window.
func clip(event *offcpuWaitEvent, endNs int64) {
	end := uint64(endNs)
	woken := event.Start + event.BlockedNs
	back := woken + event.RunqueueNs
	if back <= end {
		return
	}
	woken = min(woken, end)
	event.BlockedNs, event.RunqueueNs = woken-event.Start, end-woken
}

// join finds the stack that was unwound at this switch-out.
func (c *collection) join(event *offcpuWaitEvent) *unwind.Trace {
	if event.Sampled != 1 {
		return nil
	}
	start := int64(event.Start)
	end := start + int64(event.BlockedNs+event.RunqueueNs)
	trace := c.traces.First(int32(event.Tid), start, min(start+joinWithinNs, end))
	if trace == nil {
		return nil
	}
	trace.LeftCPU = true
	user, _ := c.window.Unwinder.Frames(trace.Stack)
	c.remember(event, trace.Stack, user)
	return trace
}

func (c *collection) remember(event *offcpuWaitEvent, stack int, user []*recording.Frame) {
	key := signed{int32(event.Tid), event.Signature}
	weight := float64(event.Weight) * float64(event.BlockedNs+event.RunqueueNs)
	for _, known := range c.users[key] {
		if known.stack == stack {
			known.weight += weight
			return
		}
	}
	c.users[key] = append(c.users[key], &weighted{stack: stack, weight: weight, user: user, broken: isBroken(user)})
}

// isBroken tells a user stack that does not reach its root, root first.
func isBroken(user []*recording.Frame) bool {
	if len(user) == 0 {
		return true
	}
	_, broken := user[0].Broken()
	return broken
}

// dropBroken forgets stacks that broke where the same signature has whole ones:
// the first stacks of a program break, while the unwinder gets to know it.
func (c *collection) dropBroken() {
	for key, users := range c.users {
		whole := slices.DeleteFunc(slices.Clone(users), func(user *weighted) bool { return user.broken })
		if len(whole) > 0 {
			c.users[key] = whole
		}
	}
}

// claimRest marks stacks of switch-outs that never came back within the window:
// the thread was still off the CPU at its end.
func (c *collection) claimRest() {
	if c.window.Unwinder == nil {
		return
	}
	for i := range c.window.Traces {
		trace := &c.window.Traces[i]
		if trace.LeftCPU {
			continue
		}
		_, kernel := c.window.Unwinder.Frames(trace.Stack)
		trace.LeftCPU = slices.ContainsFunc(kernel, isHook) || len(kernel) > 0 && isSwitch(kernel[len(kernel)-1].Name)
	}
}

// isHook tells a frame of the tracepoints that the unwinder is called from: they run with
// interrupts off, so the sampling clock never lands there.
func isHook(frame *recording.Frame) bool {
	return strings.HasPrefix(frame.Name, "__bpf_trace_sched_") || strings.HasPrefix(frame.Name, "__traceiter_sched_")
}

// isSwitch tells a leaf that only the switch-out event has: the scheduler runs
// it with interrupts off, so the sampling clock never lands there.
func isSwitch(leaf string) bool {
	return leaf == "__schedule" || strings.HasPrefix(leaf, "__perf_event_task_sched_out") ||
		strings.HasPrefix(leaf, "perf_event_task_sched_out") || strings.HasPrefix(leaf, "prepare_task_switch")
}

func (c *collection) wait(event *offcpuWaitEvent, trace *unwind.Trace) recording.Wait {
	wait := recording.Wait{
		TimeNs: c.window.Since(event.Start), BlockedNs: int64(event.BlockedNs), RunqueueNs: int64(event.RunqueueNs),
		Pid: int32(event.Tgid), Tid: int32(event.Tid), State: stateName(event.State),
		Syscall: syscalls.Name(event.Call), Object: event.Object, WakerStack: recording.NoStack,
		WakerPid: int32(event.WakerTgid), WakerTid: int32(event.WakerTid), WakerComm: bpf.Text(event.WakerComm[:]),
		RunnerPid: int32(event.RunnerTgid), RunnerComm: bpf.Text(event.RunnerComm[:]),
	}
	kernel := c.kernelFrames(event.Stack)
	wait.Stack = c.window.Stack(c.userOf(wait.Tid, event.Signature, trace), kernel)
	waker := c.kernelFrames(event.WakerStack)
	wait.WakerKind = c.wakerKind(event, waker)
	wait.WakerStack = c.window.Stack(nil, fromInterrupt(waker))
	if wait.WakerKind != recording.WakerThread && wait.WakerKind != recording.WakerKernel {
		wait.WakerPid, wait.WakerTid, wait.WakerComm = 0, 0, "" // whoever was interrupted
		return wait
	}
	if wait.WakerComm == "" { // a short sleep and then a long wait for a CPU
		wait.WakerComm = c.window.Comm[wait.WakerPid]
	}
	c.addHop(&wait, &event.Hop)
	return wait
}

// userOf gives the user stack that was unwound at this very switch, or else the
// one that was seen most often for the signature.
func (c *collection) userOf(tid int32, signature uint32, trace *unwind.Trace) []*recording.Frame {
	var best *weighted
	for _, candidate := range c.users[signed{tid, signature}] {
		if trace != nil && candidate.stack == trace.Stack {
			return candidate.user
		}
		if best == nil || candidate.weight > best.weight {
			best = candidate
		}
	}
	if best == nil {
		return nil
	}
	return best.user
}

// kernelFrames names a kernel stack, root first, without the switch itself.
func (c *collection) kernelFrames(id int32) []*recording.Frame {
	if id < 0 {
		return nil
	}
	if known, ok := c.named[id]; ok {
		return known
	}
	frames := c.window.KernelFrames(c.stacks[id])
	for len(frames) > 0 && isSwitch(frames[len(frames)-1].Name) {
		frames = frames[:len(frames)-1]
	}
	c.named[id] = frames
	return frames
}
