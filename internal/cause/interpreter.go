package cause

import (
	"slices"

	"culprit/internal/code"
)

// giveInterpreter moves waits for CPython's interpreter to the code that ran in it meanwhile, where
// the run itself takes longer in that code: one thread at a time runs Python, so that all others
// wait for what takes longer there as they would for a CPU. Code that only runs beside the run has
// no claim: the run waits for it by that lock alone, which then is the cause.
func (l *ledger) giveInterpreter(rule transfer) {
	for _, c := range slices.Clone(l.claims) {
		if !c.cause.is(isCode) || c.silent != "" || len(c.place) == 0 {
			continue
		}
		var waits []int
		for i := range l.paths {
			owner := l.owner[i]
			if owner != nil && owner.cause == LockContended && code.AwaitsGIL(l.paths[i].Frames) &&
				depthOf(c.place[len(c.place)-1], l.paths[i].Holder) >= 0 {
				waits = append(waits, i)
			}
		}
		if len(waits) > 0 {
			l.move(rule.rule, c, waits, rule.because)
			c.partOf(l.scene, "other threads that wait for the interpreter meanwhile", waits)
		}
	}
}
