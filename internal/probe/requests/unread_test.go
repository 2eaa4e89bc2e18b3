package requests

import (
	"testing"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// A request that comes while a worker is started anew waits for nobody, then for the first thread
// of the new process, which loads the program, then for the thread that reads it.
func TestUnreadWhileAWorkerIsStarted(t *testing.T) {
	const ms = int64(1e6)
	for _, each := range []struct {
		name string
		born map[int32]int64
		want []recording.RequestPart
	}{
		{"started anew", map[int32]int64{7: 100 * ms, 9: 300 * ms}, []recording.RequestPart{
			{Class: recording.PartUnknown, Tid: 7, LengthNs: 80 * ms},
			{Class: recording.PartCPU, Tid: 7, LengthNs: 200 * ms}, {Class: recording.PartCPU, Tid: 9, LengthNs: 100 * ms}}},
		{"a thread for each connection", map[int32]int64{7: 0, 9: 390 * ms}, []recording.RequestPart{
			{Class: recording.PartCPU, Tid: 7, LengthNs: 370 * ms}, {Class: recording.PartCPU, Tid: 9, LengthNs: 10 * ms}}},
		{"there all the time", nil, []recording.RequestPart{{Class: recording.PartCPU, Tid: 9, LengthNs: 380 * ms}}},
		{"started after it was read, by the clock", map[int32]int64{7: 500 * ms, 9: 600 * ms}, []recording.RequestPart{
			{Class: recording.PartUnknown, Tid: 7, LengthNs: 380 * ms}}},
	} {
		m := &maker{window: &bpf.Window{EndNs: 1000 * ms}, born: each.born}
		m.unread(&recording.SlowRequest{ID: 1, Pid: 7, Tid: 9, TimeNs: 20 * ms}, 400*ms)
		if len(m.parts) != len(each.want) {
			t.Errorf("%s: %+v", each.name, m.parts)
			continue
		}
		for i, part := range m.parts {
			want := each.want[i]
			if part.Class != want.Class || part.Tid != want.Tid || part.LengthNs != want.LengthNs || !part.Before {
				t.Errorf("%s: part %d: %+v, want %+v", each.name, i, part, want)
			}
		}
	}
}
