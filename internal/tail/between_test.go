package tail

import (
	"math"
	"slices"
	"strings"
	"testing"

	"culprit/internal/cause"
	"culprit/recording"
)

// served is what a request of a made side runs, and waits for in a class, in ms.
type served struct {
	cpu, wait float64
	class     string
}

// sideOf is two recordings of twenty seconds of a service: 1,000 requests each, of which of tells
// how they are served. The slowest two percent are kept, and every tenth of the others.
func sideOf(of func(i int) served) (group []*recording.Recording) {
	for range 2 {
		rec := &recording.Recording{Manifest: recording.Manifest{WindowNs: 20e9}}
		rec.Frames = []recording.Frame{{Name: "main", Kind: recording.KindNative, Module: "store"},
			{Name: "look_up", Kind: recording.KindNative, Module: "store"}}
		rec.Stacks = []recording.Stack{{Frames: []int32{0, 1}}}
		rec.Processes = []recording.Process{{Pid: 7, Comm: "store"}}
		row := recording.Request{Side: recording.SideServer, Service: "tcp port 1", Kind: "GET /", Pid: 7, LengthNs: 20e9}
		for i := range 1000 {
			one := of(i)
			ns := int64((one.cpu + one.wait) * 1e6)
			row.Count, row.TotalNs = row.Count+1, row.TotalNs+ns
			row.Buckets, row.Counts = append(row.Buckets, bucketOf(ns)), append(row.Counts, 1)
			slow := i%50 == 0
			if !slow && i%10 != 5 {
				continue
			}
			id, at := int64(i)+1, int64(i)*20e6
			request := recording.SlowRequest{ID: id, TimeNs: at, LatencyNs: ns, ServeNs: ns, Service: "tcp port 1",
				Kind: "GET /", Pid: 7, Tid: 8, WriterTid: 8, Slow: slow, Weight: 10}
			if slow {
				request.Weight = 1
			}
			rec.SlowRequests = append(rec.SlowRequests, request)
			part := recording.RequestPart{Request: id, TimeNs: at, LengthNs: int64(one.cpu * 1e6), Tid: 8,
				Class: recording.PartCPU, WakerStack: recording.NoStack, HopStack: recording.NoStack}
			rec.RequestParts = append(rec.RequestParts, part)
			if one.wait > 0 {
				part.TimeNs, part.LengthNs, part.Class = at+part.LengthNs, int64(one.wait*1e6), one.class
				rec.RequestParts = append(rec.RequestParts, part)
			}
		}
		rec.Requests = []recording.Request{row}
		group = append(group, rec)
	}
	return group
}

// usualSide: all run for about 1 ms, and one in fifty waits for a CPU for 4 ms, as on any host.
func usualSide(i int) served {
	one := served{cpu: 1 + 0.01*float64(i%7)}
	if i%50 == 0 {
		one.wait, one.class = 4+0.1*float64(i%9), recording.PartQueued
	}
	return one
}

// All requests run for half as long again, and one in fifty sleeps: the percentile is the sleep's.
func TestSlowRequestsSlowerThanThoseOfAnotherSide(t *testing.T) {
	dear := sideOf(func(i int) served {
		one := usualSide(i)
		one.cpu += 0.5
		if i%50 == 0 {
			one.wait, one.class = 30+0.1*float64(i%9), recording.PartSleep
		}
		return one
	})
	got := Between(sideOf(usualSide), dear, "p99")
	if len(got.Suspects) == 0 {
		t.Fatal(got.Why)
	}
	first := got.Suspects[0]
	if first.Cause != cause.SleepDeliberate || first.Share.Low < 0.9 || !slices.Contains(first.Where, "look_up") ||
		got.OfAll || got.Kind != "" {
		t.Errorf("%+v", got)
	}
	// A slow request sleeps for 30 ms; what it waited for a CPU before is gone.
	if sleep := first.Evidence[0]; sleep.A != 0 || math.Abs(sleep.B-30.4e-3) > 1e-3 ||
		math.Abs(first.Seconds.Value-sleep.B) > 1e-9 {
		t.Errorf("%+v, %+v", sleep, first.Seconds)
	}
}

// Near miss: all requests run for longer, slow ones as well. The one reason is told of all of them.
func TestSlowRequestsRunForLongerAsAllDo(t *testing.T) {
	dear := sideOf(func(i int) served {
		one := usualSide(i)
		one.cpu += 3
		return one
	})
	got := Between(sideOf(usualSide), dear, "p99")
	if len(got.Suspects) == 0 || got.Suspects[0].Cause != cause.CodeGrew || !got.OfAll {
		t.Errorf("%+v", got)
	}
	// Only the slow ones do: that is theirs.
	dear = sideOf(func(i int) served {
		one := usualSide(i)
		if i%50 == 0 {
			one.cpu += 30
		}
		return one
	})
	if got = Between(sideOf(usualSide), dear, "p99"); len(got.Suspects) == 0 || got.OfAll {
		t.Errorf("%+v", got)
	}
}

