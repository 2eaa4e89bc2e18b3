package unwind

import (
	"context"
	"time"

	"go.opentelemetry.io/ebpf-profiler/support"
	"go.opentelemetry.io/ebpf-profiler/times"
	"go.opentelemetry.io/ebpf-profiler/tracer"
)

// monitorEvery is how often the library looks for processes that nobody
// announced, and at its own counters: each look walks a large map.
const monitorEvery = time.Second

// intervals are the library's, but for how often traces are fetched, which it fixes.
type intervals struct {
	*times.Times
	poll time.Duration
}

// TracePollInterval is how often traces are fetched from the kernel.
func (i intervals) TracePollInterval() time.Duration { return i.poll }

func (u *Unwinder) load(ctx context.Context, options Options, lean bool) (*tracer.Tracer, error) {
	u.lean = lean
	poll := options.Poll
	if poll == 0 {
		poll = 100 * time.Millisecond
	}
	loaded, err := tracer.NewTracer(ctx, &tracer.Config{
		TraceReporter: u, ExecutableReporter: u,
		Intervals:          intervals{times.New(time.Second, monitorEvery, time.Minute), poll},
		InterpretersConfig: interpreters(),
		SamplesPerSecond:   ringBytes / support.Sizeof_Trace, FrameCacheSize: 16384,
		MapScaleFactor:     mapScale,
		KernelVersionCheck: true, FilterIdleFrames: true,
		ProbabilisticInterval: time.Minute, ProbabilisticThreshold: 100,
	})
	if err != nil || !lean {
		return loaded, err
	}
	if err := fillFirstDeltas(loaded); err != nil {
		loaded.Close()
		return nil, err
	}
	return loaded, nil
}

// ringBytes is how much room the library's ring of stacks has for each CPU: some 2,500 stacks between two polls. The
// library sizes it for a second of the largest stacks there can be, 25 kB where most take one, so that a rate is how it
// is told. All of it counts as memory of the recorder, twice, for it is mapped twice in a row.
const ringBytes = 2 << 20

// mapScale makes the library's maps of executables a quarter of what it takes for usual: 16,384 executables, and a
// gigabyte of code.
const mapScale = -2

// maxSettle bounds the wait for the last stacks of a window.
const maxSettle = 3 * time.Second

// Settle waits until the stacks taken so far have been fetched and named: the
// library polls, and naming many new interpreted frames takes a while.
func (u *Unwinder) Settle(poll time.Duration) {
	until := time.Now().Add(maxSettle)
	for before := -1; time.Now().Before(until); {
		time.Sleep(poll + poll/2)
		u.mu.Lock()
		now, busy := len(u.traces), u.busy
		u.mu.Unlock()
		if now == before && !busy {
			return
		}
		before = now
	}
}
