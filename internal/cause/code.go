package cause

import (
	"path/filepath"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/recording"
)

// codeSuspects is how many places in code are named at most.
const codeSuspects = 3

// leftover claims what no other cause took (lock: the claim on a lock, nil when there is none): for a setting that
// differs where the commands are otherwise the same, else for the code it was spent in.
func (s *scene) leftover(lock *claim) []*claim {
	if c := s.confinedRest(); c != nil {
		return []*claim{c}
	}
	if claims, done := s.differingConfig(); done {
		return claims
	}
	var claims []*claim
	napped := false
	for range codeSuspects {
		blame := compare.FindBlame(s.paths, func(i int) bool { return s.owner[i] == nil })
		if blame == nil {
			break
		}
		member := map[int]bool{}
		for _, i := range blame.Members {
			member[i] = true
		}
		c := s.take(codeCause(blame), func(i int) bool { return member[i] })
		if c == nil {
			break
		}
		if s.onlyQueued(c) {
			continue // who had the CPU is not known, or no competitor: but it is not this code
		}
		if s.onlyNaps(c) {
			napped = true // who has no work waits for something, which may follow: but it is not this code
			continue
		}
		s.describeCode(c, blame, s.paths)
		if s.serialised(c, blame) && s.suspectLock(c, blame, lock) {
			continue
		}
		if (len(claims) > 0 || napped) && s.housekeeping(c) {
			continue // it follows from how long and how busily the program runs: no place to look at beside the first
		}
		claims = append(s.withServants(c, blame, claims), c)
	}
	return append(claims, s.unexplainedConfig(claims)...)
}

// nothingElse is the part of a growth that makes all of it one thing.
const nothingElse = 0.9

// onlyQueued reports whether a claim on code grew by nothing but waiting for a CPU.
func (s *scene) onlyQueued(c *claim) bool {
	queued, all := s.parted(c, func(i int) bool { return s.paths[i].Kind == compare.Runnable })
	return queued >= nothingElse*all
}

// housekeeping reports whether a claim is on a run time's own scheduling alone, with no code of the program above it.
func (s *scene) housekeeping(c *claim) bool {
	for _, i := range c.members {
		if !s.traits[i].scheduler || s.traits[i].place >= 0 {
			return false
		}
	}
	return true
}

// codeCause tells a function that grew from one that side A never ran. What took the place of another is growth.
func codeCause(blame *compare.Blame) string {
	if blame.Added && len(blame.Replaced) == 0 {
		return "code.added"
	}
	return "code.grew"
}

// busiestProcess is the one that paths grew most in.
func (s *scene) busiestProcess(members []int) string {
	grown := map[string]float64{}
	for _, i := range members {
		grown[s.paths[i].Process] += s.grown(i)
	}
	return byValue(grown)[0]
}

// inLibrary reports whether a claim's place leads to no function of the program's own: a library's thread, say.
func (c *claim) inLibrary() bool {
	at := code.Innermost(c.place.Frames)
	return len(c.place.Frames) > 0 && (at < 0 || code.IsEntry(c.place.Frames[at]))
}

// describeCode fills in the place and the evidence of a claim on code.
func (s *scene) describeCode(c *claim, blame *compare.Blame, paths []compare.Path) {
	frame := blame.Frame()
	c.place = compare.Path{Frames: blame.Stack}
	if blame.Stack[0].Kind == recording.KindKernel {
		// Stacks that broke in user space, as of a run time that came up while the host was busy: only whose it is.
		c.at("process " + s.busiestProcess(blame.Members))
		c.against = append(c.against, "who called is not known: these stacks have no part in user space")
	}
	c.at(route(blame.Stack))
	for _, below := range []string{blame.Through, blame.Below} {
		if below != "" {
			c.at(route(blame.Stack) + ";…;" + below)
		}
	}
	inclusiveA, inclusiveB := 0.0, 0.0
	queuedA, queuedB := 0.0, 0.0
	for _, i := range blame.Members {
		inclusiveA += mean(paths[i].A)
		inclusiveB += mean(paths[i].B)
		if paths[i].Kind == compare.Runnable {
			queuedA, queuedB = queuedA+mean(paths[i].A), queuedB+mean(paths[i].B)
		}
	}
	c.add("cpu", "inclusive time of "+frame.Name, inclusiveA, inclusiveB, "s/run")
	if queuedB-queuedA >= leastShare*(inclusiveB-inclusiveA) {
		c.add("offcpu", "of it waiting for a CPU", queuedA, queuedB, "s/run")
	}
	if blame.SelfA != 0 || blame.SelfB != 0 { // a function that only calls has none
		c.add("cpu", "own time of "+frame.Name, blame.SelfA, blame.SelfB, "s/run")
	}
	s.tellTimer(c, blame.Members, paths)
	for _, replaced := range blame.Replaced {
		c.add("cpu", "it took over what "+replaced+" did on the other side", 0, 0, "")
	}
	if blame.Through != "" {
		c.add("cpu", "most of the change under it comes through "+blame.Through, 0, 0, "")
	}
	if blame.Below != "" {
		c.add("cpu", "the largest part of the change under it is in "+blame.Below+" itself", 0, 0, "")
	}
	if frame.File != "" {
		c.at("file " + frame.File)
	}
	if code.ByAddress(frame) {
		c.against = append(c.against, filepath.Base(frame.Module)+" has no symbols, so that its functions are told by where "+
			"they begin: its debug symbols (Debian: the package that ends in -dbgsym) would name them")
	}
}
