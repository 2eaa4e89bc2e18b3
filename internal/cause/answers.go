package cause

import (
	"slices"
	"strings"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/internal/compare/timeline"
	"culprit/recording"
)

// handOn are kernel functions in which a thread hands on what another one waits for at a socket, a
// pipe or a terminal, or makes room there: they stand on the waker's stack.
var handOn = []string{"sock_def_readable", "sock_def_write_space", "sk_stream_write_space", "unix_write_space",
	"unix_dgram_recvmsg", "unix_stream_read", "pipe_write", "pipe_read", "n_tty_", "tty_write"}

// outsiders are who ends waits of the program from outside, by the name of the thread, and in which
// calls of which processes: a wait too short for a stack in the kernel is known by who ended it,
// and one too short even for that by its call. What a device ends is ended by an interrupt.
type outsiders struct{ by, in map[string]bool }

func (s *scene) outsidersIn(seen func(*compare.Path) bool) outsiders {
	known := outsiders{map[string]bool{}, map[string]bool{}}
	for i := range s.paths {
		if path := &s.paths[i]; endedOutside(path) && !path.Lock && path.WakerComm != "" && seen(path) {
			known.by[path.WakerComm], known.in[callIn(path)] = true, true
		}
	}
	return known
}

func callIn(path *compare.Path) string { return path.Process + "\x00" + path.Syscall }

// endedOutside reports whether a thread of another program ended a wait, or one that is not known.
func endedOutside(path *compare.Path) bool {
	return path.Kind == compare.Blocked && path.WakerKind == recording.WakerThread && !path.WakerOwn
}

func (known outsiders) ended(path *compare.Path) bool {
	return endedOutside(path) && !path.Lock && (known.by[path.WakerComm] || path.WakerComm == "" && known.in[callIn(path)])
}

// arrived reports whether the network ended a wait: what a device ends has no socket on its way.
func arrived(path *compare.Path) bool {
	byKernel := path.WakerKind == recording.WakerInterrupt || path.WakerKind == recording.WakerKernel
	return path.Kind == compare.Blocked && byKernel && !path.Lock &&
		(code.InKernel(path.WakerStack, handOn...) || strings.HasPrefix(path.Syscall, "recv"))
}

// handedBetween are calls that only another thread ends: at a word in shared memory, or a queue.
var handedBetween = append([]string{"futex", "msgrcv", "msgsnd", "mq_timedreceive", "mq_timedsend"},
	timeline.SemaphoreCalls...)

// passes reports whether something is handed on in a call.
func passes(call string) bool {
	return awaitsAnswer(call) || slices.Contains(sendCalls, call) || slices.Contains(handedBetween, call)
}

// findAnswer claims waits for what another program sends or takes, but for those of a process that
// serves others: it waits for work. Where more is asked and each answer takes as long, that is what
// changed.
func findAnswer(s *scene) []finding {
	if s.metric != compare.MetricWall {
		return nil
	}
	known := s.outsidersIn(func(path *compare.Path) bool {
		return code.InKernel(path.WakerStack, handOn...) || slices.Contains(handedBetween, path.Syscall)
	})
	return []finding{{cause: DownstreamSlow, stands: s.unlessMoreIsAsked,
		match: func(i int) bool {
			path := &s.paths[i]
			return passes(path.Syscall) && (known.ended(path) || arrived(path)) && !s.serves(path.Process)
		},
		tell: func(c *claim) {
			c.claim = "the program waits for the answers of another one"
			s.tellAnswered(c)
			s.locateWait(c)
			s.atKeys(c, InPeer, counts.Network+recording.NetConnect)
		}}}
}

// serves reports whether a process accepts more connections than it opens.
func (s *scene) serves(process string) bool {
	accepted, opened := s.accepted(process), s.count(counts.Call("connect", "count"), process)
	return accepted.b > opened.b
}

// unlessMoreIsAsked says where more questions, each as dear as on the other side, account for most
// of what waits for answers grew by.
func (s *scene) unlessMoreIsAsked(c *claim) string {
	if s.oneSided {
		return ""
	}
	a, b := s.seconds(c)
	took, times := means(a, b), s.callCount(first(s.callsOf(c)))
	if times.more()*took.each(times).a >= majority*took.more() {
		return "more is asked, and each answer takes about as long"
	}
	return ""
}

// tellAnswered names who answered.
func (s *scene) tellAnswered(c *claim) { s.tellEnder(c, AnsweredBy, "answered") }

// tellEnder names the other program that ended most of the waits, and what it did so by.
func (s *scene) tellEnder(c *claim, role Role, did string) {
	ended := s.tally(c.members, func(i int) string {
		if path := &s.paths[i]; endedOutside(path) {
			return path.WakerComm
		}
		return ""
	})
	for _, name := range most(ended, 1) {
		c.at(Place{Kind: InProcess, Role: role, Name: name})
		c.add("offcpu", "waited until "+name+" "+did, sides{b: ended[name]}, "s/run")
	}
}

// isForeignLock reports whether a path waits for a lock that another program holds: of a file, or
// in memory that they share.
func isForeignLock(path *compare.Path) bool {
	takes := func(frame recording.Frame) bool { return frame.Kind != recording.KindKernel && takesLock(frame) }
	return endedOutside(path) && (slices.Contains(timeline.FileLockCalls, path.Syscall) || path.WakerComm != "" &&
		(path.Lock || path.Syscall == "futex" && slices.ContainsFunc(path.Frames, takes)))
}

// findForeignLock claims waits for locks that another program holds.
func findForeignLock(s *scene) []finding {
	return []finding{{cause: LockContended,
		match: func(i int) bool { return isForeignLock(&s.paths[i]) },
		tell: func(c *claim) {
			c.claim = "the program waits for a lock that another program holds"
			s.locateWait(c)
			s.tellEnder(c, HeldBy, "gave it up")
		}}}
}
