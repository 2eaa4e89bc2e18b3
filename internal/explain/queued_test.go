package explain

import (
	"math"
	"testing"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/units"
	"culprit/internal/stat"
	"culprit/internal/tail"
	"culprit/recording"
)

// perRequest is the evidence of two sides of a thousand requests each; what they sum up to at a
// function takes so many seconds.
func perRequest(path func(*compare.Path)) *Evidence {
	const requests = 1000
	all := []float64{requests, requests, requests}
	one := compare.Path{Frames: []recording.Frame{{Name: "serve"}, {Name: "Pool.work"}}}
	path(&one)
	result := &compare.Result{A: one.A, B: one.B, Paths: []compare.Path{one}, Waits: []compare.Wait{{Path: one}}}
	return &Evidence{Work: units.Work{Name: units.PerRequest, A: all, B: all}, Results: compare.Results{CPU: result}}
}

func scattered(value float64) []float64 { return []float64{value * 0.98, value, value * 1.02} }

// A pool that has fewer threads has requests wait behind each other: they see what it does for
// longer, and all threads do as much of it for each request as before.
func TestBehindOthers(t *testing.T) {
	suspect := func(id cause.ID, share float64, at string) cause.Suspect {
		of := func(part float64) compare.Interval {
			return compare.Interval{Value: part, Low: 0.9 * part, High: 1.1 * part}
		}
		return cause.Suspect{Cause: id, Share: of(share), Seconds: of(share * 3e-3),
			Places: []cause.Place{{Kind: cause.InCode, Name: at}}}
	}
	const place = "void Pool.work()" // as the kernel's side has it
	code, queued := suspect(cause.CodeGrew, 0.6, place), suspect(cause.RequestQueued, 0.3, place)
	for _, test := range []struct {
		name     string
		a, b     []float64
		outcome  stat.Outcome
		suspects []cause.Suspect
		first    cause.ID
		share    float64
	}{
		{"code, as much of it", scattered(1.5), scattered(1.5), stat.Worse, []cause.Suspect{code, queued},
			cause.RequestQueued, 0.9},
		{"a gain", scattered(1.5), scattered(1.5), stat.Better, []cause.Suspect{code}, cause.RequestQueued, 0.6},
		{"a sleep, as much of it", scattered(2), scattered(2), stat.Worse,
			[]cause.Suspect{suspect(cause.SleepDeliberate, 0.9, place)}, cause.RequestQueued, 0.9},
		{"more of it, which a queue multiplies", scattered(1.5), scattered(1.8), stat.Worse, []cause.Suspect{code, queued},
			cause.CodeGrew, 0.6},
		{"a sleep that is new, of which a queue makes more", scattered(0), scattered(0.4), stat.Worse,
			[]cause.Suspect{suspect(cause.SleepDeliberate, 0.9, place)}, cause.SleepDeliberate, 0.9},
		{"it may have grown by as much", []float64{0.5, 1.5, 2.5}, []float64{0.6, 1.6, 4.5}, stat.Worse,
			[]cause.Suspect{code}, cause.CodeGrew, 0.6},
		{"hardly any of it was seen", scattered(0.05), scattered(0.05), stat.Worse, []cause.Suspect{code}, cause.CodeGrew,
			0.6},
		{"elsewhere", scattered(1.5), scattered(1.5), stat.Worse, []cause.Suspect{suspect(cause.CodeGrew, 0.6, "other")},
			cause.CodeGrew, 0.6},
		{"a lock", scattered(1.5), scattered(1.5), stat.Worse, []cause.Suspect{suspect(cause.LockContended, 0.6, place)},
			cause.LockContended, 0.6},
		{"one recording", []float64{1.5}, []float64{1.55}, stat.Worse, []cause.Suspect{code}, cause.RequestQueued, 0.6},
		{"one recording, more", []float64{1.5}, []float64{1.8}, stat.Worse, []cause.Suspect{code}, cause.CodeGrew, 0.6},
		{"nothing known of requests", scattered(1.5), scattered(1.5), stat.Worse, nil, "", 0},
	} {
		e := perRequest(func(path *compare.Path) { path.A, path.B = test.a, test.b })
		told := e.behindOthers(Context{Outcome: test.outcome}, &tail.Difference{Suspects: test.suspects}).Suspects
		switch {
		case len(told) == 0 && test.first != "":
			t.Errorf("%s: nothing", test.name)
		case len(told) > 0 && (told[0].Cause != test.first || math.Abs(told[0].Share.Value-test.share) > 1e-9):
			t.Errorf("%s: %s %.2f, want %s %.2f", test.name, told[0].Cause, told[0].Share.Value, test.first, test.share)
		}
	}
}

