package cause

import (
	"maps"
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/internal/host"
)

// quietCalls belong to other causes, or say nothing about chattiness.
var quietCalls = map[string]bool{"futex": true, "nanosleep": true, "clock_nanosleep": true, "pause": true,
	"ptrace":       true,
	"rt_sigreturn": true, "restart_syscall": true, "rt_sigprocmask": true, "set_robust_list": true, "rseq": true}

const (
	// A chatty program makes so many more calls a run, and so many times as many.
	fewestCalls = 300
	timesCalls  = 1.3
	// One-sided: calls that move less than this are small.
	smallBytes = 1024
	// A tracer stops its target so often a run.
	fewestStops = 100
)

// findTraced claims what tracers and filters of system calls cost, with a
// tracer's own process when it is part of the tree.
func findTraced(s *scene) []finding {
	tracers := s.stoppers()
	return []finding{{cause: SyscallTraced,
		match: func(i int) bool { return s.paysTracer(i, tracers) },
		stands: func(*claim) string {
			if s.tracers != nil {
				return "both sides pay a tracer, and as much for each call"
			}
			return ""
		},
		tell: func(c *claim) {
			for _, name := range slices.Sorted(maps.Keys(tracers)) {
				c.add("syscalls", "ptrace calls of "+name, s.count("syscall.ptrace.count", name), "calls/run")
				c.at(Place{Kind: InProcess, Role: TracedBy, Name: name})
			}
			c.tellSettings(s.changed("target.seccomp", "target.seccomp_filters", "target.tracer",
				"tracers.ptrace", "tracers.perf", "tracers.ftrace", "tracers.bpf", host.FactTargetCounted))
			s.tellWatchers(c)
			for _, tracer := range s.in.Tracers {
				c.note("facts", "on this host: "+tracer)
			}
			s.locate(c, "")
		}}}
}

// stoppers are the processes that stop others at their system calls, on the dearer side more often
// than on the other.
func (s *scene) stoppers() map[string]bool {
	tracers := map[string]bool{}
	for _, key := range s.keys("syscall.ptrace.count") {
		if s.count("syscall.ptrace.count", key).more() >= fewestStops {
			tracers[key] = true
		}
	}
	return tracers
}

// paysTracer reports whether a path is a tracer's, or what a tracer or a filter adds to the
// program's calls.
func (s *scene) paysTracer(i int, tracers map[string]bool) bool {
	path := &s.paths[i]
	return tracers[path.Process] || tracers[path.Comm] || s.traits[i].traced ||
		path.Kind != compare.Running && s.traced(i)
}

// tracersOfBoth are the processes that trace both sides alike, at the same cost for each call; nil
// where no tracer or filter serves both, or it became dearer.
func (s *scene) tracersOfBoth() map[string]bool {
	tracers := s.stoppers()
	paid := s.all(func(i int) bool { return s.paysTracer(i, tracers) })
	if s.grew(paid) < smallest*s.growth || !s.tracedAsBefore(paid, tracers) {
		return nil
	}
	return tracers
}

// dearerCalls is how much more a tracer must cost each call before it is a cause.
const dearerCalls = 1.3

// tracedAsBefore reports whether both sides pay a tracer or a filter, and as much for each call:
// what grew then is the number of calls.
func (s *scene) tracedAsBefore(c *claim, tracers map[string]bool) bool {
	if s.oneSided {
		return false
	}
	paid, calls := s.total(c), s.allCalls(tracers)
	return paid.a > 0 && calls.a > 0 && calls.more() > 0 && paid.b/calls.b < dearerCalls*paid.a/calls.a
}

// allCalls counts the system calls a run, without those of the processes left out.
func (s *scene) allCalls(without map[string]bool) (calls sides) {
	for i := range s.counts {
		count := &s.counts[i]
		if _, what := counts.CallOf(count.Name); what != "count" {
			continue
		}
		switch made := means(count.A, count.B); {
		case without[count.Key]:
			calls = calls.plus(made.times(-1))
		case count.Key == "":
			calls = calls.plus(made)
		}
	}
	return calls
}

// giveTracer gives a claim on calls what a tracer or filter that serves both sides alike costs: it
// follows the calls.
func (l *ledger) giveTracer(rule transfer) {
	c := l.of(SyscallChatty)
	if l.tracers == nil || c == nil {
		return
	}
	paid := l.all(func(i int) bool { return l.free(i) && l.paysTracer(i, l.tracers) })
	l.move(rule.rule, c, paid.members, rule.because)
	c.note("syscalls", "both sides pay a tracer or filter for each call, and as much for each")
}

// traced reports whether a wait is a stop for a tracer.
func (s *scene) traced(i int) bool {
	return code.InKernel(s.paths[i].Frames, "ptrace_stop", "ptrace_notify", "seccomp_do_user_notification")
}

