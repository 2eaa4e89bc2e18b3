package cause

import (
	"fmt"
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/recording"
)

const (
	// A ticker is suspected when the tree wakes by it so many more times, and so many times as
	// often.
	fewestTicks = 20
	timesTicks  = 2
)

// sleepsIn tells a system call that a program sleeps in when a timer ends it.
func sleepsIn(call string) bool {
	switch call {
	case "nanosleep", "clock_nanosleep", "futex", "futex_wait", "rt_sigtimedwait", "io_uring_enter", "":
		return true
	}
	return code.Polls(call)
}

// kernelDelays are timed sleeps that the kernel imposes: no deliberate act of the program.
var kernelDelays = []string{"balance_dirty_pages", "io_schedule_timeout", "wbt_wait", "reclaim_throttle",
	"blk_throttle"}

// findTicker claims the CPU time of threads that a timer wakes at a fixed rate.
func findTicker(s *scene) []finding {
	ticking := map[string]float64{}
	for _, key := range s.keys(counts.Ticks) {
		ticks := s.count(counts.Ticks, key)
		if ticks.grew(timesTicks, fewestTicks) && s.faster(ticks) && !s.worksPerTick(key, ticks.b) {
			ticking[key] = ticks.more()
		}
	}
	if len(ticking) == 0 {
		return nil
	}
	// A thread that ticks on one side only does the same other work on both.
	same := map[string]bool{}
	for i := range s.paths {
		if s.paths[i].Ticking && ticking[s.paths[i].Process] > 0 {
			same[prefix(s.paths[i].Frames)] = true
		}
	}
	return []finding{{cause: TimerTicker,
		match: func(i int) bool {
			path := &s.paths[i]
			if path.Kind != compare.Running {
				return false
			}
			if len(path.Frames) > 0 && same[prefix(path.Frames)] {
				return true
			}
			idle := s.traits[i].scheduler || s.traits[i].place < 0 && len(path.Frames) > 0 && !s.traits[i].collector
			return ticking[path.Process] > 0 && (path.Ticking || idle)
		},
		tell: func(c *claim) { s.tellTicker(c, ticking) }}}
}

func (s *scene) tellTicker(c *claim, ticking map[string]float64) {
	var loops []compare.Path // of asyncio, whose waits show the loop alone
	for i := range s.cpu {
		if s.cpu[i].Ticking || ticking[s.cpu[i].Process] > 0 {
			loops = append(loops, s.cpu[i])
		}
	}
	c.at(inCode(s.callbackOf(loops, code.RunsHandle)))
	s.timerPlaces(c, func(wait *compare.Wait) bool { return wait.Ticking || ticking[wait.Process] > 0 })
	if len(c.places) == 0 {
		s.locateNewcomer(c, ticking)
	}
	s.locate(c, "")
	// An executor or a scheduler says more than a lambda's hidden name.
	c.at(inCode(s.below(c.members, "")))
	process := byValue(ticking)[0] // one at least, see above
	ticks := s.count(counts.Ticks, process)
	c.at(Place{Kind: InProcess, Name: process})
	c.add("offcpu", fmt.Sprintf("wake-ups of %s by a timer at a fixed interval of %.3g ms", process,
		s.count(counts.TickInterval, process).b*1e3), ticks, "wake-ups/run")
	c.add("offcpu", "voluntary context switches of "+process, s.count("switches.voluntary", process), "switches/run")
	c.add("cpu", "CPU time per wake-up", sides{b: s.total(c).b * 1e6 / ticks.b}, "us")
	c.predictAtLeast("context switch", switchesPerTick*ticks.more(), s.in.Costs.Switch)
}

// dwarfing is how many times the cost of a wake-up its work may take before the timer is not what
// costs. Of two sides a timer that only one has is the reason for its work as well.
const dwarfing = 10

// worksPerTick reports whether, of one recording, a process that ticks works for so long each time
// that the wake-ups are nothing beside it.
func (s *scene) worksPerTick(process string, ticks float64) bool {
	if !s.oneSided {
		return false
	}
	work := over(s.cpu, func(path *compare.Path) bool {
		return isRunning(path) && path.Process == process && path.Ticking
	})
	return work.more() > ticks*dwarfing*hiddenSeconds
}

