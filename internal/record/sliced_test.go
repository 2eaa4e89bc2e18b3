package record

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"culprit/recording"
)

// asking sends requests over one connection, one after the other, until it is told to stop: when
// each was sent and when its answer was there.
func asking(t *testing.T, port int, path string) (stop func() [][2]time.Time) {
	t.Helper()
	a := newAsker(t, port)
	done, ended := make(chan struct{}), make(chan [][2]time.Time)
	go func() {
		var log [][2]time.Time
		defer func() {
			a.connection.Close()
			ended <- log
		}()
		for {
			select {
			case <-done:
				return
			default:
			}
			began := time.Now()
			if _, err := a.ask(path); err != nil {
				t.Error(err)
				return
			}
			log = append(log, [2]time.Time{began, time.Now()})
		}
	}()
	return func() [][2]time.Time {
		close(done)
		return <-ended
	}
}

// fitting is how many requests of a client lie within a stretch of so long, wherever it begins: at
// least and at most.
func fitting(log [][2]time.Time, length time.Duration) (least, most int) {
	least = len(log)
	for first := range log {
		from, inside := log[first][0], 0
		for _, request := range log[first:] {
			if !request[1].After(from.Add(length)) {
				inside++
			}
		}
		most = max(most, inside)
		if !log[len(log)-1][1].Before(from.Add(length)) {
			least = min(least, inside)
		}
	}
	// A stretch begins within a request, and now and then the kernel leaves out a program that it
	// interrupts.
	return max(0, least-2), most + 1
}

// Requests that are watched in slices of time after a part in which all were: what was seen is what
// lay within the slices, what is told stands for the whole, and a window after it counts every
// request again.
func TestRequestsInSlices(t *testing.T) { bothWays(t, checkInSlices) }

func checkInSlices(t *testing.T, options Options) {
	t.Parallel() // it waits for slices; each way has a recorder, a server and a client of its own
	const count = 40
	recorder := start(t, options)
	port := freePort(t)
	server := running(t, programs.compile(t, "serve.c"), strconv.Itoa(port))
	awaitPort(t, port)
	target := Target{Kind: "pid", Pid: server.pid()}
	parts, err := NewParts(recorder, target, filepath.Join(t.TempDir(), "sliced.culprit"))
	if err != nil {
		t.Fatal(err)
	}
	if err := parts.Begin(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	askAll(t, port, 1, count, "/wrong")
	if err := parts.EndToGoOn(t.Context()); err != nil {
		t.Fatal(err)
	}
	parts.target.Share = 0.25
	stop := asking(t, port, "/sleep/17")
	if err := parts.Begin(t.Context(), "less"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(4500 * time.Millisecond) // two periods of two seconds, and the beginning of a third
	if _, err := parts.Finish(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	log := stop()
	rec, err := recording.Open(parts.path)
	if err != nil {
		t.Fatal(err)
	}
	checkSlices(t, rec, log)
	if sum, _ := kindOf(rec, recording.SideServer, "GET /wrong"); sum.Count != count || sum.Errors != count {
		t.Errorf("%d requests, %d of them failed, before there were slices; the truth is %d", sum.Count, sum.Errors, count)
	}

	if err := recorder.Begin(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	askAll(t, port, 2, count, "/sleep/17")
	time.Sleep(20 * time.Millisecond)
	got := endWindow(t, recorder)
	sum, _ := kindOf(got.Recording, recording.SideServer, "GET /sleep/#")
	if sum.Count != count || got.Manifest.Watched != nil {
		t.Errorf("%d requests of %d in a window after it, watched: %v", sum.Count, count, got.Manifest.Watched)
	}
}

func checkSlices(t *testing.T, rec *recording.Recording, log [][2]time.Time) {
	t.Helper()
	watched := rec.Manifest.Watched
	if watched == nil || watched.OfNs != rec.Manifest.WindowNs || watched.Slices < 2 || !(watched.Share() < 1) {
		t.Fatalf("watched %+v of %d ns", watched, rec.Manifest.WindowNs)
	}
	if !slices.ContainsFunc(rec.Manifest.BlindSpots, func(spot recording.BlindSpot) bool {
		return spot.Kind == recording.BlindSliced && spot.What == watched.String()
	}) {
		t.Errorf("blind spots %v", rec.Manifest.BlindSpots)
	}
	slicesNs, lengthsNs, rows, seen, told := int64(0), int64(0), 0, int64(0), int64(0)
	for i := range rec.Requests {
		row := &rec.Requests[i]
		if row.Kind != "GET /sleep/#" {
			continue
		}
		least, most := fitting(log, time.Duration(row.WatchedNs))
		if row.Seen < int64(least) || row.Seen > int64(most) {
			t.Errorf("%d requests seen in %d ns, the client had between %d and %d", row.Seen, row.WatchedNs, least, most)
		}
		if row.WatchedAtNs < row.TimeNs || row.WatchedAtNs+row.WatchedNs > row.TimeNs+row.LengthNs {
			t.Errorf("watched from %d for %d ns, for %d ns from %d on", row.WatchedAtNs, row.WatchedNs, row.LengthNs,
				row.TimeNs)
		}
		if parts := row.WaitNs + row.UploadNs + row.ServeNs + row.AnswerNs; parts != row.TotalNs {
			t.Errorf("the parts are %d ns, the whole %d", parts, row.TotalNs)
		}
		slicesNs, lengthsNs, rows = slicesNs+row.WatchedNs, lengthsNs+row.LengthNs, rows+1
		seen, told = seen+row.Seen, told+row.Count
	}
	if rows < 2 || told > int64(len(log)*mostTold) {
		t.Fatalf("%d slices with requests; %d seen, %d told, the client had %d", rows, seen, told, len(log))
	}
	// One stands at least for the time by what was watched of it; every request took 3 ms.
	if share := float64(slicesNs) / float64(lengthsNs); float64(told) < 0.99*float64(seen)/max(share, watched.Share()) {
		t.Errorf("%d seen in %.2f of the time, %d told", seen, share, told)
	}
	if _, latencies := kindOf(rec, recording.SideServer, "GET /sleep/#"); float64(latencies[0]) < 0.97*3e6 {
		t.Errorf("a request with a sleep of 3 ms took %d ns", latencies[0])
	}
	for _, name := range rec.Manifest.Cost.Programs() {
		if strings.HasPrefix(name, "requests/") {
			return
		}
	}
	t.Errorf("no cost of requests in %v", rec.Manifest.Cost.BPFNs)
}

// mostTold bounds what is told of a client's requests: by the spread of its rate between slices.
const mostTold = 3
