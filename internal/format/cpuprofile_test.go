package format

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"culprit/recording"
)

// v8 is a profile in which work, called by main, has two of five samples, main one, the collector
// one, and one is idle.
const v8 = `{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","url":"","lineNumber":-1},"children":[2,4,5]},
{"id":2,"callFrame":{"functionName":"main","url":"file:///srv/app.js","lineNumber":9},"hitCount":1,"children":[3]},
{"id":3,"callFrame":{"functionName":"work","url":"file:///srv/app.js","lineNumber":0},"hitCount":2},
{"id":4,"callFrame":{"functionName":"(idle)","url":"","lineNumber":-1}},
{"id":5,"callFrame":{"functionName":"(garbage collector)","url":"","lineNumber":-1}}],
"startTime":1000,"endTime":7000,"unknown":{"a":[{}]},"samples":[2,3,3,4,5],"timeDeltas":[1000,1000,1000,1000,1000]}`

// byStack sums the CPU time in microseconds by stack.
func byStack(rec *recording.Recording) map[string]int64 {
	sums := map[string]int64{}
	for i := range rec.Samples {
		sample := &rec.Samples[i]
		sums[strings.Join(rec.StackNames(sample.Stack), ";")] += sample.ValueNs / 1000
	}
	return sums
}

// A sample lasts until the next one; idle time is none of the program's.
func TestCPUProfile(t *testing.T) {
	rec := importText(t, "x", []byte(v8), Options{})
	want := map[string]int64{"main": 1000, "main;work": 2000, "(garbage collector)": 1000}
	if got := byStack(rec); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("stacks %v, want %v", got, want)
	}
	frame := rec.Frames[rec.Stacks[rec.Samples[0].Stack].Frames[0]]
	if frame.File != "/srv/app.js" || frame.Line != 10 || frame.Kind != recording.KindNode {
		t.Errorf("the frame is %+v", frame)
	}
	if rec.Manifest.WindowNs != 6e6 || rec.Manifest.Format != CPUProfile {
		t.Errorf("window %d, format %s", rec.Manifest.WindowNs, rec.Manifest.Format)
	}
	untimed := strings.Replace(v8, `"samples":[2,3,3,4,5]`, `"samples":[]`, 1)
	if got := byStack(importText(t, "x", []byte(untimed), Options{})); got["main;work"] != 4000 || got["main"] != 2000 {
		t.Errorf("by hits alone: %v", got)
	}
}

// A file that Node 20 wrote (--cpu-prof-interval 5000) of a program that parses, sleeps
// and parses again.
func TestCPUProfileOfNode(t *testing.T) {
	text, err := os.ReadFile("testdata/node20.cpuprofile")
	if err != nil {
		t.Fatal(err)
	}
	rec := importText(t, "x", text, Options{})
	var parse, later, idle int64
	for stack, us := range byStack(rec) {
		if strings.Contains(stack, "processTimers;") {
			later += us
		}
		if strings.HasSuffix(stack, ";handle;parse") {
			parse += us
		}
		if strings.Contains(stack, "idle") {
			idle += us
		}
	}
	if later == 0 || parse <= later || idle != 0 {
		t.Errorf("parse %d µs, by a timer %d µs, idle %d µs in %v", parse, later, idle, byStack(rec))
	}
	if wall, cpu := rec.Manifest.Metrics["wall"], rec.Manifest.Metrics["cpu"]; cpu <= 0 || cpu > wall-0.1 {
		t.Errorf("%g s of CPU in %g s, of which a pause of 0.15 s is none", cpu, wall)
	}
}

func TestBadCPUProfiles(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"cut":        {v8[:len(v8)/2], "cut off"},
		"cycle":      {strings.Replace(v8, `"hitCount":2`, `"hitCount":2,"children":[2]`, 1), "no tree"},
		"twice":      {strings.Replace(v8, `"id":3`, `"id":2`, 1), "two nodes"},
		"no samples": {`{"nodes":[{"id":1,"callFrame":{"functionName":"x"}}],"samples":[]}`, "no samples"},
		"backwards":  {strings.Replace(v8, `"endTime":7000`, `"endTime":7`, 1), "ends before"},
		"old":        {`{"head":{"functionName":"(root)","hitCount":0}}`, "Chrome before 58"},
		"not one":    {`{"callFrame":1}`, "no nodes"},
	} {
		_, err := Import([]Source{{Name: "x", Reader: bytes.NewReader([]byte(test.text))}}, Options{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func FuzzCPUProfile(f *testing.F) {
	f.Add([]byte(v8))
	fuzz(f, CPUProfile, "node20.cpuprofile")
}
