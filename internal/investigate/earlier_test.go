package investigate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"culprit/internal/compare/units"
	"culprit/internal/explain"
	"culprit/internal/record"
	"culprit/internal/trial"
	"culprit/recording"
)

// shop is a recording of a service that answers a thousand requests a second, each after so many
// microseconds, all of them on the CPU.
func shop(started time.Time, seconds, us int64) *recording.Recording {
	rec := &recording.Recording{Manifest: recording.Manifest{Schema: recording.SchemaVersion, Program: "culprit test",
		Host: "web1", Hz: 199, SliceNs: 50e6, WindowNs: seconds * 1e9, StartedAt: started,
		Target: recording.Target{Kind: "pid", Pid: 10}}}
	rec.Frames = []recording.Frame{{Name: "answer", Kind: recording.KindNative, Module: "serve"}}
	rec.Stacks = []recording.Stack{{Frames: []int32{0}}}
	bucket := int32(0)
	for low, high := recording.LatencyOf(bucket); us*1000 < low || us*1000 >= high; bucket++ {
		low, high = recording.LatencyOf(bucket + 1)
	}
	used := int64(0)
	for second := range seconds {
		busy := 1000*us*1000 + second%3*1_000_000
		used += busy
		rec.Requests = append(rec.Requests, recording.Request{TimeNs: second * 1e9, LengthNs: 1e9,
			Side: recording.SideServer, Service: "tcp port 80", Kind: "GET /", Pid: 10, Comm: "serve", Count: 1000,
			TotalNs: busy, Buckets: []int32{bucket}, Counts: []int64{1000}})
		rec.Samples = append(rec.Samples, recording.Sample{Signal: recording.SignalCPU, TimeNs: second * 1e9, Pid: 10,
			Tid: 10, Count: 10, ValueNs: busy, Target: true, Comm: "serve"})
	}
	rec.Processes = []recording.Process{{Pid: 10, Ppid: 1, Comm: "serve", CPUNs: used}}
	rec.Threads = []recording.Thread{{Pid: 10, Tid: 10, Comm: "serve", CPUNs: used}}
	return rec
}

// Against one recording made earlier the verdict is that of its parts, against several that of all,
// with the warnings that a comparison of recordings has; with nothing else asked for it is on the
// requests.
func TestVerdictAgainstEarlierRecordings(t *testing.T) {
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, metric string
		earlier      []int64 // microseconds of each recording
		now          int64
		want         Outcome
		lead, warns  string
	}{
		{"one", "auto", []int64{200}, 400, Worse, "", "one recording of a side"},
		{"several", "auto", []int64{200, 203, 201}, 400, Worse, "", "are older than those of B"},
		{"the same", "p50", []int64{200, 200, 200}, 200, Same, "p50", "are older than those of B"},
		{"quicker", "latency", []int64{400}, 200, Better, units.Latency, "one recording of a side"},
		{"CPU time", "cpu", []int64{200}, 400, Worse, trial.MetricCPU, "one recording of a side"},
	} {
		metric, err := ParseMetric(c.metric)
		if err != nil {
			t.Fatal(err)
		}
		inv := &investigation{c: &Case{B: &SideSummary{}}, options: Options{Metric: metric, Smallest: 0.1}}
		var a, b []*recording.Recording
		for i, us := range c.earlier {
			a = append(a, shop(at.Add(time.Duration(i)*time.Minute), 30, us))
		}
		for i := range serviceWindows {
			b = append(b, shop(at.Add(24*time.Hour+time.Duration(i)*time.Minute), 10, c.now+int64(i%2)))
		}
		shown, err := explain.Read(a, b, units.PerAuto)
		if err != nil {
			t.Fatal(err)
		}
		known, err := inv.testAgainst(shown)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if inv.c.Outcome != c.want || c.lead != "" && inv.c.Metric.Name != c.lead || inv.c.Per != units.PerRequest ||
			known.Outcome == "" || !strings.Contains(strings.Join(inv.c.Warnings, "\n"), c.warns) {
			t.Errorf("%s: %s by %s per %s, %+v; %q", c.name, inv.c.Outcome, inv.c.Metric.Name, inv.c.Per, known,
				inv.c.Warnings)
		}
		if c.metric == "auto" && (len(inv.c.Metrics) != 2 || len(known.Measured) != 2) {
			t.Errorf("%s: %+v of %+v", c.name, inv.c.Metrics, known.Measured)
		}
	}
}

