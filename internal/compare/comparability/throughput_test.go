package comparability

import (
	"strings"
	"testing"

	"culprit/internal/compare/units"
	"culprit/recording"
)

// loadedHost is a recording of a service on one CPU: requests in ten seconds, the time of each, how
// busy its thread and its host were.
func loadedHost(count, latencyNs int64, thread, host float64) []*recording.Recording {
	rec := &recording.Recording{Manifest: recording.Manifest{WindowNs: 10e9, Target: recording.Target{Kind: "pid"}}}
	rec.Threads = []recording.Thread{{Pid: 7, Tid: 7, CPUNs: int64(thread * 10e9)}}
	rec.Requests = []recording.Request{{Side: recording.SideServer, Count: count, TotalNs: count * latencyNs}}
	rec.Metrics = []recording.Metric{{Name: "cpu.busy_s", Scope: "cpu0", Value: 5},
		{Name: "cpu.busy_s", Scope: "cpu0", TimeNs: 10e9, Value: 5 + 10*host}}
	return []*recording.Recording{rec}
}

// A warning says how busy both sides were where their load differs, and whether that may be all
// there is to a change.
func TestOtherLoadOfRequests(t *testing.T) {
	for _, test := range []struct {
		what string
		a, b []*recording.Recording
		want string // "": no warning
	}{
		{"as many, as busy", loadedHost(1000, 2e6, 0.3, 0.4), loadedHost(1010, 9e6, 0.3, 0.41), ""},
		{"more of them", loadedHost(1000, 2e6, 0.4, 0.5), loadedHost(2000, 5e6, 0.8, 0.8),
			"alone makes the latency of B 2.50× that of A, and it is 2.50×: the load may explain"},
		{"a loop that is full on an idle host", loadedHost(1000, 1e6, 0.1, 0.1), loadedHost(4000, 8e6, 0.9, 0.2),
			"9.00× that of A, and it is 8.00×: the load may explain"},
		{"another process has the host", loadedHost(1000, 2e6, 0.3, 0.4), loadedHost(1000, 4e6, 0.3, 0.7),
			"on a host that was 70 % busy; by the rule for one queue that alone makes the latency of B 2.00×"},
		{"a little more load, much slower", loadedHost(1000, 1e6, 0.3, 0.4), loadedHost(1200, 9e6, 0.35, 0.45),
			"the load does not explain the change"},
		{"less load, and slower", loadedHost(2000, 1e6, 0.8, 0.8), loadedHost(1000, 3e6, 0.4, 0.4),
			"the load does not explain the change"},
		{"a full host", loadedHost(1000, 1e6, 0.3, 1), loadedHost(700, 20e6, 0.2, 1),
			"(on average 0.1 of A and 1.4 of B were in progress): a change of the latency may come from that alone"},
		{"as quick", loadedHost(2000, 1e6, 0.8, 0.8), loadedHost(1000, 1e6, 0.4, 0.4), "and it is 1.00×"},
	} {
		list, told := otherThroughput(test.a, test.b)
		got := strings.Join(list, "\n")
		if !told || test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
	longer := loadedHost(3000, 2e6, 0.3, 0.4) // windows of other lengths hold other numbers of requests
	longer[0].Manifest.WindowNs, longer[0].Threads[0].CPUNs = 30e9, 9e9
	longer[0].Metrics[1].TimeNs, longer[0].Metrics[1].Value = 30e9, 5+30*0.4
	work := units.Work{Name: units.PerRequest, A: []float64{1000}, B: []float64{3000}}
	if got := otherLoads(loadedHost(1000, 2e6, 0.3, 0.4), longer, work); len(got) != 0 {
		t.Errorf("as many a second in a longer window: %q", got)
	}
	x, y := loadedHost(1000, 1e6, 0.3, 0.4), loadedHost(2000, 1e6, 0.3, 0.4)
	x[0].Metrics, x[0].Threads = nil, nil
	if got, _ := otherThroughput(x, y); len(got) != 1 || !strings.Contains(got[0], "may come from that alone") {
		t.Errorf("how busy A was is not known: %q", got)
	}
	y[0].Manifest.Target.Kind = "command"
	if got, told := otherThroughput(x, y); told || got != nil {
		t.Errorf("of a command: %q", got)
	}
}
