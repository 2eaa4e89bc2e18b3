package record

import (
	"slices"
	"strings"
	"testing"
	"time"

	"culprit/recording"
)

// askedChain counts the waits of the asker for the middle one, and those whose hop is the middle
// one's wait for the source.
func askedChain(t *testing.T, got seen) (asked, hops int) {
	t.Helper()
	asker := got.threadNamed("asker")
	if asker == nil {
		t.Fatal("no thread is called asker")
	}
	for _, wait := range got.Waits {
		if wait.Tid != asker.Tid || wait.WakerComm != "middle" || wait.BlockedNs < 2_000_000 {
			continue
		}
		asked++
		where := got.StackNames(wait.HopStack)
		slept := slices.ContainsFunc(where, func(name string) bool { return strings.Contains(name, "pipe_read") })
		if wait.HopNs > 2_000_000 && wait.HopComm == "source" && slept {
			hops++
		} else if asked-hops < 4 {
			t.Logf("%+v, hop at %v", wait, where)
		}
	}
	return asked, hops
}

// A waits for B, who waits for C: the hop behind A's wait is B's wait, woken by C.
func TestHopOfTarget(t *testing.T) {
	recorder := standing.get(t)
	got := watchCommand(t, recorder, programs.compile(t, "chain.c"), t.TempDir(), "1", "ams")
	if asked, hops := askedChain(t, got); asked < 50 || hops < asked*9/10 {
		t.Errorf("of %d waits for the middle one %d have their hop", asked, hops)
	}
}

// The hop is also seen behind a process that is not the target, once that has woken the target a
// first time.
func TestHopOfStranger(t *testing.T) {
	recorder := standing.get(t)
	program, folder := programs.compile(t, "chain.c"), t.TempDir()
	stranger := running(t, program, folder, "60", "ms")
	got := watchCommand(t, recorder, program, folder, "1", "a")
	if asked, hops := askedChain(t, got); asked < 50 || hops < asked*8/10 {
		t.Errorf("of %d waits for the stranger %d have their hop", asked, hops)
	}
	for _, sample := range got.Samples {
		if sample.Pid == int32(stranger.pid()) && sample.Target {
			t.Fatalf("the stranger has become a target: %+v", sample)
		}
	}
}

// A thread that wakes by the clock is there with its interval.
func TestTickerIsFound(t *testing.T) {
	recorder := standing.get(t)
	got := watchCommand(t, recorder, programs.compile(t, "ticker.c"), "200")
	for _, wakeup := range got.Wakeups {
		if wakeup.Pid != got.pid || wakeup.Syscall != "clock_nanosleep" || wakeup.Count < 100 {
			continue
		}
		about(t, "interval in seconds", float64(wakeup.IntervalNs)/1e9, 0.005, 0.1, 0)
		if wakeup.WakerKind != recording.WakerTimer || wakeup.SpreadNs > wakeup.IntervalNs || wakeup.CPUNs <= 0 ||
			!slices.Contains(got.StackNames(wakeup.Stack), "main") {
			t.Errorf("%+v at %v", wakeup, got.StackNames(wakeup.Stack))
		}
		return
	}
	t.Errorf("no clock_nanosleep that comes again and again: %+v", got.Wakeups)
}

// A light recording has samples, processes, and each thread's time off the CPU as a sum.
func TestLight(t *testing.T) {
	needs(t)
	recorder, err := Start(t.Context(), Options{Light: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(recorder.Close)
	begun := time.Now()
	got := watchCommand(t, recorder, "/bin/sh", "-c", "sleep 0.3; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
	off := map[string]float64{}
	for _, sample := range got.Samples {
		if sample.Signal == recording.SignalOffCPU {
			off[sample.Comm] += float64(sample.ValueNs) / 1e9
		}
	}
	if most := time.Since(begun).Seconds(); off["sleep"] < 0.29 || off["sleep"] > most || off["sh"] < 0.29 {
		t.Errorf("seconds off the CPU: %v", off)
	}
	if len(got.Processes) != 2 || len(got.Syscalls)+len(got.Waits) != 0 || got.summary.Samples == 0 {
		t.Errorf("%d processes, %d system calls, %d waits, %d samples", len(got.Processes), len(got.Syscalls),
			len(got.Waits), got.summary.Samples)
	}
}
