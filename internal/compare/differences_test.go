package compare_test

import (
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/rank"
	"culprit/internal/compare/units"
)

// An interpreter's or a run time's function says nothing of the program: the item tells whose work
// it does.
func TestDifferencesNameTheProgramsOwnFunction(t *testing.T) {
	rec := sampled(map[string]int64{
		"_start;s:serve@a.js;n:v8::internal::StringTable::LookupKey": 30,
		"_start;s:other@a.js;n:v8::internal::StringTable::LookupKey": 10,
		"_start;s:serve@a.js":                 20,
		"_start;main;memcpy":                  15,
		"_start;v8::internal::Heap::Scavenge": 5,
	})
	rec[0].Manifest.Metrics[compare.MetricCPU] = 0.080
	result := compared(t, compare.MetricCPU, rec, nil)
	want := map[string]string{"v8::internal::StringTable::LookupKey": "serve@a.js", "serve@a.js": "",
		"v8::internal::Heap::Scavenge": "", "memcpy": ""}
	seen := 0
	for _, item := range rank.Of(result, units.Work{}, 0.95).Differences(10) {
		if where, known := want[item.Name]; known {
			seen++
			if item.Signal != "cpu" || item.Where != where {
				t.Errorf("%s %s: where %q, want %q", item.Signal, item.Name, item.Where, where)
			}
		}
	}
	if seen != len(want) {
		t.Errorf("%d of %d items: %+v", seen, len(want), rank.Of(result, units.Work{}, 0.95).Differences(10))
	}
}
