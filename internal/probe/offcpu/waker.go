package offcpu

import (
	"strings"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// stateName gives the letter that ps shows for a state of the scheduler.
func stateName(state uint32) string {
	switch {
	case state == 0:
		return "R"
	case state&2 != 0: // TASK_UNINTERRUPTIBLE, with or without TASK_NOLOAD, TASK_WAKEKILL
		return "D"
	case state&1 != 0:
		return "S"
	case state&(4|8) != 0:
		return "T"
	default:
		return "X"
	}
}

// timerFrames are in the stack of a waking that a timer's expiry made.
var timerFrames = []string{"hrtimer_wakeup", "process_timeout", "posix_timer_fn", "it_real_fn", "alarm_timer",
	"hrtimer_interrupt", "__hrtimer_run_queues", "call_timer_fn", "timerfd_tmrproc"}

// interruptFrames are the entries of stacks that did not belong to the running
// thread. Softirq frames are not among them: on loopback the sender itself runs them.
var interruptFrames = []string{"asm_sysvec", "asm_common_interrupt", "sysvec_", "common_interrupt", "irq_exit_rcu"}

func wakerKind(event *offcpuWaitEvent, waker []*recording.Frame) string {
	switch {
	case event.Still != 0 && event.BlockedNs > 0 && event.RunqueueNs == 0:
		return recording.WakerPending
	case event.State == 0 || event.WakerTid == 0 && event.BlockedNs == 0:
		return recording.WakerNone
	}
	kind := kindOfWaking(event.WakerTid, waker)
	if kind == recording.WakerThread && event.WakerKernel != 0 {
		return recording.WakerKernel
	}
	return kind
}

// wakerKind tells who ended a wait; where that waking was not looked at, by what most of those at
// its place were.
func (c *collection) wakerKind(event *offcpuWaitEvent, waker []*recording.Frame) string {
	kind := wakerKind(event, waker)
	if event.WakerStack != notTaken || kind != recording.WakerThread {
		return kind
	}
	rhythm := c.rhythms[offcpuTotalKey{Tgid: event.Tgid, Tid: event.Tid, Call: event.Call, Stack: -1,
		Signature: event.Signature}]
	if rhythm == nil {
		return kind
	}
	return c.kindOfMost(rhythm)
}

// kindOfWaking tells a timer, an interrupt and a thread apart by the stack that woke.
func kindOfWaking(waker uint32, stack []*recording.Frame) string {
	switch {
	case hasFrame(stack, timerFrames):
		return recording.WakerTimer
	case hasFrame(stack, interruptFrames), waker == 0:
		return recording.WakerInterrupt
	}
	return recording.WakerThread
}

// fromInterrupt drops what an interrupt interrupted: it has nothing to do with the waking.
func fromInterrupt(waker []*recording.Frame) []*recording.Frame {
	for i := len(waker) - 1; i >= 0; i-- {
		if hasFrame(waker[i:i+1], interruptFrames[:2]) {
			return waker[i:]
		}
	}
	return waker
}

func hasFrame(frames []*recording.Frame, prefixes []string) bool {
	for _, frame := range frames {
		for _, prefix := range prefixes {
			if strings.HasPrefix(frame.Name, prefix) {
				return true
			}
		}
	}
	return false
}

// addHop enters what the waker had itself waited for.
func (c *collection) addHop(wait *recording.Wait, hop *offcpuSleep) {
	if hop.Woken == 0 || hop.SleptNs == 0 {
		return
	}
	wait.HopNs, wait.HopStack = int64(hop.SleptNs), c.window.Stack(nil, c.kernelFrames(hop.Stack))
	if kindOfWaking(hop.WakerTid, c.kernelFrames(hop.WakerStack)) == recording.WakerThread {
		wait.HopComm = bpf.Text(hop.WakerComm[:])
	}
}
