package compare

import (
	"culprit/internal/code"
	"culprit/recording"
)

// collectors tells the stacks and threads of a recording that collect garbage. Go's workers move between threads that
// also run the program: there the stack alone tells.
func collectors(rec *recording.Recording) func(tid, stack int32) bool {
	threads := map[int32]bool{}
	for i := range rec.Threads {
		if code.IsCollector(rec.Threads[i].Comm) {
			threads[rec.Threads[i].Tid] = true
		}
	}
	return func(tid, stack int32) bool {
		if threads[tid] {
			return true
		}
		for _, frame := range rec.StackFrames(stack) {
			if frame.Kind != recording.KindKernel && code.Collects(frame.Name) {
				return true
			}
		}
		return false
	}
}
