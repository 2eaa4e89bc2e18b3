package cause

import (
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/counts"
)

// On a host of two CPUs that is busy all the time a program that now sleeps often queues often, and
// nobody is to blame for it; a stranger that runs beside one side only is.
func TestStrangersAsBefore(t *testing.T) {
	for _, test := range []struct {
		name             string
		othersA, othersB float64 // CPU seconds of the rest of the host in 1 s of A and 2 s of B
		own              bool    // the competitor is of the program's own tree
		changed          []compare.FactChange
		want             bool
		cpusOfA, cpusOfB string
		oneSided         bool
	}{
		{name: "busy on both sides", othersA: 1.4, othersB: 3.7, cpusOfA: "2", cpusOfB: "2", want: true},
		{name: "beside B only", othersA: 0.1, othersB: 2.1, cpusOfA: "2", cpusOfB: "2"},
		{name: "a process of the program", othersA: 1.4, othersB: 3.7, cpusOfA: "2", cpusOfB: "2", own: true},
		{name: "another priority", othersA: 1.4, othersB: 3.7, cpusOfA: "2", cpusOfB: "2",
			changed: []compare.FactChange{{Name: "target.nice", A: "0", B: "10"}}},
		{name: "another host", othersA: 1.4, othersB: 3.7, cpusOfA: "2", cpusOfB: "4"},
		{name: "nobody was counted", cpusOfA: "2", cpusOfB: "2"},
		{name: "one side", othersA: 1.4, othersB: 3.7, cpusOfA: "2", cpusOfB: "2", oneSided: true},
	} {
		s := &scene{oneSided: test.oneSided, changes: test.changed,
			factsA: map[string]string{"cpu.count": test.cpusOfA}, factsB: map[string]string{"cpu.count": test.cpusOfB},
			in: Input{CPU: &compare.Result{A: []float64{0.5}, B: []float64{0.1}},
				Wall: &compare.Result{A: []float64{1}, B: []float64{2}}},
			counts: []compare.Count{{Name: counts.StrangersCPU, A: []float64{test.othersA},
				B: []float64{test.othersB}}},
			paths: []compare.Path{{Kind: compare.Runnable, WakerComm: "other", WakerOwn: test.own, A: []float64{0},
				B: []float64{1}}}}
		if got := s.strangersAsBefore(&claim{members: []int{0}}); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// On a host that is busy all the time the program starts processes of its own beside its work: each
// of its processes waits longer for the same strangers.
func TestCrowdedByOwn(t *testing.T) {
	for _, test := range []struct {
		name     string
		seen     float64 // seconds of waiting while the program's own hog ran, of 1 s more
		hog, own float64 // seconds of CPU time that the hog and the work used more in B
		want     bool
	}{
		{"a hog of its own", 0.2, 2, 0, true},
		{"strangers alone", 0, 2, 0, false},
		{"a hog that did little", 0.2, 0.05, 0, false},
		{"the work itself grew more", 0.2, 0.5, 1, false},
	} {
		queue := func(runner string, own bool, seconds float64) compare.Path {
			return compare.Path{Kind: compare.Runnable, Process: "work", WakerComm: runner, WakerOwn: own,
				A: []float64{0.01, 0.01}, B: []float64{0.01 + seconds, 0.01 + seconds}}
		}
		ran := func(process string, seconds float64) compare.Path {
			return compare.Path{Kind: compare.Running, Process: process, A: []float64{0, 0}, B: []float64{seconds, seconds}}
		}
		s := newScene(Input{
			Result: &compare.Result{Metric: compare.MetricWall, A: []float64{1, 1}, B: []float64{2, 2},
				Paths: []compare.Path{queue("stranger", false, 1-test.seen), queue("hog", true, test.seen)}},
			CPU: &compare.Result{Metric: compare.MetricCPU, A: []float64{1, 1},
				B:     []float64{1 + test.hog + test.own, 1 + test.hog + test.own},
				Paths: []compare.Path{ran("hog", test.hog), ran("work", test.own)}}})
		c := &claim{members: []int{0, 1}}
		s.tellCrowding(c)
		if process, _ := s.crowding(c); (process != "") != test.want {
			t.Errorf("%s: %q, want one: %v", test.name, process, test.want)
		}
		if named := len(c.places) == 1 && c.where()[0] == "CPU used by hog"; named != test.want {
			t.Errorf("%s: the places are %v", test.name, c.where())
		}
	}
}

// Two runs a side leave any interval open; what each run of B has, and none of A, is still worth
// telling.
func TestApart(t *testing.T) {
	for _, test := range []struct {
		name string
		a, b []float64
		want bool
	}{
		{"only B has it", []float64{0, 0}, []float64{0.5, 0.7}, true},
		{"far more of it", []float64{0.1, 0.12}, []float64{0.5, 0.9}, true},
		{"the runs overlap", []float64{0.1, 0.6}, []float64{0.5, 0.9}, false},
		{"hardly apart", []float64{0.1, 0.5}, []float64{0.6, 1.5}, false},
		{"enough runs for an interval", []float64{0, 0, 0, 0}, []float64{1, 1, 1, 1}, false},
		{"A has more", []float64{0.5, 0.7}, []float64{0, 0}, false},
		{"no runs", nil, []float64{1, 1}, false},
	} {
		if got := apart(test.a, test.b); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
