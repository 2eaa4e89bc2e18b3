package try

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"culprit/internal/record"
	"culprit/recording"
)

// A program that makes as many calls of one kind as it is told: the recordings count them exactly,
// under each level.
func TestMetricOutOfRecordings(t *testing.T) {
	needsRecorder(t)
	e := experimentOf(t, `i=0; while [ $i -lt {n} ]; do cd .; i=$((i+1)); done`, "recording:calls:chdir", "n=100,300")
	e.Trials = 2
	second, err := ParseMetric("recording:voluntary")
	if err != nil {
		t.Fatal(err)
	}
	e.Metrics = append(e.Metrics, second)
	dir := filepath.Join(t.TempDir(), "case")
	result, err := Run(t.Context(), e, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]float64{}
	for _, made := range result.Trials {
		if made.Kind != "measure" {
			continue
		}
		name := made.Levels["n"]
		if was, known := counts[name]; known && was != made.Metrics["recording:calls:chdir"] {
			t.Errorf("n=%s: %g calls, and %g in another trial of the same", name, made.Metrics["recording:calls:chdir"], was)
		}
		counts[name] = made.Metrics["recording:calls:chdir"]
		if _, has := made.Metrics["recording:voluntary"]; !has {
			t.Errorf("trial %d lacks the second metric", made.Order)
		}
	}
	if counts["300"]-counts["100"] != 200 || counts["100"] < 100 {
		t.Errorf("calls %v: want 200 more, and 100 or more", counts)
	}
	if result.Recorder == nil || result.Recorder.StartCPUS <= 0 {
		t.Errorf("recorder %+v: its cost is not told", result.Recorder)
	}
	if !strings.Contains(strings.Join(result.Warnings, "\n"), "the recorder ran in all trials") {
		t.Errorf("warnings %q do not say that the recorder ran", result.Warnings)
	}
	files, err := filepath.Glob(filepath.Join(dir, recordingsFolder, "*.culprit"))
	if err != nil || len(files) != len(result.Trials)-2 {
		t.Errorf("%d recordings of %d trials (2 of them warm-ups), %v", len(files), len(result.Trials), err)
	}
}

func TestMetricOutOfRecordingsOfAService(t *testing.T) {
	needsRecorder(t)
	service := exec.Command("/bin/sh", "-c", "while :; do sleep 0.01; done")
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = service.Process.Kill() // it has not ended by itself
		_ = service.Wait()
	}()
	metric, err := ParseMetric("recording:processes,higher")
	if err != nil {
		t.Fatal(err)
	}
	factor, err := ParseFactor("nice=0,1")
	if err != nil {
		t.Fatal(err)
	}
	e, err := Experiment{Factors: []Factor{factor}, Metrics: []Metric{metric}, Budget: 30 * time.Second, Seed: 1,
		Trials:  2,
		Service: &Service{Pid: service.Process.Pid, Period: time.Second, WashOut: 50 * time.Millisecond}}.Settle()
	if err != nil {
		t.Fatal(err)
	}
	result, err := Run(t.Context(), e, Options{Dir: filepath.Join(t.TempDir(), "case")})
	if err != nil {
		t.Fatal(err)
	}
	if unit := result.Metrics[0].Unit; unit != "1/s" {
		t.Errorf("unit %q, want a rate", unit)
	}
	for _, made := range result.Trials {
		// Its sleeps are processes, at most 100 a second, and not none however slow the machine is.
		rate, has := made.Metrics["recording:processes"]
		if made.Kind == "measure" && (!has || rate <= 0 || rate > 110) {
			t.Errorf("trial %d: %g processes a second", made.Order, rate)
		}
	}
}

