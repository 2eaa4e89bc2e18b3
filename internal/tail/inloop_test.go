package tail

import (
	"testing"
	"time"

	"culprit/internal/cause"
	"culprit/recording"
)

// A request of an event loop waits for a timer where one ends the last wait before its answer. An
// event that ends it came for the request, whatever timers ended the loop's waits before. What the
// loop runs until then is for others, where it is the smaller part.
func TestRequestsThatAwaitATimer(t *testing.T) {
	for _, test := range []struct {
		name       string
		last       string // who ends the last wait
		call       string
		after      string // class of a stretch that follows
		oneRequest bool   // at a time: no event loop
		ran        int64  // between the two waits
		want       cause.ID
		share      float64
	}{
		{name: "a timer", last: recording.WakerTimer, call: "epoll_wait", want: cause.SleepDeliberate, share: 0.6},
		{name: "while the loop runs", last: recording.WakerTimer, call: "epoll_wait", ran: 6e6,
			want: cause.SleepDeliberate, share: 0.8},
		{name: "after the loop ran", last: recording.WakerTimer, call: "epoll_wait", ran: 30e6, want: cause.CodeGrew},
		{name: "an event", last: recording.WakerThread, call: "epoll_wait"},
		{name: "another call", last: recording.WakerTimer, call: "recvfrom"},
		{name: "then another service", last: recording.WakerTimer, call: "epoll_wait", after: recording.PartDownstream,
			want: cause.DownstreamSlow, share: 0.3},
		{name: "no loop", last: recording.WakerTimer, call: "epoll_wait", oneRequest: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
				request.Interleaved = !test.oneRequest
				at := func(class string, from, length int64) recording.RequestPart {
					return recording.RequestPart{Class: class, TimeNs: request.TimeNs + from, LengthNs: length,
						Stack: recording.NoStack, WakerStack: recording.NoStack, HopStack: recording.NoStack}
				}
				others, last := at(recording.PartNet, 0, 9e6), at(recording.PartNet, 9e6+test.ran, 9e6)
				others.Syscall, others.WakerKind = "epoll_wait", recording.WakerTimer
				last.Syscall, last.WakerKind = test.call, test.last
				between, ran := at(recording.PartCPU, 9e6, test.ran), at(recording.PartCPU, 18e6+test.ran, 1e6)
				between.Stack, ran.Stack = 1, 1
				parts := []recording.RequestPart{others, between, last, ran}
				if test.after != "" {
					asks := at(test.after, 19e6, 9e6)
					asks.Where = "tcp 192.0.2.1:80"
					parts = append(parts, asks)
				}
				return parts
			})
			result, first := Explain(rec, Options{Over: 10 * time.Millisecond}), cause.ID("")
			if len(result.Suspects) > 0 {
				first = result.Suspects[0].Cause
			}
			if first != test.want {
				t.Fatalf("%q, want %q: %+v", first, test.want, result.Suspects)
			}
			if first != "" && result.Suspects[0].Share.Value < test.share {
				t.Errorf("%s has %.2f, want %.2f", first, result.Suspects[0].Share.Value, test.share)
			}
			if first == cause.SleepDeliberate && result.Suspects[0].Places[0].Name != "compact" {
				t.Errorf("place %+v, want what the loop ran then", result.Suspects[0].Places)
			}
		})
	}
}
