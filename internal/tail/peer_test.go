package tail

import (
	"slices"
	"strings"
	"testing"

	"culprit/recording"
)

// Who answers on this host wakes the thread that waits: an event loop by the last of its sleeps,
// where its clients end the others. An interrupt, a thread of the kernel and the target's own
// threads name nobody.
func TestWhoAnswers(t *testing.T) {
	const clients, peer = 90, 4711
	type wakers [3]recording.RequestPart
	thread := func(pid int32, comm string) recording.RequestPart {
		return recording.RequestPart{WakerKind: recording.WakerThread, WakerPid: pid, WakerComm: comm}
	}
	client, unsaid, pool := thread(clients, "wrk"), recording.RequestPart{}, "answered by php-fpm8.2, pid 4711"
	for name, each := range map[string]struct {
		by   wakers
		want string
	}{
		"by the loop's last sleep":      {wakers{client, client, thread(peer, "php-fpm8.2")}, pool},
		"by the wait of the thread":     {wakers{unsaid, unsaid, unsaid}, pool},
		"from another host":             {wakers{client, client, {WakerKind: recording.WakerInterrupt}}, ""},
		"in a thread of the kernel":     {wakers{client, client, thread(15, "ksoftirqd/1")}, ""},
		"by another thread of its own":  {wakers{client, client, thread(7, "store")}, ""},
		"by one of several of the pool": {wakers{client, client, thread(peer, "php-fpm8.2")}, pool},
	} {
		rec := made(200, 20, func(i int, request *recording.SlowRequest) (parts []recording.RequestPart) {
			for n, part := range each.by {
				part.Class, part.Where, part.Stack = recording.PartDownstream, "unix /run/fpm.sock", recording.NoStack
				part.TimeNs, part.LengthNs = request.TimeNs+int64(n)*10e6, 10e6
				if name == "by one of several of the pool" && i%3 == 0 && part.WakerPid == peer {
					part.WakerPid++
				}
				parts = append(parts, part)
			}
			return parts
		})
		for _, request := range rec.SlowRequests[200:] {
			rec.Waits = append(rec.Waits, recording.Wait{Pid: 7, Tid: 8, TimeNs: request.TimeNs, BlockedNs: request.LatencyNs,
				WakerKind: recording.WakerThread, WakerPid: peer, WakerComm: "php-fpm8.2"})
		}
		got := first(t, rec)
		at := slices.IndexFunc(got.Where, func(place string) bool { return strings.HasPrefix(place, "answered by ") })
		if at < 0 != (each.want == "") || at >= 0 && got.Where[at] != each.want {
			t.Errorf("%s: %q, want %q", name, got.Where, each.want)
		}
		if known := got.Remedy == "look at the peer: culprit tail -p 4711"; known != (each.want != "") {
			t.Errorf("%s: %s", name, got.Remedy)
		}
	}
}