// The side that runs is recorded as the other one was; where those differ, or were not made here,
// as ever.
func TestRecordedAsBefore(t *testing.T) {
	usual := record.Options{Hz: 99, Wait: evidenceWait, Slice: evidenceSlice}
	at := time.Now()
	for _, c := range []struct {
		change func(one, other *recording.Recording)
		want   record.Options
	}{
		{func(*recording.Recording, *recording.Recording) {}, record.Options{Hz: 199}},
		{func(one, other *recording.Recording) {
			one.Manifest.SliceNs, other.Manifest.SliceNs = int64(evidenceSlice), int64(evidenceSlice)
		}, record.Options{Hz: 199, Wait: evidenceWait, Slice: evidenceSlice}},
		{func(one, _ *recording.Recording) { one.Manifest.Hz = 499 }, usual},
		{func(one, _ *recording.Recording) { one.Manifest.Format = "folded" }, usual},
	} {
		earlier, o := &Earlier{Recordings: []*recording.Recording{shop(at, 1, 200), shop(at, 1, 200)}}, usual
		c.change(earlier.Recordings[0], earlier.Recordings[1])
		if earlier.recordedAs(&o); o.Hz != c.want.Hz || o.Wait != c.want.Wait || o.Slice != c.want.Slice {
			t.Errorf("%+v, want %+v", o, c.want)
		}
	}
}

// A metric that the earlier side does not have is refused before anything is recorded.
func TestMetricThatWasNotRecorded(t *testing.T) {
	silent := shop(time.Now(), 1, 200)
	silent.Requests = nil
	command := shop(time.Now(), 1, 200)
	command.Manifest.Target = recording.Target{Kind: "command", Command: "./serve"}
	for _, c := range []struct {
		rec          *recording.Recording
		metric, want string
	}{
		{silent, "p99", "old.culprit holds no requests"},
		{silent, "cpu", ""},
		{command, "wall", "not of something that runs on"},
		{command, "p99", ""},
	} {
		metric, err := ParseMetric(c.metric)
		if err != nil {
			t.Fatal(err)
		}
		err = (&Earlier{Files: []string{"old.culprit"}, Recordings: []*recording.Recording{c.rec}}).check(metric)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.metric, err, c.want)
		}
	}
}

// What runs is told from what ran before: of a shell that works more in each second, against the
// recordings that an investigation of the other one left. The case keeps both, so that it can be
// judged again.
func TestServiceAgainstACase(t *testing.T) {
	t.Parallel() // it watches most of the time
	if testing.Short() {
		t.Skip("watches processes for seconds: -short leaves it out")
	}
	before := plain(t, "", "")
	before.Target = runs(t, "while :; do cd .; sleep 0.1; done")
	if _, err := Run(context.Background(), before); err != nil {
		t.Fatal(err)
	}
	earlier := &Earlier{Side: sideA, Name: "before"}
	for _, name := range []string{"A-1.culprit", "A-2.culprit", "A-3.culprit"} {
		rec, err := recording.Open(filepath.Join(before.Case, explain.Recordings, name))
		if err != nil {
			t.Fatal(err)
		}
		earlier.Files, earlier.Recordings = append(earlier.Files, name), append(earlier.Recordings, rec)
	}
	o := plain(t, "", "")
	o.Earlier = earlier
	// In bursts of 2 ms, which a host with other tests on it hardly delays.
	o.Target = runs(t, "while :; do i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; sleep 0.02; done")
	c, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if c.Outcome != Worse || !c.A.Earlier || c.B.Earlier || c.A.Trials != 3 || c.B.Trials != serviceWindows ||
		!strings.Contains(strings.Join(c.Warnings, "\n"), "older than those of B") {
		t.Errorf("%s by %+v: %+v, %+v, %q", c.Outcome, c.Metrics, c.A, c.B, c.Warnings)
	}
	shown, known, err := explain.Open(o.Case)
	if err != nil || len(shown.A) != 3 || len(shown.B) != serviceWindows || known.Metric == "" {
		t.Errorf("judged again: %+v, %v", known, err)
	}
	o = plain(t, "", "")
	o.Earlier, o.Target = earlier, runs(t, "timeout 4 sh -c 'while :; do cd .; done'; exit")
	if _, err := Run(context.Background(), o); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("of a service that ends: %v", err)
	}
	for _, left := range []string{o.Case, o.partial()} {
		if _, err := os.Lstat(left); err == nil {
			t.Errorf("%s is left", left)
		}
	}
}
