package compare

import (
	"culprit/internal/code"
	"culprit/recording"
)

// perlUnseen is what is told where much of the CPU time is in subs that may have no frames.
const perlUnseen = "a sub of Perl's package main that is declared with a plain sub has no frame: its time " +
	"counts as its caller's"

// inPerlMain reports whether the innermost code of Perl in a stack is the script's own, outside of all subs that have
// frames.
func (p *pool) inPerlMain(stack []int32) bool {
	for i := len(stack) - 1; i >= 0; i-- {
		switch frame := &p.frames[stack[i]]; {
		case frame.Kind == recording.KindOther && frame.File != "":
			return code.IsEntry(*frame)
		case code.RunsPerl(frame):
			return false
		}
	}
	return false
}
