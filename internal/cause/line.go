package cause

import (
	"cmp"
	"maps"
	"slices"

	"culprit/internal/compare"
	"culprit/internal/compare/lines"
	"culprit/internal/compare/names"
	"culprit/recording"
)

const (
	// fewestOperands is how often a shared line must be an operand in a run's samples to be worth a
	// suspicion.
	fewestOperands = 5
	// leastBorne is the part of a function's growth that its samples in shared lines must stand
	// for. Threads that fight for a line spend the growth there: half to all of such samples show
	// it (atomics 92 to 100 %, readers beside a writer and compiled Java 43 to 87 %). Memory that
	// is unmapped and mapped again in the other thread looks shared as well, by chance, in a few
	// samples of a hundred.
	leastBorne = 0.2
)

// findShared claims the time of code that touches a cache line which several threads share and one
// writes, where such lines were recorded and were touched more often than before.
func findShared(s *scene) (found []finding) {
	if len(s.lines) == 0 {
		return nil
	}
	locks := s.ofLocks()
	bears := s.bearing(locks)
	for i := range s.lines {
		line := &s.lines[i]
		if !s.foughtMore(line) || slices.Contains(locks, line) {
			continue // of a lock, findLock tells
		}
		found = append(found, finding{cause: s.kindOf(line),
			match: func(i int) bool { return s.fightsFor(i, line, bears) },
			tell:  func(c *claim) { s.describeLine(c, line, bears) }})
	}
	return found
}

// fightsFor reports whether a path runs in code that touches a line.
func (s *scene) fightsFor(i int, line *compare.SharedLine, bears bearing) bool {
	path := &s.paths[i]
	return path.Kind == compare.Running && !s.traits[i].fault && !s.traits[i].entered(path) &&
		touches(line, bears, path.Frames)
}

// kindOf tells how a line is shared. One that is written in common all along is shared falsely,
// too, where what grew are words that nobody writes in common: they came to lie beside it.
func (s *scene) kindOf(line *compare.SharedLine) ID {
	if line.False || s.cameBeside(line) {
		return LineFalseSharing
	}
	return LineTrueSharing
}

// cameBeside reports whether words of a line that nobody writes in common were touched more often
// than before, and those that are written in common less so.
func (s *scene) cameBeside(line *compare.SharedLine) bool {
	beside, all := means(line.BesideA, line.BesideB), means(line.A, line.B)
	return !s.oneSided && isMore(beside) && beside.more() > all.more()/2
}

// foughtMore reports whether a line was touched often, and more often than before.
func (s *scene) foughtMore(line *compare.SharedLine) bool {
	all := means(line.A, line.B)
	return all.b >= fewestOperands && (s.oneSided || isMore(all) || s.cameBeside(line))
}

// isMore reports whether samples are enough to tell, and more than before.
func isMore(samples sides) bool {
	return samples.b >= fewestOperands && samples.b >= timesTicks*samples.a
}

// bearing are the functions whose growth of their own, over all threads, is borne out by samples in
// shared lines.
type bearing map[names.Key]borne

// borne is what is known of a function in shared lines, in seconds per run.
type borne struct {
	self   sides // of its own, in lines or not
	shared sides // its samples in shared lines
	at     sides // its samples at the words of shared lines, also where a thread has them for itself
	// line is the one that most of its samples are in, of those whose use grew: its time is that
	// one's.
	line  *compare.SharedLine
	most  float64 // B's samples in that line
	takes bool    // a lock
	calls bool    // what is at the line, and is not there itself
}

// bearing finds them. All lines count together: an array of counters has many.
func (s *scene) bearing(locks []*compare.SharedLine) bearing {
	all := bearing{}
	for i := range s.cpu {
		if frames := s.cpu[i].Frames; len(frames) > 0 {
			last := names.KeyOf(*lastFrame(frames))
			of := all[last]
			of.self = of.self.plus(means(s.cpu[i].A, s.cpu[i].B))
			all[last] = of
		}
	}
	for i := range s.lines {
		line := &s.lines[i]
		fought, isLock := s.foughtMore(line), slices.Contains(locks, line)
		for _, function := range line.Functions {
			name := names.KeyOf(function.Frame)
			all[name] = all[name].with(line, function, fought, isLock)
		}
	}
	maps.DeleteFunc(all, func(_ names.Key, of borne) bool {
		return of.line == nil || of.cost() < leastBorne*of.self.more()
	})
	return all
}

// with adds what a function does at a line.
func (of borne) with(line *compare.SharedLine, function lines.Function, fought, isLock bool) borne {
	seconds := means(function.A, function.B)
	if fought && (of.line == nil || seconds.b > of.most) {
		of.line, of.most = line, seconds.b
	}
	of.shared, of.at = of.shared.plus(seconds), means(function.AtA, function.AtB)
	of.takes, of.calls = of.takes || isLock, of.calls || function.Calls
	return of
}

// mostOwn is the part of a function's time from which its code beside the lines is too little to
// tell how often it goes to them. Chosen.
const mostOwn = 0.5

// cost is what a function's samples in shared lines say that sharing costs, in seconds per run.
// Where the other side has the same words in lines that threads have each for itself, code is at
// them as well, for as long as an access takes that nobody disturbs: only what it is there for
// longer, beside as much other work, comes of sharing, and no more than while others ran. How much
// other work there is cannot be told of code that only calls what is at them: it is sampled at its
// other instructions for the line as well.
//
// Code that takes a lock is at the lock's line while nobody disturbs it as well, but a sample shows
// the instruction behind the one that took it, which has no operand, and what the lock guards moves
// along: its samples in lines are a part of what they stand for, and the other side's are not taken
// off.
func (of borne) cost() float64 {
	if of.takes || of.at.a <= 0 || of.self.a <= 0 || of.self.b <= 0 {
		return of.shared.more()
	}
	partA, partB := of.at.a/of.self.a, of.at.b/of.self.b
	longer := of.at.more()
	if partA < mostOwn && !of.calls {
		longer = of.self.b * (partB - partA) / (1 - partA)
	}
	return min(longer, of.shared.more())
}