// switchesPerTick: to the thread and away from it.
const switchesPerTick = 2

// fasterTicks is how much a rate must grow before it is another rate; a little less than
// timesTicks, for runs vary.
const fasterTicks = 1.6

// faster reports whether the rate of wake-ups grew, and not only the time in which they happen: a
// run that takes longer for any reason has more ticks of a ticker that both sides have.
func (s *scene) faster(ticks sides) bool {
	wall := s.wall()
	return wall.a <= 0 || wall.b <= 0 || ticks.b/wall.b >= fasterTicks*ticks.a/wall.a
}

// timerPlaces puts first the functions that sleep: by the waits' own stacks, by the
// callers of sleeping functions, or by what an event loop's timer ran.
func (s *scene) timerPlaces(c *claim, accept func(*compare.Wait) bool) {
	grown, stacks := s.waitedAt(true, func(wait *compare.Wait) []recording.Frame {
		if wait.WakerKind != recording.WakerTimer || !accept(wait) {
			return nil
		}
		return wait.Frames
	})
	for _, name := range most(grown, len(grown)) {
		c.at(inCode(name))
		if len(c.place) == 0 {
			c.place = stacks[name]
		}
	}
	c.at(inCode(callerOf(s.cpu, code.Sleeps)))
	c.at(inCode(s.callbackOf(s.cpu, code.RunsScheduled)))
}

// callbackOf is the function that most was run of below the functions that are accepted, which run
// what a timer started; "" where there is none.
func (s *scene) callbackOf(paths []compare.Path, runs func(recording.Frame) bool) string {
	grown := map[string]float64{}
	for i := range paths {
		frames := paths[i].Frames
		own := s.code.Own(frames)
		inLoop := false
		for at := range frames {
			if inLoop && own[at] {
				grown[frames[at].Name] += means(paths[i].A, paths[i].B).more()
				break
			}
			inLoop = inLoop || runs(frames[at])
		}
	}
	return longest(grown)
}

// uncountedTimer is what code below a timer leaves open that a busy loop runs.
const uncountedTimer = "a timer of an event loop or an executor runs it (setInterval, setTimeout, a schedule): how " +
	"often is not counted where the loop is busy and never sleeps for it, so that the interval may be what differs"

// tellTimer says of a claim on code that it grew below timers, for the most part: how often they
// fire may be the reason.
func (s *scene) tellTimer(c *claim, members []int, paths []compare.Path) {
	timed := sum(paths, members, func(i int) bool {
		return slices.ContainsFunc(paths[i].Frames, code.RunsScheduled)
	})
	if more := sum(paths, members, everything).more(); more > 0 && timed.more() >= majority*more {
		c.add("cpu", "of it run by a timer", timed, "s/run")
		c.doubt(DoubtUncounted, uncountedTimer)
	}
}

// locateNewcomer names the program's function that runs on the dearer side only, in a process
// that ticks, where no stack shows who set the timer: a runtime that schedules its own tasks (Go)
// sleeps on a stack of its scheduler's, and a tick's work is seldom caught asleep or awake.
func (s *scene) locateNewcomer(c *claim, ticking map[string]float64) {
	before, after := map[string]float64{}, map[string]float64{}
	routes := map[string]string{}
	for i := range s.cpu {
		path := &s.cpu[i]
		if ticking[path.Process] <= 0 {
			continue
		}
		own := s.code.Own(path.Frames)
		seen := map[string]bool{}
		for at := range path.Frames {
			name := path.Frames[at].Name
			if !own[at] || code.IsEntry(path.Frames[at]) || seen[name] {
				continue
			}
			seen[name] = true
			before[name] += mean(path.A)
			after[name] += mean(path.B)
			if after[name] > 0 && routes[name] == "" {
				routes[name] = route(path.Frames[:at+1])
			}
		}
	}
	for _, name := range byValue(after) {
		if before[name] == 0 && after[name] > 0 {
			c.at(inCode(routes[name]))
			return
		}
	}
}