// Where nothing is known of slow requests, or they are as before, there is no suspect and a
// sentence.
func TestNoDifferenceOfSlowRequests(t *testing.T) {
	if got := Between(sideOf(usualSide), sideOf(usualSide), "p99"); len(got.Suspects) > 0 ||
		!strings.Contains(got.Why, "take no longer") {
		t.Errorf("%+v", got)
	}
	if got := Between(sideOf(usualSide), sideOf(usualSide), "p99.9"); len(got.Suspects) > 0 ||
		!strings.Contains(got.Why, "too few requests at the p99.9 were kept in full") {
		t.Errorf("%+v", got)
	}
}

// Another mix of requests is said.
func TestSlowRequestsOfAnotherKind(t *testing.T) {
	dear := sideOf(func(i int) served {
		one := usualSide(i)
		if i%50 == 0 {
			one.cpu += 30
		}
		return one
	})
	for _, rec := range dear {
		for i := range rec.SlowRequests {
			if rec.SlowRequests[i].Slow {
				rec.SlowRequests[i].Kind = "GET /report"
			}
		}
	}
	if got := Between(sideOf(usualSide), dear, "p99"); got.Kind != "GET /report" {
		t.Errorf("%+v", got)
	}
}

// All requests wait for another service: of the mean that is the difference, unless they run more
// for as long.
func TestAllRequestsWaitForOthers(t *testing.T) {
	for cpu, want := range map[float64]bool{1: true, 3: true, 9: false} {
		dear := sideOf(func(i int) served {
			one := usualSide(i)
			one.cpu, one.wait, one.class = cpu, 4, recording.PartDownstream
			return one
		})
		got := Between(sideOf(usualSide), dear, All)
		if got.OfPeers() != want {
			t.Errorf("%g ms on a CPU: of peers %t, want %t: %+v %s", cpu, got.OfPeers(), want, got.Suspects, got.Why)
		}
		if want && !slices.Contains(got.Suspects[0].Where, "waited for in look_up") {
			t.Errorf("%+v", got.Suspects[0])
		}
	}
}

// Requests that sleep longer say so; those that wait longer for a lock or a CPU may do so because
// of what others run.
func TestAllRequestsWait(t *testing.T) {
	for class, want := range map[string]bool{recording.PartSleep: true, recording.PartLock: false,
		recording.PartQueued: false, recording.PartDownstream: true} {
		dear := sideOf(func(i int) served {
			one := usualSide(i)
			one.wait, one.class = 9, class
			return one
		})
		if got := Between(sideOf(usualSide), dear, All); got.OfWaits() != want {
			t.Errorf("%s: of waits %t, want %t: %+v %s", class, got.OfWaits(), want, got.Suspects, got.Why)
		}
	}
}

// behindOne has each request of a side read by the one thread there is, which was at another until
// then: asleep for so many ms, which is as long as it is at any.
func behindOne(group []*recording.Recording, ms int64) []*recording.Recording {
	for _, rec := range group {
		for i := range rec.SlowRequests {
			row := &rec.SlowRequests[i]
			row.WaitNs, row.LatencyNs = ms*1e6, row.LatencyNs+ms*1e6
			rec.RequestParts = append(rec.RequestParts, recording.RequestPart{Request: row.ID, TimeNs: row.TimeNs - ms*1e6,
				LengthNs: ms * 1e6, Tid: row.Tid, Class: recording.PartSleep, Before: true, Behind: row.ID - 1,
				WakerStack: recording.NoStack, HopStack: recording.NoStack})
		}
	}
	return group
}

// One worker is left of four: requests wait for its turns, each as long as any. Among the requests
// of one recording that is the load; against the side with four it is the difference.
func TestTurnsOfTheOnlyWorker(t *testing.T) {
	naps := func(i int) served { return served{cpu: 0.1, wait: 2, class: recording.PartSleep} }
	four := sideOf(naps)
	for _, rec := range four {
		for i := range rec.SlowRequests {
			rec.SlowRequests[i].Tid += int32(i % 4)
		}
	}
	got := Between(four, behindOne(sideOf(naps), 2), All)
	if len(got.Suspects) == 0 || got.Suspects[0].Cause != cause.RequestQueued ||
		!slices.Contains(got.Suspects[0].Where, "look_up") {
		t.Errorf("%+v", got)
	}
	if got := Between(four, behindOne(sideOf(naps), 2), "p99"); len(got.Suspects) > 0 {
		t.Errorf("slow requests wait for turns as all do: %+v", got)
	}
}
