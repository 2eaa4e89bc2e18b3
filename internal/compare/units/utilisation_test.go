package units

import (
	"math"
	"testing"

	"culprit/recording"
)

// How busy a service, its busiest thread and its host were; counters go on within a gap, in which
// the recording's clock stands still.
func TestUtilisation(t *testing.T) {
	rec := &recording.Recording{Manifest: recording.Manifest{WindowNs: 8e9,
		Gaps: []recording.Gap{{TimeNs: 4e9, LengthNs: 2e9}}, Metrics: map[string]float64{recording.MetricCPU: 8}}}
	rec.Threads = []recording.Thread{{Tid: 1, CPUNs: 2e9}, {Tid: 2, CPUNs: 6e9}}
	for _, row := range []struct {
		scope string
		ns    int64
		value float64
	}{{"cpu0", 8e9, 55}, {"cpu0", 0, 50}, {"cpu1", 0, 70}, {"cpu1", 3e9, 72}, {"cpu1", 8e9, 80},
		{"cpu2", 0, 1}, {"cpu3", 0, 2}} {
		rec.Metrics = append(rec.Metrics, recording.Metric{Name: "cpu.busy_s", Scope: row.scope, TimeNs: row.ns,
			Value: row.value})
	}
	for _, one := range []struct {
		what string
		of   func(*recording.Recording) (float64, bool)
		want float64
	}{{"CPUs", CPUsBusy, 1}, {"busiest thread", BusiestThread, 0.75}, {"host", HostBusy, 15.0 / 4 / 10}} {
		if got, told := one.of(rec); !told || math.Abs(got-one.want) > 1e-9 {
			t.Errorf("%s: %g, %v; want %g", one.what, got, told, one.want)
		}
		if got, told := one.of(&recording.Recording{}); told {
			t.Errorf("%s of an empty recording: %g", one.what, got)
		}
	}
}
