package code

import (
	"path"
	"strings"

	"culprit/recording"
)

var (
	// signalNames are kernel functions that deliver a signal, or take the program back to where it
	// was.
	signalNames = words(`arch_do_signal_or_restart get_signal handle_signal setup_rt_frame
		rt_sigreturn restore_sigcontext posix_timer_fn it_real_fn posix_cpu_timer`)
	// despatchers are functions in which interpreters run a handler that the program wrote in their
	// language: CPython, Perl.
	despatchers = words(`PyErr_CheckSignals Perl_despatch_signals`)
)

// DeliversSignal reports whether the kernel delivers a signal on a stack, or comes back from one.
func DeliversSignal(frames []recording.Frame) bool { return InKernel(frames, signalNames...) }

// LeavesInterrupt reports whether a stack ends on the kernel's way from an interrupt back to the
// program, which is where it delivers signals. Samples of the software clock that fall due while
// interrupts are off are taken there.
func LeavesInterrupt(frames []recording.Frame) bool {
	last := len(frames) - 1
	return last >= 0 && frames[last].Kind == recording.KindKernel &&
		strings.Contains(frames[last].Name, "exit_to_user_mode")
}

// SignalHandler is where in a stack the program's handler of a signal begins, −1 for none. It is
// called by nobody: below the code that was interrupted stands the C library's return from signals
// (its return address is that function's first byte, so that most often it is a place in the
// library without a name), or an interpreter's despatcher.
func SignalHandler(frames []recording.Frame) int {
	own := Own(frames)
	for at := 1; at+1 < len(frames) && frames[at].Kind != recording.KindKernel; at++ {
		frame := &frames[at]
		nameless := own[at-1] && strings.HasPrefix(frame.Module, "libc.") &&
			frame.Name == path.Base(frame.Module)
		if (nameless || frame.Name == "__restore_rt") && own[at+1] {
			return at + 1
		}
		if containsAny(frame.Name, despatchers) {
			for below := at + 1; below < len(frames); below++ {
				if own[below] {
					return below
				}
			}
		}
	}
	return -1
}
