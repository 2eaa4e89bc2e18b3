package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"culprit/recording"
)

// madeService is a minute of a service that runs on: requests in slices of a second, of which one
// in fifty takes slowMs, on a thread that is busy for as long as all of them take.
func madeService(t *testing.T, path string, started time.Time, slowMs int64, restarts ...recording.Restart) {
	t.Helper()
	const ms, a, slow = int64(1e6), int64(1000), int64(20) // a second
	rec := &recording.Recording{Manifest: recording.Manifest{Schema: recording.SchemaVersion, Program: "culprit test",
		Host: "elsewhere", Hz: 99, SliceNs: 50 * ms, WindowNs: 60e9, StartedAt: started,
		Target: recording.Target{Kind: "pid", Pid: 10}}}
	rec.Manifest.AddRestarts(restarts...)
	rec.Frames = []recording.Frame{{Name: "main", Kind: recording.KindNative, Module: "serve"},
		{Name: "answer", Kind: recording.KindNative, Module: "serve"}}
	rec.Stacks = []recording.Stack{{Frames: []int32{0, 1}}}
	usual, dear := bucketAt(ms/5), bucketAt(slowMs*ms)
	for second := range int64(60) {
		jitter := second % 3 * 10_000
		busy := (a-slow)*ms/5 + slow*slowMs*ms + jitter
		rec.Requests = append(rec.Requests, recording.Request{TimeNs: second * 1e9, LengthNs: 1e9,
			Side: recording.SideServer, Service: "tcp port 80", Kind: "GET /", Pid: 10, Comm: "serve", Count: a,
			TotalNs: busy, Buckets: []int32{usual, dear + int32(second%2)}, Counts: []int64{a - slow, slow}})
		rec.Samples = append(rec.Samples, recording.Sample{Signal: recording.SignalCPU, TimeNs: second * 1e9, Pid: 10,
			Tid: 10, Stack: 0, Count: 10, ValueNs: busy, Target: true, Comm: "serve"})
	}
	used := int64(0)
	for _, sample := range rec.Samples {
		used += sample.ValueNs
	}
	rec.Processes = []recording.Process{{Pid: 10, Ppid: 1, Comm: "serve", CPUNs: used}}
	rec.Threads = []recording.Thread{{Pid: 10, Tid: 10, Comm: "serve", CPUNs: used}}
	if err := recording.Write(path, rec); err != nil {
		t.Fatal(err)
	}
}

// bucketAt is the bucket that a latency lies in.
func bucketAt(ns int64) int32 {
	for bucket := int32(0); ; bucket++ {
		if low, high := recording.LatencyOf(bucket); ns >= low && ns < high {
			return bucket
		}
	}
}

// Two hosts with one recording each are told apart by what their requests took; the exit status
// says which is worse.
func TestCompareByRequests(t *testing.T) {
	folder := t.TempDir()
	file := func(name string) string { return filepath.Join(folder, name) }
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	madeService(t, file("fast"), at, 5)
	madeService(t, file("slow"), at, 20)
	madeService(t, file("again"), at, 5, recording.Restart{TimeNs: 31e9, AwayNs: 1e9, Pid: 10, NewPid: 20})
	for _, c := range []struct {
		a, b, metric string
		status       int
		words        []string
	}{
		{"fast", "slow", "p99", exitWorse, []string{"WORSE", "p99 of the latency", "4.00×", "parts of them",
			"what differs from one recording to the next is not in it", "suspect 1"}},
		{"slow", "fast", "p99", exitDone, []string{"BETTER"}},
		{"fast", "slow", "p50", exitDone, []string{"SAME"}},
		{"fast", "slow", "mean", exitWorse, []string{"WORSE", "mean latency"}},
		{"fast", "slow", "cpu", exitWorse, []string{"CPU time of one request"}},
		{"fast", "slow", "throughput", exitDone, []string{"SAME", "throughput"}},
		{"fast", "again", "p99", exitDone, []string{"SAME", "disturbed", "in 1 of 1 recordings of B"}},
	} {
		document := file("c.json")
		got := here(t, "compare", "--metric", c.metric, "--smallest", "5%", "--json", document, file(c.a), file(c.b))
		text := strings.Join(strings.Fields(got.stdout), " ")
		if got.status != c.status || got.stderr != "" {
			t.Errorf("%+v: status %d, %s", c, got.status, got.stderr)
		}
		for _, want := range c.words {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", c.metric, want, got.stdout)
			}
		}
		var told struct {
			Metric string
			Tested struct{ Name string }
			B      struct{ Disturbed []string }
		}
		content, err := os.ReadFile(document)
		if err != nil || json.Unmarshal(content, &told) != nil || told.Metric != told.Tested.Name ||
			(len(told.B.Disturbed) > 0) != (c.b == "again") {
			t.Errorf("%s: %+v, %v", c.metric, told, err)
		}
	}
	for limit, status := range map[string]int{"5%": exitWorse, "900%": exitDone} {
		got := here(t, "compare", "--metric", "p99", "--fail-over", limit, file("fast"), file("slow"))
		if got.status != status {
			t.Errorf("--fail-over %s: %+v", limit, got)
		}
	}
	part := here(t, "compare", "--metric", "p99", "--smallest", "5%", file("fast")+"@0s..30s", file("fast")+"@30s..60s")
	if part.status != exitDone || !strings.Contains(strings.Join(strings.Fields(part.stdout), " "),
		"one side was recorded after the other") {
		t.Errorf("%+v", part)
	}
	madeRecording(t, file("none"), 10, 10, 1)
	oneLine(t, here(t, "compare", "--metric", "p99", file("fast"), file("none")), "none holds no requests", "--requests")
	oneLine(t, here(t, "compare", "--metric", "p100", file("fast"), file("slow")), `"p100"`, "p99.9")
}