func (s *scene) describeLine(c *claim, line *compare.SharedLine, bears bearing) {
	s.locateTouching(c, line)
	c.at(Place{Kind: InLine, Name: cmp.Or(line.Name, line.Memory)})
	c.line = Drawn(line)
	if line.Confirmed {
		c.note("lines", "confirmed by "+s.confirmedBy())
	}
	c.add("lines", "samples whose operand lies in the line", means(line.A, line.B), "samples/run")
	if beside := means(line.BesideA, line.BesideB); !line.False && beside.b > 0 {
		c.add("lines", "of those, of words that threads do not write in common: what is written beside them takes the "+
			"line away", beside, "samples/run")
	}
	c.add("lines", "time of the samples of its code in shared lines, all threads", borneBy(line, bears), "s/run")
	s.describeLayout(c, line)
	if line.Lines > 1 {
		c.add("lines", "lines that were seen to be touched alike: what is drawn is the most sampled one",
			sides{b: float64(line.Lines)}, "lines")
	}
	c.add("lines", "threads that touch it", sides{b: float64(line.Threads)}, "threads")
	if line.Processes > 1 {
		c.add("lines", "processes that touch it", sides{b: float64(line.Processes)}, "processes")
		c.note("lines", "it lies in "+line.Memory+", which all of them have mapped")
	}
	c.add("lines", "different words of it", sides{b: float64(line.Words)}, "words")
	switch {
	case line.Confirmed: // is told above
	case line.Watched:
		c.doubt(DoubtUnconfirmed, "suspected: debug registers that watched it for milliseconds did not see two threads "+
			"at it, which proves nothing; operands were computed from sampled registers")
	default:
		c.doubt(DoubtUnconfirmed, "not confirmed by debug registers: operands were computed from sampled registers")
	}
	c.doubt(DoubtFree, "a line can be shared and cost nothing: pin the threads to one CPU and see")
}

// locateTouching finds where a claim's code touches a line: not in what only calls it.
func (s *scene) locateTouching(c *claim, line *compare.SharedLine) {
	all := c.members
	c.members = slices.DeleteFunc(slices.Clone(all), func(i int) bool {
		frames := s.paths[i].Frames
		at := beforeKernel(frames)
		return at >= 0 && slices.ContainsFunc(line.Functions, func(function lines.Function) bool {
			return function.Calls && names.KeyOf(function.Frame) == names.KeyOf(frames[at])
		})
	})
	if len(c.members) == 0 {
		c.members = all
	}
	s.locate(c, "")
	c.members = all
}

// confirmedBy is what saw who touches a line.
func (s *scene) confirmedBy() string {
	if by := s.factsB[recording.FactMemorySamples]; by != "" {
		return "the processor's own samples of memory, " + by
	}
	return "debug registers"
}

// describeLayout tells where a line is shared on one side only, for its words lie elsewhere on the
// other.
func (s *scene) describeLayout(c *claim, line *compare.SharedLine) {
	own := means(line.Layout.A, line.Layout.B)
	apart := own.a >= fewestOperands && own.a >= timesTicks*own.b
	if s.oneSided || c.cause != LineFalseSharing || !apart && !line.Layout.Shifted {
		return
	}
	if apart {
		c.add("lines", "samples of its code in lines that threads have each for itself", own, "samples/run")
	}
	if line.Layout.Shifted {
		c.note("lines", "its words lie at other places of a line on each side")
	}
	if !s.sameProgram() && !s.sameProcesses() || !s.sameBuild() {
		return
	}
	entry, _ := Lookup(c.cause)
	c.claim = entry.Claim + otherLayout
	c.note("lines", "program, arguments, versions and builds are the same on both sides: where memory lies is what "+
		"differs, which is luck as long as nothing keeps the words apart")
}

// sameProcesses reports whether both sides ran already, called with the same words.
func (s *scene) sameProcesses() bool {
	command := s.factsA["target.command"]
	return s.commandA == "" && s.commandB == "" && command == s.factsB["target.command"] &&
		command != "" && len(command) < wholeCommand
}

// otherLayout ends the claim where the layout is what differs.
const otherLayout = "; {cheaper} is the same program, whose memory is laid out otherwise"

// borneBy is what the samples of a line's code stand for.
func borneBy(line *compare.SharedLine, bears bearing) (seconds sides) {
	for _, function := range line.Functions {
		if of := bears[names.KeyOf(function.Frame)]; of.line == line {
			seconds = seconds.plus(of.shared)
		}
	}
	return seconds
}

// touches reports whether a path ends in code whose growth samples bear out, most of them in this
// line.
func touches(line *compare.SharedLine, bears bearing, frames []recording.Frame) bool {
	at := beforeKernel(frames)
	return at >= 0 && bears[names.KeyOf(frames[at])].line == line
}

// beforeKernel is where a stack's last function outside the kernel is; −1: there is none.
func beforeKernel(frames []recording.Frame) int {
	at := len(frames) - 1
	for at >= 0 && frames[at].Kind == recording.KindKernel {
		at--
	}
	return at
}

// isOf reports whether a function touches a line.
func isOf(line *compare.SharedLine, name names.Key) bool {
	return slices.ContainsFunc(line.Functions, func(function lines.Function) bool {
		return names.KeyOf(function.Frame) == name
	})
}
