package faults

import (
	"testing"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/unwind"
	"culprit/recording"
)

// Without stacks the exact count of a process is one row; without faults there is none.
func TestBookWithoutStacks(t *testing.T) {
	window := &bpf.Window{Recording: &recording.Recording{}, Comm: map[int32]string{7: "app"}}
	book(window, recording.SignalFault, 7, 321, nil)
	book(window, recording.SignalMajor, 7, 0, nil)
	rows := window.Recording.Samples
	if len(rows) != 1 || rows[0].Count != 321 || rows[0].Stack != recording.NoStack || !rows[0].Target ||
		rows[0].Comm != "app" || rows[0].Signal != recording.SignalFault {
		t.Errorf("%+v", rows)
	}
}

// A stack that does not come, or that somebody else took, is a loss and not another's stack.
func TestClaimWithoutItsStack(t *testing.T) {
	window := &bpf.Window{Recording: &recording.Recording{}, Traces: []unwind.Trace{
		{Tid: 7, KtimeNs: 900}, {Tid: 7, KtimeNs: 1000 + joinWithinNs + 1}, {Tid: 8, KtimeNs: 1001, LeftCPU: true},
		{Tid: 9, KtimeNs: 1001}}}
	stacks := claim(window, []faultsSample{{Time: 1000, Tid: 7, Tgid: 7, Weight: 1},
		{Time: 1000, Tid: 8, Tgid: 8, Weight: 1}})
	losses := window.Recording.Manifest.Losses
	if len(stacks) != 0 || len(losses) != 1 || losses[0].Count != 2 {
		t.Errorf("%v, %+v", stacks, losses)
	}
	for _, trace := range window.Traces {
		if trace.LeftCPU != (trace.Tid == 8) {
			t.Errorf("%+v", trace)
		}
	}
}