// findChatty claims system calls that became many more, with the code that makes them.
func findChatty(s *scene) []finding {
	chatty := s.chattyCalls()
	if len(chatty) == 0 {
		return nil
	}
	longer := s.waitedLonger(chatty)
	return []finding{{cause: SyscallChatty,
		match: func(i int) bool {
			if s.paths[i].Kind == compare.Blocked && longer[s.traits[i].call] ||
				s.oneSided && s.paths[i].Kind != compare.Running { // waits of a side alone may be of any number of calls
				return false
			}
			return chatty[s.traits[i].call] > 0 && !s.tracers[s.paths[i].Process] && !s.tracers[s.paths[i].Comm]
		},
		tell: func(c *claim) { s.tellChatty(c, chatty) }}}
}

// chattyCalls are the calls of which there are many more, with how many more.
func (s *scene) chattyCalls() map[string]float64 {
	chatty := map[string]float64{}
	seen := map[string]bool{}
	for i := range s.traits {
		call := s.traits[i].call
		if call == "" || seen[call] {
			continue
		}
		seen[call] = true
		if failed := s.countOf(counts.Call(call, "errors")); call == "execve" && failed.grew(timesCalls, fewestCalls) {
			chatty[call] = failed.more() // a program is looked for in one directory after the other
		}
		if quietCalls[call] || clockCalls[call] || spawnCalls[call] || syncCalls[call] || mapCalls[call] {
			continue
		}
		if calls := s.callCount(call); calls.grew(timesCalls, fewestCalls) && s.small(call, calls.b) {
			chatty[call] = calls.more()
		}
	}
	return chatty
}

func (s *scene) tellChatty(c *claim, chatty map[string]float64) {
	c.absorbs = s.absorbing(c)
	s.locate(c, s.callsOf(c)[0])
	calls := 0.0
	for _, call := range byValue(chatty) {
		calls += chatty[call]
	}
	c.predictAtLeast("bare system call", calls, s.in.Costs.Syscall)
	for _, call := range most(chatty, 3) {
		calls, failed := s.callCount(call), s.countOf(counts.Call(call, "errors"))
		c.add("syscalls", call+" calls", calls, "calls/run")
		c.add("syscalls", call+" bytes per call", s.countOf(counts.Call(call, "bytes")).each(calls), "bytes")
		if failed.b >= 0.1*calls.b && failed.more() > 0 {
			c.add("syscalls", call+" calls that failed", failed, "calls/run")
		}
		c.at(Place{Kind: InCall, Name: call})
	}
}

// waitedLonger are the calls, of those given, whose waits grew by their lengths rather than by
// their number: what a call waits for is no cost of making it.
func (s *scene) waitedLonger(calls map[string]float64) map[string]bool {
	longer := map[string]bool{}
	for call := range calls {
		seconds, waits := s.overWaits(func(wait *compare.Wait) bool {
			return wait.Kind == compare.Blocked && wait.Syscall == call
		})
		if waits.a > 0 && waits.b > 0 {
			each := (seconds.a/waits.a + seconds.b/waits.b) / 2
			longer[call] = each*waits.more() < majority*seconds.more()
		}
	}
	return longer
}

// callCount is the number of calls a run outside of many short-lived processes, whose start brings
// calls of its own. Where both sides start as many, that is the same on both.
func (s *scene) callCount(call string) sides {
	calls, started := s.countOf(counts.Call(call, "count")), s.countOf(counts.Processes)
	if !s.oneSided && started.a > 0 && !started.grew(timesProcesses, fewestProcesses) &&
		!started.swapped().grew(timesProcesses, fewestProcesses) {
		return calls
	}
	short := map[string]bool{}
	for i := range s.paths {
		if s.paths[i].Short {
			short[s.paths[i].Process], short[s.paths[i].Comm] = true, true
		}
	}
	for _, key := range s.keys(counts.Call(call, "count")) {
		if short[key] && !s.longLived(key) {
			calls = calls.plus(s.count(counts.Call(call, "count"), key).times(-1))
		}
	}
	return calls
}

// longLived reports whether a process that is not short-lived carries a name.
func (s *scene) longLived(name string) bool {
	for i := range s.paths {
		if !s.paths[i].Short && (s.paths[i].Process == name || s.paths[i].Comm == name) {
			return true
		}
	}
	return false
}

// small holds back, one-sided, calls that move much each: many of those are no fault.
func (s *scene) small(call string, calls float64) bool {
	bytes := s.countOf(counts.Call(call, "bytes")).b
	return !s.oneSided || calls >= 10*fewestCalls && bytes/max(calls, 1) < smallBytes
}

func orNone(value string) string {
	if value == "" {
		return "none"
	}
	return value
}
