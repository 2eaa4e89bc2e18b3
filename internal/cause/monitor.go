package cause

import (
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/host"
)

// findMonitor claims what another monitor costs: its kernel code at the program's context switches
// and probes, and its own process where it is part of the tree. Tracing of system calls is
// syscall.traced's. Counting page faults is what the recorder does itself: where nobody else is
// seen to, it comes with the faults.
func findMonitor(s *scene) []finding {
	settings := newTracers(s.changed("tracers.perf", "tracers.bpf", "tracers.ftrace", host.FactTargetCounted))
	opened := s.countOf(countersOpened).more() > 0
	holder := opened || len(settings) > 0
	dearer := holder && s.dearerSwitches()
	return []finding{{cause: MonitorAttached,
		match: func(i int) bool {
			frames := s.paths[i].Frames
			known := holder || len(code.Watchers(frames)) > 0
			seen := code.Monitor(frames) != "" && (known || !slices.ContainsFunc(frames, code.Faults))
			return s.paths[i].Kind == compare.Running && (seen ||
				dearer && code.InKernel(frames, switchNames...) || opened && s.opensCounters(i))
		},
		tell: func(c *claim) { s.tellMonitor(c, settings, dearer) }}}
}

func (s *scene) tellMonitor(c *claim, settings []compare.FactChange, dearer bool) {
	if opened := s.countOf(countersOpened); opened.more() > 0 {
		c.add("syscalls", "perf_event_open calls", opened, "calls/run")
		for _, process := range s.keys(countersOpened) {
			if s.count(countersOpened, process).b > 0 {
				c.at(Place{Kind: InProcess, Role: CountedBy, Name: process})
			}
		}
	}
	functions := byValue(s.tally(c.members, func(i int) string { return code.Monitor(s.paths[i].Frames) }))
	if dearer && len(functions) == 0 {
		c.doubt(DoubtUnseen,
			"switches run with interrupts off: their cost is seen as a whole, not the monitor's part of it")
	}
	c.tellSettings(settings)
	s.tellWatchers(c)
	for _, tracer := range s.in.Tracers {
		c.note("facts", "on this host: "+tracer)
		c.at(Place{Kind: InTracer, Name: tracer})
	}
	c.at(Place{Kind: InKernel, Name: first(functions)})
	s.monitorCosts(c)
	s.locate(c, "")
}

// tellWatchers names who holds the BPF programs that were seen to run in a claim, with the time in
// each one's.
func (s *scene) tellWatchers(c *claim) {
	spent := map[string]sides{}
	for _, i := range c.members {
		for _, name := range code.Watchers(s.paths[i].Frames) {
			spent[name] = spent[name].plus(means(s.paths[i].A, s.paths[i].B))
		}
	}
	more := map[string]float64{}
	for name, seconds := range spent {
		more[name] = seconds.more()
	}
	for _, name := range byValue(more) {
		c.add("cpu", "in BPF programs of "+name, spent[name], "s/run")
		c.at(Place{Kind: InProcess, Role: WatchedBy, Name: name})
	}
}

// findPermission claims waits until another program permits an access to a file.
func findPermission(s *scene) []finding {
	asks := func(path *compare.Path) bool {
		return path.Kind == compare.Blocked && code.InKernel(path.Frames, "fanotify_handle_event", "fanotify_get_response")
	}
	known := s.outsidersIn(asks)
	return []finding{{cause: MonitorAttached,
		match: func(i int) bool { return asks(&s.paths[i]) || known.ended(&s.paths[i]) },
		tell: func(c *claim) {
			c.claim = "another program must permit each access to a file first (fanotify: a virus scanner, an audit)"
			c.remedy = "have that program leave these files out, or remember what it permitted (FAN_MARK_IGNORED_MASK)"
			s.tellAnswered(c)
			s.locateWait(c)
		}}}
}

// switchNames are where the sampling clock books a context switch: it runs with interrupts off.
var switchNames = []string{"finish_task_switch", "__schedule", "schedule"}

// dearerSwitch is how many times as much a context switch must cost for a monitor to be suspected
// in it.
const dearerSwitch = 1.1

// dearerSwitches reports whether context switches cost more each.
func (s *scene) dearerSwitches() bool {
	seconds := over(s.cpu, func(path *compare.Path) bool { return code.InKernel(path.Frames, switchNames...) })
	switches := s.switches()
	return switches.a > 0 && switches.b > 0 &&
		seconds.b/switches.b >= dearerSwitch*seconds.a/switches.a
}

func (s *scene) switches() sides { return s.countOf("switches.voluntary", "switches.involuntary") }

// newTracers are the tracers that the dearer side ran beside and the other did not. Recorders of
// this program are none: another investigation may come and go.
func newTracers(settings []compare.FactChange) []compare.FactChange {
	return slices.DeleteFunc(settings, func(setting compare.FactChange) bool {
		theirs := host.Foreign(setting.B)
		return theirs == "" || theirs == host.Foreign(setting.A)
	})
}

const countersOpened = "syscall.perf_event_open.count"

// opensCounters reports whether a path belongs to a process that counts others.
func (s *scene) opensCounters(i int) bool {
	path := &s.paths[i]
	opened := s.count(countersOpened, path.Process).plus(s.count(countersOpened, path.Comm)).b
	return opened > 0 && path.Process != "" && s.traits[i].place < 0
}

// monitorCosts divides the time by the context switches.
func (s *scene) monitorCosts(c *claim) {
	switches := s.switches()
	if switches.b == 0 {
		return
	}
	c.add("offcpu", "context switches", switches, "switches/run")
	c.add("cpu", "cost per context switch", s.total(c).each(switches).times(1e6), "us")
	if switches.b > timesTicks*max(switches.a, 1) {
		c.doubt(DoubtCoincides, "the program switches far more often itself: that makes any monitor dearer")
	}
}