// Requests that take more CPU time make a queue longer by more than that.
func TestWorksNoMore(t *testing.T) {
	for _, test := range []struct {
		name string
		a, b []float64
		want bool
	}{
		{"as much", scattered(1.5), scattered(1.5), true},
		{"less", scattered(1.5), scattered(1), true},
		{"more", scattered(1.5), scattered(1.8), false},
		{"one recording", []float64{1.5}, []float64{1.5}, false},
	} {
		e := perRequest(func(path *compare.Path) { path.A, path.B = test.a, test.b })
		if got := e.worksNoMore(Context{Outcome: stat.Worse}); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// A queue grows as the work of each request does, and with the time for which what it is for is in
// use. What grew by more than that has requests wait for something else.
func TestIsNoQueue(t *testing.T) {
	const served = 1000
	side := func(cpus, each float64) []*recording.Recording {
		window := served * each / cpus
		rec := &recording.Recording{Manifest: recording.Manifest{WindowNs: int64(window * 1e9),
			Metrics: map[string]float64{recording.MetricCPU: served * each}}}
		rec.Requests = []recording.Request{{Side: recording.SideServer, Count: served, TotalNs: served * 5e6}}
		rec.Metrics = []recording.Metric{{Name: "cpu.busy_s", Scope: "0"},
			{Name: "cpu.busy_s", Scope: "0", TimeNs: int64(window * 1e9), Value: cpus * window}}
		return []*recording.Recording{rec}
	}
	for _, test := range []struct {
		name         string
		cpusA, cpusB float64
		each         float64 // seconds of CPU of a request on B; one of A has 1 ms
		waitA, waitB float64
		want         bool
	}{
		{"a new wait, less busy", 0.8, 0.6, 1.5e-3, 0, 6e-3, true},
		{"bursts that take twice as long", 0.2, 0.4, 2e-3, 4e-3, 8e-3, false},
		{"as busy as can be", 0.8, 1, 1.2e-3, 1e-3, 30e-3, false},
		{"nearly as busy as can be", 0.8, 0.92, 2.7e-3, 0, 20e-3, false},
		{"busier: 0.7 for 0.5", 0.5, 0.7, 1.4e-3, 2e-3, 12e-3, false},
		{"busier, and far more", 0.5, 0.7, 1.4e-3, 2e-3, 20e-3, true},
		{"waits that are too short to be told", 0.3, 0.2, 1e-3, 0, 1.9e-3, false},
	} {
		e := &Evidence{A: side(test.cpusA, 1e-3), B: side(test.cpusB, test.each)}
		seen := cause.Suspect{Cause: cause.LockContended, Evidence: []cause.Evidence{{Signal: "requests",
			Unit: "s/request", A: test.waitA, B: test.waitB}}}
		if got := e.isNoQueue(Context{Outcome: stat.Worse}, &seen); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
		other := &Evidence{A: e.B, B: e.A}
		if got := other.isNoQueue(Context{Outcome: stat.Better}, &seen); got != test.want {
			t.Errorf("%s, the other way: %v", test.name, got)
		}
		e.B[0].Metrics = nil
		if e.isNoQueue(Context{Outcome: stat.Worse}, &seen) {
			t.Errorf("%s: told though it is not known how busy the host was", test.name)
		}
	}
}
