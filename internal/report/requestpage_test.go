package report

import (
	"math"
	"strings"
	"testing"
	"time"

	"culprit/internal/tail"
	"culprit/recording"
)

// requestRecording has so many ordinary requests of a millisecond over twenty seconds, and twenty
// slow ones that waited for a lock which a thread held that slept.
func requestRecording(ordinary int, kind string) *recording.Recording {
	rec := &recording.Recording{Manifest: recording.Manifest{WindowNs: 20e9}}
	rec.Frames = []recording.Frame{{Name: "main", Kind: recording.KindNative, Module: "store"},
		{Name: "look_up", Kind: recording.KindNative, Module: "store"},
		{Name: "compact", Kind: recording.KindNative, Module: "store"}}
	rec.Stacks = []recording.Stack{{Frames: []int32{0, 1}}, {Frames: []int32{0, 2}}}
	rec.Processes = []recording.Process{{Pid: 7, Comm: "store"}}
	quick, slow := bucketOf(1e6), bucketOf(30e6)
	for second := range int64(20) {
		rec.Requests = append(rec.Requests, recording.Request{Side: recording.SideServer, Service: "tcp port 1",
			Kind: kind, Pid: 7, Comm: "store", TimeNs: second * 1e9, LengthNs: 1e9, Buckets: []int32{quick, slow},
			Counts: []int64{int64(ordinary) / 20 * 10, 1}, Count: int64(ordinary)/20*10 + 1,
			TotalNs: int64(ordinary)/20*10*1e6 + 30e6})
	}
	add := func(request recording.SlowRequest, parts ...recording.RequestPart) {
		request.ID = int64(len(rec.SlowRequests)) + 1
		request.Service, request.Kind, request.Pid, request.Tid = "tcp port 1", kind, 7, 8
		for _, part := range parts {
			part.Request, part.Tid, part.WakerStack, part.HopStack = request.ID, 8, recording.NoStack, recording.NoStack
			rec.RequestParts = append(rec.RequestParts, part)
		}
		rec.SlowRequests = append(rec.SlowRequests, request)
	}
	for i := range ordinary {
		at := int64(i) * 20e9 / int64(ordinary)
		add(recording.SlowRequest{TimeNs: at, LatencyNs: 1e6, Weight: 10},
			recording.RequestPart{Class: recording.PartCPU, TimeNs: at, LengthNs: 1e6})
	}
	for i := range int64(20) {
		at := i*1e9 + 5e6
		add(recording.SlowRequest{TimeNs: at, LatencyNs: 30e6, Slow: true, Weight: 1},
			recording.RequestPart{Class: recording.PartLock, Syscall: "futex", TimeNs: at, LengthNs: 29e6, WakerPid: 7,
				WakerTid: 9, WakerComm: "keeper", WakerKind: recording.WakerThread},
			recording.RequestPart{Class: recording.PartCPU, TimeNs: at + 29e6, LengthNs: 1e6})
		rec.Waits = append(rec.Waits, recording.Wait{Tid: 9, Pid: 7, TimeNs: at, BlockedNs: 28e6, Syscall: "nanosleep",
			Stack: 1})
	}
	return rec
}

func bucketOf(ns int64) int32 {
	for bucket := range int32(recording.LatencyBuckets) {
		if low, high := recording.LatencyOf(bucket); ns >= low && ns < high {
			return bucket
		}
	}
	return 0
}

var slowOver = tail.Options{Over: 10 * time.Millisecond}

// What the page gets of requests is all that the recording counted, by slice of time, and those in
// full with who held them and where.
func TestRequestPage(t *testing.T) {
	page := requestPageOf(RequestSide{Title: "a", Options: slowOver,
		Recordings: []*recording.Recording{{}, requestRecording(200, "GET /"), requestRecording(200, "GET /")}})
	side := page.Sides[0]
	if side.Recordings != 2 || len(side.Kinds) != 1 || len(side.Starts) != 20 || side.Seconds != 20 {
		t.Fatalf("%d recordings, %d kinds, %d slices", side.Recordings, len(side.Kinds), len(side.Starts))
	}
	kind := side.Kinds[0]
	if kind.Count != 2*2020 || kind.Slow != 20 || kind.Over != 0.01 || math.Abs(kind.Rate-101) > 1e-9 {
		t.Errorf("%d requests, %d over %v, %v a second", kind.Count, kind.Slow, kind.Over, kind.Rate)
	}
	inCells := int64(0)
	for _, count := range kind.InCell {
		inCells += count
	}
	if inCells != 2020 || len(kind.Cell) != 40 {
		t.Errorf("%d requests in %d cells", inCells, len(kind.Cell))
	}
	kept := side.Kept
	if len(kept.Kind) != 220 || len(kept.Class) != 240 || side.KeptLeft != 0 {
		t.Fatalf("%d requests in full with %d stretches, %d left", len(kept.Kind), len(kept.Class), side.KeptLeft)
	}
	at := 0
	for kept.Slow[at] == 0 {
		at++
	}
	first := 0
	for _, count := range kept.Parts[:at] {
		first += count
	}
	if got := side.Texts[kept.HeldBy[first]]; got != "keeper in compact" {
		t.Errorf("held by %q", got)
	}
	if got := side.Stacks.Names[side.Stacks.Name[kept.Holder[first]]]; got != "compact" {
		t.Errorf("the holder was at %q", got)
	}
	if len(side.Told) < 2 || !strings.Contains(side.Told[1], "lock.contended") {
		t.Errorf("told: %q", side.Told)
	}
	if requestPageOf(RequestSide{Recordings: []*recording.Recording{{}}}) != nil {
		t.Error("a recording without requests has a page of them")
	}
}

// Where there are more requests in full than a page holds, the slow ones stay and the others stand
// for as many more.
func TestRequestPageIsBounded(t *testing.T) {
	side := newRequestSide(RequestSide{Options: slowOver,
		Recordings: []*recording.Recording{requestRecording(3*pageKeptMax, "GET /")}})
	slow, stand := 0, int64(0)
	for i := range side.Kept.Kind {
		slow += side.Kept.Slow[i]
		stand += side.Kept.Weight[i]
	}
	if n := len(side.Kept.Kind); n > pageKeptMax || n < pageKeptMax/2 || slow != 20 {
		t.Errorf("%d requests kept, %d of them slow", n, slow)
	}
	if all := float64(3*pageKeptMax*10 + 20); math.Abs(float64(stand)-all) > 0.01*all {
		t.Errorf("they stand for %d of %.0f", stand, all)
	}
}
