package main

import (
	"fmt"
	"time"

	"culprit/recording"
)

// shortLife tells processes that come and go from those that stay: most of a storm live for
// milliseconds.
const shortLife = 100 * time.Millisecond

// stacks counts the stacks of samples and waits, and those that did not reach their root.
type stacks struct{ all, broken int64 }

func (s stacks) share() float64 { return float64(s.broken) / max(1, float64(s.all)) }

func (s stacks) String() string { return fmt.Sprintf("%.1f %% (%d)", 100*s.share(), s.all) }

func (s *stacks) add(broken bool) {
	s.all++
	if broken {
		s.broken++
	}
}

// stacksOf counts those of processes that began and ended within a recording in less than
// shortLife, and of all others. What has no user stack at all is not counted: its probe says how
// many it left out.
func stacksOf(rec *recording.Recording) (short, long stacks) {
	lived := map[int32]bool{} // by process: whether it was short; ids are seldom used again within a recording
	for i := range rec.Processes {
		p := &rec.Processes[i]
		lived[p.Pid] = p.StartNs > 0 && p.EndNs > 0 && time.Duration(p.EndNs-p.StartNs) < shortLife
	}
	add := func(pid, stack int32) {
		broken, user := false, false
		for _, frame := range rec.StackFrames(stack) {
			_, is := frame.Broken()
			broken, user = broken || is, user || is || frame.Kind != recording.KindKernel
		}
		switch {
		case !user:
		case lived[pid]:
			short.add(broken)
		default:
			long.add(broken)
		}
	}
	for i := range rec.Samples {
		if one := &rec.Samples[i]; one.Signal == recording.SignalCPU && one.Target {
			add(one.Pid, one.Stack)
		}
	}
	for i := range rec.Waits {
		add(rec.Waits[i].Pid, rec.Waits[i].Stack)
	}
	return short, long
}
