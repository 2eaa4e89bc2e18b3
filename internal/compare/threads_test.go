package compare

import (
	"fmt"
	"math"
	"testing"

	"culprit/internal/compare/perrun"
	"culprit/internal/compare/units"
	"culprit/recording"
)

// spentIn is a path of one run a side.
func spentIn(process, thread string, a, b float64, names ...string) Path {
	path := Path{Process: process, Comm: thread, A: []float64{a}, B: []float64{b}}
	for _, name := range names {
		path.Frames = append(path.Frames, recording.Frame{Name: name, Kind: recording.KindNative})
	}
	return path
}

// sharesAddUp checks that a node's own time is that of its threads.
func sharesAddUp(t *testing.T, profile Profile) {
	t.Helper()
	a, b := make([]float64, len(profile.Nodes)), make([]float64, len(profile.Nodes))
	before := ThreadShare{Node: -1}
	for _, share := range profile.ByThread {
		if share.Node < before.Node || share.Node == before.Node && share.Thread <= before.Thread {
			t.Errorf("%+v stands behind %+v", share, before)
		}
		if share.Thread >= len(profile.Threads) {
			t.Fatalf("%+v names one of %d threads", share, len(profile.Threads))
		}
		a[share.Node] += share.SelfA
		b[share.Node] += share.SelfB
		before = share
	}
	for i, node := range profile.Nodes {
		if math.Abs(node.SelfA-a[i]) > 1e-9 || math.Abs(node.SelfB-b[i]) > 1e-9 {
			t.Errorf("%s has %v and %v, its threads %v and %v", node.Name, node.SelfA, node.SelfB, a[i], b[i])
		}
	}
}

func TestProfileByThread(t *testing.T) {
	profile := newProfile([]Path{
		spentIn("server", "main", 1, 2, "main", "serve"),
		spentIn("server", "worker-1", 0.5, 0.25, "main", "serve"),
		spentIn("server", "worker-1", 0.125, 0, "main"),
		spentIn("server", "main", 0, 4),
		spentIn("helper", "main", 8, 8, "main", "serve"),
	}, perrun.Sides{A: 1, B: 1}, 0.95)
	sharesAddUp(t, profile)
	want := []ProfileThread{{"helper", "main"}, {"server", "main"}, {"server", "worker-1"}}
	if fmt.Sprint(profile.Threads) != fmt.Sprint(want) {
		t.Errorf("threads are %v, want %v", profile.Threads, want)
	}
	if got := fmt.Sprint(profile.ByThread); got != "[{1 1 0 4} {2 2 0.125 0} {3 0 8 8} {3 1 1 2} {3 2 0.5 0.25}]" {
		t.Errorf("shares are %s", got)
	}
	sharesAddUp(t, profile.Per((*units.Work)(nil).Unit()))
	alone := newProfile([]Path{spentIn("a", "a", 1, 1, "main")}, perrun.Sides{A: 1, B: 1}, 0.95)
	if alone.Threads != nil || alone.ByThread != nil {
		t.Errorf("of one thread: %v, %v", alone.Threads, alone.ByThread)
	}
}

// A pool of threads is told apart as far as anybody can read it.
func TestProfileOfManyThreads(t *testing.T) {
	sides := perrun.Sides{A: 1, B: 1}
	for _, look := range []struct {
		name            string
		process, thread func(i int) string
		want            int
		last            ProfileThread
	}{
		{"few", func(int) string { return "p" }, func(i int) string { return fmt.Sprint("worker-", i%90) }, 90,
			ProfileThread{"p", "worker-0"}},
		{"pool", func(int) string { return "p" }, func(i int) string { return fmt.Sprint("worker-", i) }, 1,
			ProfileThread{"p", "worker-#"}},
		{"letters", func(i int) string { return fmt.Sprint("p", i%3) },
			func(i int) string { return fmt.Sprintf("%c%c", 'a'+i%26, 'a'+i/26) }, 3, ProfileThread{"p0", ""}},
		{"processes", func(i int) string { return fmt.Sprintf("%c%c", 'a'+i%26, 'a'+i/26) },
			func(int) string { return "t" }, threadsMax, others},
	} {
		var paths []Path
		for i := range 300 {
			paths = append(paths, spentIn(look.process(i), look.thread(i), float64(300-i), 0, "main", fmt.Sprint("f", i%7)))
		}
		threads, of := threadsOf(paths)
		if len(threads) != look.want || len(of) != len(paths) {
			t.Errorf("%s: %d threads of %d paths, want %d", look.name, len(threads), len(of), look.want)
		}
		if threads[len(threads)-1] != look.last && threads[0] != look.last {
			t.Errorf("%s: threads from %v to %v, want %v among them", look.name, threads[0], threads[len(threads)-1], look.last)
		}
		if profile := newProfile(paths, sides, 0.95); len(threads) > 1 {
			sharesAddUp(t, profile)
		}
	}
}

// What is left to its parent, as it is too small, stays with its thread.
func TestSharesOfWhatIsTooSmall(t *testing.T) {
	var paths []Path
	for i := range profileLimit + 10 {
		seconds := 1e-9
		if i%5000 == 0 {
			seconds = 1
		}
		paths = append(paths, spentIn("p", fmt.Sprint("t", i%2), seconds, 0, "main", fmt.Sprint("f", i), "leaf"))
	}
	profile := newProfile(paths, perrun.Sides{A: 1, B: 1}, 0.95)
	if len(profile.Nodes) > 100 {
		t.Errorf("%d nodes are left", len(profile.Nodes))
	}
	sharesAddUp(t, profile)
}
