package tail

import (
	"testing"

	"culprit/recording"
)

// Several threads of a process are event loops where each answers what it has read and has several
// requests in hand: threads with a request each have not, and of a pool another one may answer.
func TestSeveralLoops(t *testing.T) {
	for _, test := range []struct {
		name        string
		threads     int32
		interleaved int // of 100 requests
		handed      int // answered by another thread
		carry       bool
		want        bool
	}{
		{"one loop", 1, 1, 0, false, true},
		{"one thread, one request at a time", 1, 0, 0, false, false},
		{"two loops", 2, 20, 0, false, true},
		{"threads with a connection each", 2, 0, 0, false, false},
		{"hardly ever two at once", 2, 4, 0, false, false},
		{"a pool", 2, 20, 10, false, false},
		{"threads that run tasks", 2, 20, 0, true, false},
	} {
		rec := &recording.Recording{}
		rec.Frames = []recording.Frame{{Name: "asio::detail::epoll_reactor::run", Kind: recording.KindNative},
			{Name: "epoll_wait", Kind: recording.KindNative}}
		rec.Stacks = []recording.Stack{{Frames: []int32{0, 1}}, {Frames: []int32{1}}}
		wait := recording.Wait{Pid: 7, Tid: 1, Stack: 1}
		if test.carry {
			wait.Stack = 0
		}
		rec.Waits = []recording.Wait{wait}
		for i := range 100 {
			row := recording.SlowRequest{ID: int64(i) + 1, Pid: 7, Tid: 1 + int32(i)%test.threads,
				Interleaved: i < test.interleaved}
			row.WriterTid = row.Tid
			if i < test.handed {
				row.WriterTid = 9
			}
			rec.SlowRequests = append(rec.SlowRequests, row)
		}
		if got := newReader(rec).loops[7]; got != test.want {
			t.Errorf("%s: loops %v, want %v", test.name, got, test.want)
		}
	}
}
