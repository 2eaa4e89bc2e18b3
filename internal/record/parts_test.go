package record

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"culprit/recording"
)

// storm is a target that makes system calls without an end, and counts them.
func storm(t *testing.T) *held {
	t.Helper()
	return hold(t, programs.compile(t, "storm.c"))
}

// reads ends the storm and returns how many calls it made.
func (h *held) reads(t *testing.T) int64 {
	t.Helper()
	if err := h.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	h.wait(t)
	return int64(numbers(t, h.output.String())["reads"])
}

// follow records a held command by a plan from its release on, and leaves the last part open.
func follow(t *testing.T, run *Run, h *held) {
	t.Helper()
	run.Target = Target{Kind: "command", Command: "storm", Pid: h.pid()}
	if run.Path == "" {
		run.Path = filepath.Join(t.TempDir(), "whole.culprit")
	}
	if err := run.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.release()
	if err := run.Watch(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// endsWith ends a run as soon as this many parts are written, however long that takes: parts is at
// least 1.
func endsWith(t *testing.T, run *Run, parts int) {
	t.Helper()
	run.Path, run.Duration = filepath.Join(t.TempDir(), "whole.culprit"), time.Minute
	ended, last := make(chan struct{}), filepath.Join(run.Path+PartsSuffix, fmt.Sprintf("%04d.culprit", parts))
	run.Ended = ended
	go func() {
		defer close(ended)
		for t.Context().Err() == nil {
			if _, err := os.Stat(last); err == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
}

// whole finishes a run and reads its recording, beside which nothing may be left.
func whole(t *testing.T, run *Run) *recording.Recording {
	t.Helper()
	if _, err := run.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
	rec, err := recording.Open(run.Path)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Dir(run.Path)); err != nil || len(left) != 1 {
		t.Errorf("beside the recording lie %v (%v)", left, err)
	}
	return rec
}

// amounts are what adds up over the parts of a recording.
type amounts struct{ samples, cpuNs, calls, reads, waits, switches, windowNs int64 }

func amountsOf(rec *recording.Recording) (sum amounts) {
	for _, sample := range rec.Samples {
		if sample.Signal == recording.SignalCPU {
			sum.samples += sample.Count
			sum.cpuNs += sample.ValueNs
		}
	}
	for _, call := range rec.Syscalls {
		sum.calls += call.Count
		if call.Name == "read" && call.Comm == "storm-c" {
			sum.reads += call.Count
		}
	}
	for _, thread := range rec.Threads {
		sum.switches += thread.Involuntary + thread.Voluntary
	}
	sum.waits, sum.windowNs = int64(len(rec.Waits)), rec.Manifest.WindowNs
	return sum
}

func (a *amounts) add(b amounts) {
	a.samples += b.samples
	a.cpuNs += b.cpuNs
	a.calls += b.calls
	a.reads += b.reads
	a.waits += b.waits
	a.switches += b.switches
	a.windowNs += b.windowNs
}

// A long recording is the sum of its parts, and says what lies between them.
func TestPartsAddUp(t *testing.T) {
	run := &Run{Recorder: standing.get(t), every: 100 * time.Millisecond}
	endsWith(t, run, 3)
	h := storm(t)
	follow(t, run, h)
	if err := run.parts.End(t.Context()); err != nil { // what Finish does first
		t.Fatal(err)
	}
	made := h.reads(t)
	var sum amounts
	for _, path := range run.parts.parts {
		part, err := recording.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		sum.add(amountsOf(part))
	}
	parts := len(run.parts.parts)
	rec := whole(t, run)
	if got := amountsOf(rec); got != sum || parts < 3 || got.samples == 0 || got.calls == 0 {
		t.Errorf("%d parts add up to %+v, the whole is %+v", parts, sum, got)
	}
	if len(rec.Manifest.Gaps) != parts-1 {
		t.Errorf("%d parts, gaps %+v", parts, rec.Manifest.Gaps)
	}
	for _, gap := range rec.Manifest.Gaps {
		if gap.LengthNs <= 0 || gap.TimeNs <= 0 || gap.TimeNs > rec.Manifest.WindowNs || gap.Why == "" {
			t.Errorf("gap %+v", gap)
		}
	}
	// The target went on in the gaps and after the end: not all it did can be there.
	if sum.reads == 0 || sum.reads >= made {
		t.Errorf("recorded %d reads of %d", sum.reads, made)
	}
}

// The recorder that checks itself is on in some blocks and off in others, and says what they show.
func TestSelfCheck(t *testing.T) {
	var rec *recording.Recording
	var check *recording.SelfCheck
	var made int64
	for range 3 { // a busy host can spoil the steadiest rate, and blocks in which the target does not come to run
		run := &Run{Recorder: standing.get(t), SelfCheck: true, block: 80 * time.Millisecond}
		endsWith(t, run, leastPairs+4)
		h := storm(t)
		follow(t, run, h)
		rec = whole(t, run)
		made = h.reads(t)
		if check = rec.Manifest.Cost.Check; check == nil {
			t.Fatal("the recording has no self-check")
		}
		t.Logf("%+v", check)
		if check.Ratio > 0 {
			break
		}
	}
	if check.Pairs < leastPairs || !strings.HasPrefix(check.Rate, "system calls that read") ||
		!(0 < check.Low && check.Low <= check.Ratio && check.Ratio <= check.High) || check.Confidence != checkConfidence {
		t.Errorf("self-check %+v", check)
	}
	off := 0
	for _, gap := range rec.Manifest.Gaps {
		if strings.HasPrefix(gap.Why, "self-check") {
			off++
		}
		if gap.LengthNs <= 0 {
			t.Errorf("gap %+v", gap)
		}
	}
	if off < check.Pairs {
		t.Errorf("%d pairs, but it was off %d times", check.Pairs, off)
	}
	if got := amountsOf(rec).reads; got == 0 || got >= made {
		t.Errorf("recorded %d reads of %d: it was never off", got, made)
	}
}

// A target whose work is not to be told is recorded all the same, and the recording says that
// nothing was found out.
func TestSelfCheckOfQuietTarget(t *testing.T) {
	run := &Run{Recorder: standing.get(t), Duration: time.Second, SelfCheck: true, block: 50 * time.Millisecond}
	follow(t, run, hold(t, "sleep", "60"))
	rec := whole(t, run)
	check := rec.Manifest.Cost.Check
	if check == nil || check.Outcome != "undecided" || check.Rate != "" || check.Why == "" || len(check.Rejected) == 0 ||
		len(rec.Processes) == 0 {
		t.Errorf("self-check %+v of %d processes", check, len(rec.Processes))
	}
}

// A storm of system calls is thinned, and the recording says so; a budget that is not reached
// changes nothing.
func TestMaxCost(t *testing.T) {
	recorder := start(t, Options{})
	stormy := &Run{Recorder: recorder, MaxCost: 0.01, Hz: 99}
	endsWith(t, stormy, 1) // that is when something was given up
	h := storm(t)
	follow(t, stormy, h)
	rec := whole(t, stormy)
	made := h.reads(t)
	if len(rec.Manifest.Thinned) != 1 {
		t.Fatalf("thinned by %+v", rec.Manifest.Thinned)
	}
	step := rec.Manifest.Thinned[0]
	if step.Probe != "syscalls" || step.Did != "detached" || step.TimeNs <= 0 || !strings.Contains(step.Why, "1.00 %") {
		t.Errorf("thinned by %+v", step)
	}
	for _, status := range rec.Manifest.Probes {
		if status.Name == "syscalls" && (status.On || !strings.Contains(status.Why, "--max-cost")) {
			t.Errorf("status %+v", status)
		}
	}
	if got := amountsOf(rec); got.reads == 0 || got.reads >= made || got.samples == 0 {
		t.Errorf("recorded %d reads of %d, %d samples", got.reads, made, got.samples)
	}

	quiet := &Run{Recorder: recorder, Duration: 3200 * time.Millisecond, MaxCost: 0.9, Hz: 99}
	follow(t, quiet, hold(t, "sleep", "60"))
	rec = whole(t, quiet)
	if len(rec.Manifest.Thinned) != 0 || len(rec.Manifest.Gaps) != 0 {
		t.Errorf("a sleep was thinned by %+v, gaps %+v", rec.Manifest.Thinned, rec.Manifest.Gaps)
	}
	mustProbe(t, rec.Manifest.Probes)
}

// TestAPartIsFull follows the heap from the end of the part before.
func TestAPartIsFull(t *testing.T) {
	const mb = 1 << 20
	for _, test := range []struct {
		what string
		live []int64 // at each look
		full bool    // at the last
	}{
		{"little is alive", []int64{4 * mb, 20 * mb}, false},
		{"much came in this part", []int64{4 * mb, 20 * mb, 29 * mb}, true},
		{"the end of the part before is still there", []int64{60 * mb}, false},
		{"it is gone, and much came since", []int64{60 * mb, 12 * mb, 30 * mb}, true},
		{"much is kept from part to part", []int64{40 * mb, 40 * mb, 48 * mb}, false},
		{"much is kept, and much came", []int64{40 * mb, 40 * mb, 55 * mb}, true},
	} {
		parts, full := &Parts{}, false
		for _, live := range test.live {
			full = parts.full(live)
		}
		if full != test.full {
			t.Errorf("%s: full is %v, want %v", test.what, full, test.full)
		}
	}
}
