package cause

import (
	"slices"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/recording"
)

// sleptByTurns is what speaks against the sleep itself where no lock is seen to order the sleepers.
const sleptByTurns = "over all threads it slept as long on both sides: what went side by side now goes one after the " +
	"other (a pool, a limit, or waiting for each before the next is started)"

// byTurnsRemedy is what helps where the sleep itself is as long as before.
const byTurnsRemedy = "let it go side by side again: more workers or connections, if what is slept for bears it, or " +
	"start all before waiting for the first"

// tellTurns says that the sleepers take turns, and how many threads their process has: a smaller
// pool has fewer.
func (s *scene) tellTurns(c *claim) {
	c.doubt(DoubtTurns, sleptByTurns)
	c.remedy = byTurnsRemedy
	process := s.busiestProcess(c.members)
	if threads := s.count(counts.Threads, process); threads.more() < 0 {
		c.add("counts", "threads of "+process, threads, "threads/run")
	}
}

// byTurns reports whether sleeps grew on the way only because what slept side by side on one side
// sleeps one after the other on the other: over all threads they slept as long. It is for a lock,
// which the sleepers hold, where all threads waited for locks that much longer; of one side, where
// others waited for the sleepers. byTurn tells that the lock shows only in who waits for whom.
func (s *scene) byTurns(c *claim) (turns, locked, byTurn bool) {
	if s.oneSided {
		locked, byTurn = s.sleptHolding(c)
		return false, locked, byTurn
	}
	slept, _ := s.sleepsOf(c)
	locks, _ := s.overWaits(func(wait *compare.Wait) bool { return wait.Lock })
	others, _ := s.overWaits(func(wait *compare.Wait) bool { return !wait.Lock && wait.Turn })
	least := serialPart * s.grew(c)
	// What was not recorded of the sleeps cannot be compared.
	turns = slept.b >= majority*s.total(c).b && slept.more() < least
	waited := locks.more()
	byTurn = turns && waited < least && slept.b <= mean(s.metricB) && waited+others.more() >= least
	return turns, byTurn || turns && waited >= least, byTurn
}

// sleepsOf adds up the waits of all threads that are sleeps like those of a claim.
func (s *scene) sleepsOf(c *claim) (seconds, times sides) {
	asleep := map[string]bool{}
	for _, i := range c.members {
		asleep[sleepKey(&s.paths[i])] = true
	}
	return s.overWaits(func(wait *compare.Wait) bool {
		return wait.WakerKind == recording.WakerTimer && !wait.Lock && !wait.Turn &&
			asleep[sleepKey(&wait.Path)]
	})
}

// sleptHolding reports whether most of the sleeps of a claim were made with a lock that other
// threads waited for: without a baseline the lock is what can be helped, and the sleep is what is
// inside. It is seen where the way led from a waiter to the holder; and, as a lock that is not
// handed on (HotSpot's monitors) may go to whoever slept with it last, where threads wait for a
// lock in the function that sleeps, and all sleeps in it fit one after the other into the run. So
// is a sleep that the way meets as often by itself, as the last holder's.
func (s *scene) sleptHolding(c *claim) (locked, byTurn bool) {
	takers, waited, turned := map[[2]string]bool{}, 0.0, 0.0 // by process and function
	for i := range s.waits {
		wait := &s.waits[i]
		if !wait.Lock && !wait.Turn {
			continue
		}
		if wait.Lock {
			waited += mean(wait.B)
		} else {
			turned += mean(wait.B)
		}
		frames := taking(wait.Frames)
		if at := s.code.Innermost(frames); at >= 0 && !code.IsEntry(frames[at]) {
			takers[[2]string{wait.Process, frames[at].Name}] = true
		}
	}
	inTaker := func(path *compare.Path) bool {
		return len(takers) > 0 && slices.ContainsFunc(path.Frames, func(frame recording.Frame) bool {
			return takers[[2]string{path.Process, frame.Name}]
		})
	}
	behind, whole := map[string]float64{}, map[string]float64{}
	for _, i := range c.members {
		key := sleepKey(&s.paths[i])
		if whole[key] += s.grown(i); len(s.paths[i].For) > 0 {
			behind[key] += s.grown(i)
		}
	}
	inLock := func(path *compare.Path) bool {
		key := sleepKey(path)
		return inTaker(path) || behind[key] > 0 && behind[key] >= serialPart*whole[key]
	}
	slept := 0.0
	for i := range s.waits {
		if wait := &s.waits[i]; !wait.Lock && wait.WakerKind == recording.WakerTimer && inLock(&wait.Path) {
			slept += mean(wait.B)
		}
	}
	serial, held := slept <= mean(s.metricB), 0.0
	for _, i := range c.members {
		if len(s.paths[i].For) > 0 || serial && inLock(&s.paths[i]) {
			held += s.grown(i)
		}
	}
	all := s.total(c).b
	least := majority * max(slept, all)
	if held < majority*all {
		return false, false
	}
	byTurn = waited < least && serial && waited+turned >= least
	return byTurn || waited >= least, byTurn
}

// sleepKey tells waits apart by process and stack.
func sleepKey(path *compare.Path) string { return path.Process + "\x00" + prefix(path.Frames) }

// giveQueued gives the time that a thread waited for a CPU after a wait to whoever owns the wait:
// what is not a competitor's, a quota's or an affinity's comes with each wake-up.
func (l *ledger) giveQueued(rule transfer) {
	owners, queued := map[string]*claim{}, map[*claim][]int{}
	for i := range l.paths {
		if path := &l.paths[i]; path.Kind == compare.Blocked && !l.free(i) && l.traits[i].kernel < len(path.Frames) {
			owners[sleepKey(path)] = l.owner[i]
		}
	}
	for i := range l.paths {
		if l.paths[i].Kind != compare.Runnable || !l.free(i) {
			continue
		}
		if c := owners[sleepKey(&l.paths[i])]; c != nil {
			queued[c] = append(queued[c], i)
		}
	}
	for _, c := range slices.Clone(l.claims) {
		l.move(rule.rule, c, queued[c], rule.because)
	}
}
