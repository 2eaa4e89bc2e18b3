package unwind

import (
	"context"
	"time"

	"go.opentelemetry.io/ebpf-profiler/support"
	"go.opentelemetry.io/ebpf-profiler/times"
	"go.opentelemetry.io/ebpf-profiler/tracer"
)

// monitorEvery is how often the library adds up counters of its own, which nobody reads.
const monitorEvery = time.Hour

func (u *Unwinder) load(ctx context.Context, options Options, lean bool) (*tracer.Tracer, error) {
	u.lean = lean
	loaded, err := tracer.NewTracer(ctx, &tracer.Config{
		TraceReporter: u, ExecutableReporter: u,
		Intervals:          times.New(time.Second, monitorEvery, time.Minute),
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

// ringBytes is how much room the library's ring of stacks has for each CPU: some 2,500 stacks
// between two polls. The library sizes it for a second of the largest stacks there can be, 25 kB
// where most take one, so that a rate is how it is told. All of it counts as memory of the
// recorder, twice, for it is mapped twice in a row.
const ringBytes = 2 << 20

// mapScale makes the library's maps of executables a quarter of what it takes for usual: 16,384
// executables, and a gigabyte of code.
const mapScale = -2

// maxSettle bounds the wait for the last stacks of a window.
const maxSettle = 3 * time.Second

// Settle waits until the stacks taken so far have been fetched and named: naming many new
// interpreted frames takes a while. Before it, half of Options.Poll is left for the library to come
// to know a process that it was told of just now.
func (u *Unwinder) Settle(poll time.Duration) {
	time.Sleep(poll / 2)
	limit, done := time.After(maxSettle), make(chan struct{})
	select {
	case u.monitor.asked <- done:
	case <-limit:
		return
	}
	select {
	case <-done:
	case <-limit:
	}
}
