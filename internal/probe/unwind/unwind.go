// Package unwind makes complete user and kernel stacks through the
// OpenTelemetry eBPF profiler: native code without frame pointers, Go, the JVM,
// Python, Node and other interpreters, in one unwinder. Other probes decide
// *when* a stack is taken and tail-call Program; this package collects what
// comes back and gives it names.
//
// It must run in a process of its own (see package record): on hosts where the
// locked-memory limit may not be raised it installs a seccomp filter, which
// every later child would inherit and pay for.
//
//	u, err := unwind.Start(ctx, unwind.Options{RunTimes: []string{"Python"}})
//	…tail-call u.Program() from a perf_event program…
//	for _, trace := range u.Take() { … u.Frames(trace.Stack) … }
//
// It refuses to name what it cannot: a native frame without a symbol is
// "module+0xoffset", a stack that broke carries the reason as its root frame.
package unwind

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/log"
	"go.opentelemetry.io/ebpf-profiler/reporter"
	"go.opentelemetry.io/ebpf-profiler/times"
	"go.opentelemetry.io/ebpf-profiler/tracer"
)

// maxStacks bounds the distinct stacks kept between two calls of Reset.
const maxStacks = 200_000

// Options choose what the unwinder can read.
type Options struct {
	RunTimes []string // whose unwinders are loaded before the first such process is seen, by name (RunTimeOf)
	// WholeHost: most programs are not what the recording is about, and their lines may cost less.
	WholeHost bool
	Poll      time.Duration // how often traces are fetched; stacks of a process that ended before are named less well
	// Patient: a process is looked at within a second after its first stack was taken, not when it
	// begins. One without a stack, or that has ended by then, takes nothing: on a host that starts
	// 20 processes a second looking at all of them was a third of what recording took.
	Patient bool
}

// Trace is one stack taken from one thread at one time.
type Trace struct {
	KtimeNs int64 // CLOCK_MONOTONIC
	Pid     int32
	Tid     int32
	CPU     int32
	Comm    string
	Stack   int // for Frames; -1 when it did not fit
	// LeftCPU marks a stack taken at a switch-out or a page fault, not by the clock; set by whoever
	// joins it.
	LeftCPU bool
	// Late marks a sample of the clock that came well after its time: the CPU stood still.
	Late bool
}

// Unwinder is the loaded library.
type Unwinder struct {
	tracer  *tracer.Tracer
	lean    bool // of a lean object
	program *ebpf.Program
	cancel  context.CancelFunc
	done    chan struct{}

	mu      sync.Mutex
	traces  []Trace
	stacks  []keptStack
	byHash  map[uint64]int
	lost    int64
	tables  map[libpf.FileID]*module
	window  int // how many were begun
	placed  int // places that are remembered of all modules
	loader  *loader
	made    *madeCode
	budget  budget
	names   names              // of frames; of whoever calls Frames
	whole   map[int]namedStack // and stacks
	damaged atomic.Int64
	looks   atomic.Int64
	naming  sync.Mutex // current, and whom the library names a stack of
	current libpf.Frames
	// pool is where HandleTrace brings the 25 kB of a raw stack to. nil: a new version of the
	// library has it no longer.
	pool    *sync.Pool
	monitor *monitor
}

// keptStack is a stack of one process.
type keptStack struct {
	pid    libpf.PID
	frames libpf.Frames
}

// attempts is how often loading is tried: the library's analysis of the kernel
// reads another thread's registers, which now and then are not there to be read.
const attempts = 3

