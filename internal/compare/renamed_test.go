package compare_test

import (
	"maps"
	"slices"
	"testing"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/blame"
	"culprit/internal/compare/names"
	"culprit/recording"
)

// sampled is one recording with milliseconds of CPU time by stack.
func sampled(stacks map[string]int64) []*recording.Recording {
	m := newMade(1, 1)
	at := int64(0)
	for _, stack := range slices.Sorted(maps.Keys(stacks)) {
		m.runs(10, 10, at*ms, (at+stacks[stack])*ms, stack)
		at += stacks[stack]
	}
	return []*recording.Recording{m.rec}
}

func TestFunctionsInTheSamePlace(t *testing.T) {
	for name, c := range map[string]struct {
		a, b     map[string]int64
		old, now string
		same     bool
	}{
		"a shim near the root": {
			map[string]int64{"start;shim::v1;main;parse": 50, "start;shim::v1;main;total": 50},
			map[string]int64{"start;other_shim;main;parse": 50, "start;other_shim;main;total": 500},
			"shim::v1", "other_shim", true},
		"two one after the other": {
			map[string]int64{"start;outer1;inner1;main;work": 90}, map[string]int64{"start;outerB;innerB;main;work": 90},
			"inner1", "innerB", false}, // each could be either: what is not sure stays two
		"its neighbour was matched before": {
			map[string]int64{"start;shim1;main;work": 90, "start;shim1;other": 5, "start;shim1;main;pass1;leaf": 40},
			map[string]int64{"start;shimB;main;work": 90, "start;shimB;other": 5, "start;shimB;main;passB;leaf": 40},
			"pass1", "passB", true},
		"work of its own": {
			map[string]int64{"main;fast": 50, "main;fast;hash": 50}, map[string]int64{"main;slow": 500, "main;slow;hash": 50},
			"fast", "slow", false},
		"other callers": {
			map[string]int64{"main;x;pass1;work": 50}, map[string]int64{"main;y;pass2;work": 50}, "pass1", "pass2", false},
		"other callees": {
			map[string]int64{"main;pass1;work": 50}, map[string]int64{"main;pass2;rest": 50}, "pass1", "pass2", false},
		"nothing of its own below": {
			map[string]int64{"main;sort1;memcmp": 50}, map[string]int64{"main;sort2;memcmp": 90}, "sort1", "sort2", false},
		"two of them": {
			map[string]int64{"main;a1;work": 50, "main;a2;work": 50}, map[string]int64{"main;b1;work": 50}, "a1", "b1",
			false},
		"the old one is still there": {
			map[string]int64{"main;handle;work": 50},
			map[string]int64{"main;handle;work": 50, "main;audit;work": 50}, "handle", "audit", false},
	} {
		a, b := sampled(c.a), sampled(c.b)
		pool := names.New(a, b, nil)
		called := func(rec *recording.Recording, name string) string {
			for i, stack := range pool.Translate(rec) {
				if at := slices.Index(rec.StackNames(int32(i)), name); at >= 0 {
					return pool.Frames(stack)[at].Name
				}
			}
			return ""
		}
		if old := called(a[0], c.old); old == "" || (old == called(b[0], c.now)) != c.same {
			t.Errorf("%s: %s and %s are one function: %v", name, c.old, c.now, !c.same)
		}
	}
}

// The place of a change is not the function above it that is only called otherwise.
func TestBlameBelowARenamedFunction(t *testing.T) {
	a := sampled(map[string]int64{"start;script v1.js;serve;parse": 50, "start;script v1.js;serve;total": 50})
	b := sampled(map[string]int64{"start;script v2.js;serve;parse": 50, "start;script v2.js;serve;total": 350})
	a[0].Manifest.Metrics[compare.MetricCPU], b[0].Manifest.Metrics[compare.MetricCPU] = 0.1, 0.4
	place := blame.New(compared(t, compare.MetricCPU, a, b).Paths, code.Own).Find(nil)
	if place == nil || place.Frame().Name != "total" || place.Added {
		t.Errorf("blamed %+v", place)
	}
}
