package record

import (
	"strconv"
	"testing"
	"time"

	"culprit/recording"
)

// Requests that come between two parts of a recording, or that are in progress when a part ends,
// are counted once.
func TestRequestsAcrossParts(t *testing.T) { bothWays(t, checkAcrossParts) }

func checkAcrossParts(t *testing.T, options Options) {
	const connections, count = 2, 240
	run := &Run{Recorder: start(t, options), every: 150 * time.Millisecond}
	endsWith(t, run, 3)
	port := freePort(t)
	server := running(t, programs.compile(t, "serve.c"), strconv.Itoa(port))
	awaitPort(t, port)
	run.Target = Target{Kind: "pid", Pid: server.pid()}
	if err := run.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	asked := make(chan map[string][]answered)
	go func() { asked <- askAll(t, port, connections, count, "/late") }()
	if err := run.Watch(t.Context()); err != nil {
		t.Fatal(err)
	}
	truth := <-asked
	time.Sleep(20 * time.Millisecond)
	rec := whole(t, run)
	if len(rec.Manifest.Gaps) < 2 {
		t.Fatalf("gaps %+v: more parts were to be written", rec.Manifest.Gaps)
	}
	sum, latencies := kindOf(rec, recording.SideServer, "GET /late")
	if sum.Count != count {
		t.Errorf("%d requests over %d parts, the truth is %d", sum.Count, len(rec.Manifest.Gaps)+1, count)
	}
	checkQuantiles(t, "GET /late", latencies, truth["/late"])
	for _, service := range rec.Services {
		if service.Pushes+service.InProgress > 0 {
			t.Errorf("%+v: pushes and requests in progress, the truth is none", service)
		}
	}
	for _, row := range rec.Requests {
		if row.SleepNs < 0 || row.UnfollowedNs < 0 || row.WaitedNs() > row.TotalNs {
			t.Errorf("sums of threads from two windows: %+v", row)
		}
	}
}

// A server that has closed its listener still answers: what it accepted is not what it asks of
// others.
func TestRequestsOfAServerThatListensNoMore(t *testing.T) { bothWays(t, checkListensNoMore) }

func checkListensNoMore(t *testing.T, options Options) {
	const count = 50
	recorder := start(t, options)
	port := freePort(t)
	server := running(t, programs.compile(t, "serve.c"), strconv.Itoa(port), "one")
	a := newAsker(t, port)
	defer a.connection.Close()
	if _, err := a.ask("/before"); err != nil {
		t.Fatal(err)
	}
	if err := recorder.Begin(t.Context(), Target{Kind: "pid", Pid: server.pid()}); err != nil {
		t.Fatal(err)
	}
	for range count {
		if _, err := a.ask("/item/17"); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(20 * time.Millisecond)
	got := endWindow(t, recorder)
	sum, _ := kindOf(got.Recording, recording.SideServer, "GET /item/#")
	if sum.Count != count || sum.Service != "tcp port "+strconv.Itoa(port) {
		t.Errorf("%d requests of %q, the truth is %d", sum.Count, sum.Service, count)
	}
	if asked, _ := kindOf(got.Recording, recording.SideClient, "GET /item/#"); asked.Count > 0 {
		t.Errorf("%d requests look as if the server had asked them", asked.Count)
	}
}