// Start loads the unwinder into the kernel. Errors: no BPF, no permission, a
// kernel that the library refuses.
func Start(ctx context.Context, options Options) (*Unwinder, error) {
	if err := allowMemlock(); err != nil {
		return nil, err
	}
	log.SetLevel(slog.LevelError + 4) // the library's own log is not for culprit's users
	ctx, cancel := context.WithCancel(ctx)
	times.StartRealtimeSync(ctx, time.Hour)
	u := &Unwinder{cancel: cancel, done: make(chan struct{}), byHash: map[uint64]int{},
		tables: map[libpf.FileID]*module{}, budget: budgetOf(options.WholeHost)}
	var loaded *tracer.Tracer
	var err error
	for try := 0; try < attempts && loaded == nil; try++ {
		lean := try < attempts-1 // whatever may be wrong with it: the last one is made with the library's own
		err = withObject(lean, func(lean bool) (err error) {
			loaded, err = u.load(ctx, options, lean)
			return err
		})
	}
	if err != nil && loaded == nil {
		cancel()
		return nil, fmt.Errorf("load unwinder: %w", err)
	}
	u.tracer = loaded
	u.pool, _ = fieldAt[sync.Pool](loaded, "tracePool") // without it stacks are read as well
	if u.loader, err = newLoader(loaded, u.lean); err == nil {
		u.made = newMadeCode(u.loader.maps)
		u.loadFirst(options)
		err = u.run(ctx, options)
	}
	if err != nil {
		u.Close()
		return nil, err
	}
	return u, nil
}

// pollUnset is Options.Poll where nobody says.
const pollUnset = 100 * time.Millisecond

func (u *Unwinder) run(ctx context.Context, options Options) error {
	if options.Poll == 0 {
		options.Poll = pollUnset
	}
	program, err := ownProgram("native_tracer_entry")
	if err != nil {
		return err
	}
	if err := u.watch(ctx, &options); err != nil {
		program.Close()
		return fmt.Errorf("start unwinder: %w", err)
	}
	u.program = program
	return nil
}

// Program is the entry to tail-call from a perf_event program.
func (u *Unwinder) Program() *ebpf.Program { return u.program }

// Queue gives the maps of the library's queue of processes to look at, and those by which processes
// are booked without a look, by name.
func (u *Unwinder) Queue() (map[string]*ebpf.Map, error) {
	queue := map[string]*ebpf.Map{}
	for _, name := range []string{"pid_events", "report_events", "inhibit_events"} {
		found, err := ownMap(name)
		if err != nil {
			return nil, err
		}
		queue[name] = found
	}
	if book := u.monitor.book; book != nil {
		queue["pid_page_to_mapping_info"], queue["known_code"], queue["booked_code"] = book.table, book.codes, book.booked
	} else {
		queue["pid_page_to_mapping_info"] = u.loader.maps["pid_page_to_mapping_info"]
	}
	return queue, nil
}

// Close unloads everything.
func (u *Unwinder) Close() {
	u.cancel()
	if u.program != nil {
		<-u.done
		u.program.Close()
	}
	u.tracer.Close()
	if u.loader != nil {
		u.loader.close()
	}
	if u.monitor != nil && u.monitor.book != nil {
		u.monitor.book.close()
	}
}

// ReportExecutable is called by the library once per mapped file.
func (u *Unwinder) ReportExecutable(executable *reporter.ExecutableMetadata) {
	file := executable.MappingFile.Value()
	u.loader.saw(executable.Mapping.Path)
	u.mu.Lock()
	_, known := u.tables[file.FileID]
	u.mu.Unlock()
	if known {
		return
	}
	loaded := loadModule(executable)
	u.mu.Lock()
	loaded.used = u.window
	u.tables[file.FileID] = loaded
	u.mu.Unlock()
}

// Take returns the traces since the last call.
func (u *Unwinder) Take() []Trace {
	u.mu.Lock()
	defer u.mu.Unlock()
	traces := u.traces
	u.traces = nil
	return traces
}

// Lost returns how many stacks did not fit since the last Reset.
func (u *Unwinder) Lost() int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.lost
}

// Reset forgets the stacks of a finished window; symbol tables stay, but for those of programs that
// are gone.
func (u *Unwinder) Reset() {
	u.loader.reset()
	u.made.forget()
	if u.monitor != nil && u.monitor.book != nil {
		u.monitor.book.handOver()
		signal(u.monitor.news)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.forgetModules()
	u.traces, u.lost = nil, 0
	u.forgetStacks()
	u.names.forget(u.window)
}
