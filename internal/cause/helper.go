package cause

import (
	"fmt"
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/blame"
)

// helperWakes is how often in a run a process of the tree must end another's waits to work for it:
// the end of a child, or its exec, wakes the parent once.
const helperWakes = 5

// findPartners counts, for pairs of a process and a thread's name in the same tree, how often one
// wakes the other in the course of its work: a server and its logger, a client and a server. What
// such a one takes of the CPU is the program's own. Who gives CPython's interpreter away wakes
// whoever waits for it, whatever they do.
func (s *scene) findPartners() map[[2]string]float64 {
	wakes := map[[2]string]float64{}
	for i := range s.waits {
		wait := &s.waits[i]
		if wait.Kind == compare.Blocked && wait.WakerOwn && wait.WakerComm != "" && !code.AwaitsGIL(wait.Frames) {
			both := max(mean(wait.CountA), mean(wait.CountB))
			wakes[[2]string{wait.Process, wait.WakerComm}] += both
			wakes[[2]string{wait.WakerComm, wait.Process}] += both
		}
	}
	return wakes
}

// findHelper claims waiting for a CPU that another process of the program had while it worked for
// it: the code of that process that grew. Where none did, nobody is at fault; it then belongs to
// what there was more of to do.
func findHelper(s *scene) []finding {
	if s.oneSided {
		return nil
	}
	return []finding{{cause: CodeGrew,
		match: func(i int) bool {
			return s.paths[i].Kind == compare.Runnable && s.isPartner(&s.paths[i])
		},
		stands: func(c *claim) string {
			_, _, blamed := s.helperOf(c)
			if blamed == nil || code.LooksForWork(blamed.Stack) {
				return "no code of the helper's grew"
			}
			return s.unlessFollowsWork(c)
		},
		tell: func(c *claim) {
			name, seconds, blamed := s.helperOf(c)
			c.cause = codeCause(blamed)
			s.describeCode(c, blamed, s.cpu)
			c.add("offcpu", "the program waited for a CPU while "+name+" ran, which works for it", sides{b: seconds}, "s/run")
		}}}
}

// helperOf is the process that a claim's paths waited for most, how long, and its code that grew;
// nil for none.
func (s *scene) helperOf(c *claim) (name string, seconds float64, blamed *blame.Blame) {
	name, seconds = s.waitedBehind(c)
	return name, seconds, blame.New(s.cpu, s.code.Own).Find(func(i int) bool { return ranIn(&s.cpu[i], name) })
}

// waitedBehind is the process that a claim's paths waited for most, and how long.
func (s *scene) waitedBehind(c *claim) (name string, seconds float64) {
	behind := s.tally(c.members, func(i int) string { return s.paths[i].WakerComm })
	name = byValue(behind)[0]
	return name, behind[name]
}

// ranIn tells running in a process, or on a thread, of a name.
func ranIn(path *compare.Path, name string) bool {
	return isRunning(path) && (path.Process == name || path.Comm == name)
}

// giveBehind gives a wait for a CPU that the program's own had to the cause of most of what they
// ran more: where the interrupts of a profiler make all code longer, so is the queue behind it.
func (l *ledger) giveBehind(rule transfer) {
	for _, c := range slices.Clone(l.claims) {
		if c.rule != ruleHelper {
			continue
		}
		if to := l.ranMore(c); to != nil {
			l.move(rule.rule, to, slices.Clone(c.members), rule.because)
		}
	}
}

// ranMore is the claim that owns most of what the process ran more behind which a claim's paths
// waited; nil where that is code, or nobody's.
func (l *ledger) ranMore(c *claim) *claim {
	name, _ := l.waitedBehind(c)
	ran := l.all(func(i int) bool { return ranIn(&l.paths[i], name) })
	if l.grew(ran) <= 0 {
		return nil
	}
	for _, to := range l.claims {
		if !to.cause.is(isCode) && l.mostly(ran, func(i int) bool { return l.owner[i] == to }) {
			return to
		}
	}
	return nil
}

// isPartner tells waiting for a CPU that one of the program's own had who works for the one that
// waits.
func (s *scene) isPartner(path *compare.Path) bool {
	return path.WakerOwn && s.partners[[2]string{path.Process, path.WakerComm}] >= helperWakes
}

// competitorsNamed is how many of those who had the CPU are named.
const competitorsNamed = 3

// nameCompetitors says who had the CPU meanwhile, the one with most of it first, and how much of
// the waiting is whose.
func (c *claim) nameCompetitors(others map[string]float64) {
	names, whole, rest, left := byValue(others), 0.0, 0.0, 0
	for _, name := range names {
		whole += max(0, others[name])
	}
	for n, name := range names {
		switch seconds := others[name]; {
		case seconds <= 0:
		case n < competitorsNamed:
			c.at(Place{Kind: InProcess, Role: Competitor, Name: name})
			text := "waited for a CPU while " + name + " ran"
			if len(names) > 1 {
				text += fmt.Sprintf(", %.0f %% of this waiting", 100*seconds/whole)
			}
			c.add("offcpu", text, sides{b: seconds}, "s/run")
		default:
			rest, left = rest+seconds, left+1
		}
	}
	if left > 0 {
		c.add("offcpu", fmt.Sprintf("waited for a CPU while %d others ran, %.0f %% of this waiting", left, 100*rest/whole),
			sides{b: rest}, "s/run")
	}
}
