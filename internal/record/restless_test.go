package record

import (
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"culprit/recording"
)

// Services that do not hold still: each request is counted, and one that dies takes only what it
// did not answer.
func TestRestlessServices(t *testing.T) {
	recorder := start(t, Options{Requests: true})
	for name, try := range map[string]func(*testing.T, *Recorder){"2,000 connections": manyConnections,
		"2,000 threads": manyThreads, "workers that come and go": newWorkers, "killed in the middle": killed} {
		t.Run(name, func(t *testing.T) { try(t, recorder) })
	}
}

// restless is a service that is being recorded.
func restless(t *testing.T, recorder *Recorder, how string) (server *held, port int) {
	t.Helper()
	port = freePort(t)
	server = running(t, programs.compile(t, "restless.c"), strconv.Itoa(port), how)
	awaitPort(t, port)
	if err := recorder.Begin(t.Context(), Target{Kind: "pid", Pid: server.pid()}); err != nil {
		t.Fatal(err)
	}
	return server, port
}

// countedAll holds the number of requests that were seen to the number that was asked.
func countedAll(t *testing.T, recorder *Recorder, asked int64) *recording.Recording {
	t.Helper()
	time.Sleep(20 * time.Millisecond)
	got := endWindow(t, recorder)
	got.lossless(t, "requests")
	if sum, _ := kindOf(got.Recording, recording.SideServer, "GET /page"); sum.Count != asked {
		t.Errorf("%d requests were seen of %d", sum.Count, asked)
	}
	return got.Recording
}

// manyConnections stay open, and the sockets of all of them are followed.
func manyConnections(t *testing.T, recorder *Recorder) {
	const connections = 2000
	_, port := restless(t, recorder, "plain")
	askers := make([]*asker, connections)
	for i := range askers {
		askers[i] = newAsker(t, port)
		defer askers[i].connection.Close()
	}
	for range 2 {
		for _, a := range askers {
			if _, err := a.ask("/page"); err != nil {
				t.Fatal(err)
			}
		}
	}
	countedAll(t, recorder, 2*connections)
}

// manyThreads sleep all the time beside those that serve.
func manyThreads(t *testing.T, recorder *Recorder) {
	_, port := restless(t, recorder, "threads")
	askAll(t, port, 4, 400, "/page")
	countedAll(t, recorder, 400)
}

// newWorkers are followed from their first connection on: they are forked while the window is open.
func newWorkers(t *testing.T, recorder *Recorder) {
	_, port := restless(t, recorder, "fork")
	const rounds, requests = 60, 3
	for range rounds {
		a := newAsker(t, port)
		for range requests {
			if _, err := a.ask("/page"); err != nil {
				t.Fatal(err)
			}
		}
		a.connection.Close()
	}
	rec := countedAll(t, recorder, rounds*requests)
	workers := map[int32]bool{}
	for _, request := range rec.SlowRequests {
		workers[request.Pid] = true
	}
	if len(workers) < rounds/10/2 {
		t.Errorf("requests of %d workers, of about %d", len(workers), rounds/10)
	}
}

// killed leaves what it answered.
func killed(t *testing.T, recorder *Recorder) {
	server, port := restless(t, recorder, "plain")
	askAll(t, port, 2, 200, "/page")
	if err := unix.Kill(server.pid(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	countedAll(t, recorder, 200)
}