func needsRecorder(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("recording needs root: -short leaves it out")
	}
	if err := record.Permitted(); err != nil {
		if os.Geteuid() == 0 {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	t.Setenv("CULPRIT_STATE", filepath.Join(t.TempDir(), "state"))
}

// madeRecording holds a little of everything that metrics are read out of.
func madeRecording() *recording.Recording {
	rec := &recording.Recording{}
	rec.Threads = []recording.Thread{{CPUNs: 2e9, RunqueueNs: 5e8, Voluntary: 3, Involuntary: 1},
		{CPUNs: 1e9, Voluntary: 4}}
	rec.Processes = []recording.Process{{StartNs: 0}, {StartNs: 5}, {StartNs: 9}}
	rec.Samples = []recording.Sample{{Signal: recording.SignalOffCPU, Target: true, ValueNs: 7e8, Count: 2},
		{Signal: recording.SignalOffCPU, ValueNs: 9e9}, {Signal: recording.SignalFault, Target: true, Count: 11},
		{Signal: recording.SignalMajor, Target: true, Count: 2},
		{Signal: recording.SignalReclaim, Target: true, ValueNs: 3e8, Count: 5}}
	rec.Syscalls = []recording.Syscall{{Name: "write", Count: 10, Errors: 2, Bytes: 100, TotalNs: 4e8},
		{Name: "fsync", Count: 3, TotalNs: 2e8}}
	file := func(at, took int64, stall int32) recording.Slow {
		return recording.Slow{TimeNs: at, DurationNs: took, Name: "write", ObjectKind: recording.ObjectFile, Stall: stall}
	}
	rec.Slow = []recording.Slow{file(0, 2e7, 1), file(1e7, 3e7, 1), file(9e8, 6e6, 2), file(2e9, 5e7, 3),
		{DurationNs: 9e9, Name: "poll", ObjectKind: recording.ObjectPoll}}
	rec.Block = []recording.Block{
		{Device: "vda", Count: 3, Bytes: 4096, TotalNs: 3e6, MaxNs: 2e6, Buckets: []int64{0, 0, 2}},
		{Device: "loop0", Count: 1, Bytes: 512, TotalNs: 5e6, MaxNs: 5e6, Buckets: []int64{0, 0, 0, 0, 1}}}
	rec.Network = []recording.Network{{Event: recording.NetRetransmit, Count: 4}, {Event: recording.NetConnect, Count: 9},
		{Event: recording.NetConnect, Count: 2, Target: true}}
	rec.Locks = []recording.Lock{{TotalNs: 1e8}, {TotalNs: 2e8}}
	rec.Metrics = []recording.Metric{{Name: "cpu.steal_s", Value: 3}, {TimeNs: 1, Name: "cpu.steal_s", Value: 3.5}}
	rec.Counters = []recording.Counter{{Name: "cycles", Value: 100, EnabledNs: 20, RunningNs: 10}}
	return rec
}

func TestRecordedValues(t *testing.T) {
	rec := madeRecording()
	for name, want := range map[string]float64{"cpu": 3, "runqueue": 0.5, "switches": 8, "voluntary": 7, "involuntary": 1,
		"processes": 2, "offcpu": 0.7, "calls": 13, "calls:write": 10, "errors": 2, "call_time:fsync": 0.2, "call_bytes": 100,
		"slow": 3, "slow:30ms": 1, "stalls": 2, "stalls:5ms": 3, "stalled": 0.09, "faults": 11, "major_faults": 2,
		"reclaim": 0.3, "block_requests": 4, "block_bytes:vda": 4096, "block_mean": 2e-3, "block_max": 5e-3,
		"block_max:none": 0, "retransmits": 4, "connects": 2, "resets": 0, "lock_time": 0.3, "host:cpu.steal_s": 0.5,
		"counter:cycles": 200, "block_p50:vda": math.Sqrt2 * 4e-9} {
		metric, err := parseRecorded(recordedPrefix + name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if metric.metricName() != recordedPrefix+name {
			t.Errorf("%s is called %s", name, metric.metricName())
		}
		if got, err := metric.value(rec); err != nil || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %g, %v; want %g", name, got, err, want)
		}
	}
	for _, name := range []string{"host:no.such", "counter:none"} {
		metric, err := parseRecorded(recordedPrefix + name)
		if err != nil {
			t.Fatal(err)
		}
		if value, err := metric.value(rec); err == nil {
			t.Errorf("%s: %g and no error", name, value)
		}
	}
}

func TestBadRecordedMetrics(t *testing.T) {
	for _, bad := range []string{"", "x", "cpu:x", "calls:x:y", "calls:WRITE", "slow:1", "slow:1ns", "slow:2h", "host",
		"counter", "cpu,up", "calls:" + strings.Repeat("a", 99)} {
		if _, err := ParseMetric(recordedPrefix + bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}

// The recorder does no more than the metrics need.
func TestObserverPlan(t *testing.T) {
	for text, want := range map[string]record.Options{
		"runqueue switches":       {Light: true, NoCalls: true},
		"offcpu":                  {NoCalls: true},
		"faults calls":            {},
		"stalls:20ms slow:200us":  {Wait: 200 * time.Microsecond},
		"slow:20ms host:cpu.id_s": {Wait: time.Millisecond},
	} {
		var wanted []recorded
		for name := range strings.FieldsSeq(text) {
			metric, err := parseRecorded(recordedPrefix + name)
			if err != nil {
				t.Fatal(err)
			}
			wanted = append(wanted, metric)
		}
		if got := observerPlan(wanted, ""); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}
