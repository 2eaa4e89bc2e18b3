// Package recording holds what was seen of one target in one window of time, and reads and writes
// it. Probes make recordings, every other part of culprit reads them. It imports nothing else of
// culprit, and is the only package that others may import.
//
//	rec, err := recording.Open("a.culprit")
//	for _, sample := range rec.Samples {
//		fmt.Println(rec.StackNames(sample.Stack), sample.ValueNs)
//	}
//
// A .culprit file is a zip of manifest.json, facts.json and one Parquet file per table, which
// DuckDB, pandas, Spark or ClickHouse read as they are. Times are nanoseconds since the window's
// start, durations are nanoseconds, ids of processes and threads are those of the host.
//
// It refuses files that are truncated, damaged, larger than its limits or written by a later
// schema: it returns an error, never half a recording.
package recording

import "time"

// SchemaVersion is written into every manifest. Readers accept it and all earlier ones.
//
//	1  manifest, facts, frames, stacks, samples, syscalls, waits, processes, threads
//	2  slow, locks, wakeups, block, network, metrics, lines, counters, errors; syscalls by thread; hops of waits
//	3  blind spots with a kind and fields; the format of an import
const SchemaVersion = 3

// NoStack marks a sample or wait whose stack is unknown.
const NoStack int32 = -1

// Recording is the evidence of one window. Frames and Stacks are indexed by
// the ids that stand in the other tables.
type Recording struct {
	Manifest  Manifest
	Facts     []Fact
	Frames    []Frame
	Stacks    []Stack
	Samples   []Sample
	Syscalls  []Syscall
	Waits     []Wait
	Processes []Process
	Threads   []Thread
	// Dependencies are what the target ran on; nil in recordings that were made before there was
	// such a table.
	Dependencies []Dependency
	Evidence
	RequestTables
}

// RecorderComm is the name of the recorder's own threads: what they take from the target is the
// recording's cost.
const RecorderComm = "culprit-record"

// Hypervisor stands for who has the CPU while it stands still: the host of a virtual machine runs
// something else. Brackets: no process of that name is meant.
const Hypervisor = "[hypervisor]"

// Manifest says what was recorded, how, and at what cost.
type Manifest struct {
	Schema     int           `json:"schema"`
	Program    string        `json:"program"`          // "culprit" and its version
	Format     string        `json:"format,omitempty"` // that of another tool, where it was imported: "folded"
	Host       string        `json:"host"`
	Kernel     string        `json:"kernel"`
	StartedAt  time.Time     `json:"started_at"`
	WindowNs   int64         `json:"window_ns"`
	Target     Target        `json:"target"`
	Hz         int           `json:"hz"`       // on-CPU samples per second and CPU
	SliceNs    int64         `json:"slice_ns"` // samples are aggregated to time slices this long
	Probes     []ProbeStatus `json:"probes"`
	Losses     []Loss        `json:"losses"`
	Cost       Cost          `json:"cost"`
	BlindSpots []BlindSpot   `json:"blind_spots"`
	// Metrics of the whole window as the caller measured them: MetricWall, MetricCPU and what it
	// counted itself; compare scales samples to the exact CPU time in it.
	Metrics map[string]float64 `json:"metrics"`
	// Gaps are where nothing was recorded, Thinned what was given up to keep to a budget, in order
	// of time.
	Gaps    []Gap      `json:"gaps,omitempty"`
	Thinned []Thinning `json:"thinned,omitempty"`
	// Held are the facts that changed while it was recorded, with what they were when.
	Held []HeldFact `json:"held,omitempty"`
	// Restarts are those of the service that was recorded, in order of time.
	Restarts []Restart `json:"restarts,omitempty"`
	// Estimated says which numbers of the tables are no counts of all events.
	Estimated []Estimate `json:"estimated,omitempty"`
	// Watched is how requests were watched where that was not all the time; nil: they were, or not
	// recorded.
	Watched *Watched `json:"watched,omitempty"`
	// Labels are what its user calls the recording by: service, version, zone.
	Labels map[string]string `json:"labels,omitempty"`
}

// ProbeStatus says whether a probe ran and, if not, why.
type ProbeStatus struct {
	Name string `json:"name"`
	On   bool   `json:"on"`
	Why  string `json:"why,omitempty"`
}

// Loss counts events that did not fit, by the place where they were dropped.
type Loss struct {
	What  string `json:"what"`
	Count int64  `json:"count"`
}

// The losses that readers go by: samples in user space whose operand is not known.
const (
	LossOperands     = "oncpu: samples whose operand did not fit"
	LossOperandsOver = "oncpu: samples over the limit whose operand was not looked for"
)

// Estimate tells of how many events something is known from others like them: to bound the cost not
// all are looked at.
type Estimate struct {
	What  string `json:"what"`
	Count int64  `json:"count"` // events that were not looked at
	Of    int64  `json:"of"`    // all of the kind
}

// Cost is what recording took: measured, not promised.
type Cost struct {
	RecorderCPUNs int64 `json:"recorder_cpu_ns"` // user space, in the window and its naming
	// RecorderNs is how long those took by the clock: of a short window most of it is naming. 0:
	// not known.
	RecorderNs int64 `json:"recorder_ns,omitempty"`
	StartCPUNs int64 `json:"start_cpu_ns"` // loading and verifying, once
	// BPFNs is the run time per program, "probe/program". The kernel's account of it, which itself
	// costs, is switched on for BPFSampledNs of the window only; the figures are scaled to the
	// whole of it.
	BPFNs        map[string]int64 `json:"bpf_ns,omitempty"`
	BPFSampledNs int64            `json:"bpf_sampled_ns,omitempty"`
	// Looks is how often a process was looked at: its mappings were read, and files of it that were
	// new.
	Looks int64 `json:"looks,omitempty"`
	// Check is what recording did to the target's own rate; nil: not looked at.
	Check *SelfCheck `json:"self_check,omitempty"`
}

// Thinning is one step by which a recording kept to its budget.
type Thinning struct {
	TimeNs int64  `json:"time_ns"` // on the recording's clock
	Probe  string `json:"probe"`
	Did    string `json:"did"` // "detached", "50 Hz", "watched 20 % of the time"
	Why    string `json:"why"` // what it had cost, and the budget
}

// FrameKind tells what kind of code a frame runs.
type FrameKind string

// The kinds of frames that the recorder tells apart.
const (
	KindNative FrameKind = "native"
	KindKernel FrameKind = "kernel"
	KindVDSO   FrameKind = "vdso"
	KindJVM    FrameKind = "jvm"
	KindGo     FrameKind = "go"
	KindPython FrameKind = "python"
	KindNode   FrameKind = "node"
	KindRuby   FrameKind = "ruby"
	KindPHP    FrameKind = "php"
	KindOther  FrameKind = "other" // another interpreter, or an error marker
)

// Frame is one function (and line, where known) of a stack.
type Frame struct {
	Name    string    `parquet:"name,dict"` // demangled; "module+0x1f00" when there is no symbol
	Kind    FrameKind `parquet:"kind,dict"`
	Module  string    `parquet:"module,dict"`   // base name of the mapped file, "" when none
	BuildID string    `parquet:"build_id,dict"` // GNU or Go build id, "" when none
	File    string    `parquet:"file,dict"`     // source file where known
	Line    int32     `parquet:"line"`          // 0 when unknown
	// Changed is the dependency that it is of, where two compared sides have different versions:
	// "jinja2 3.0.3 → 3.1.4". Package compare fills it in; no recording has it.
	Changed string `parquet:"-"`
}

// Stack is a list of frames, root first, kernel frames last.
type Stack struct {
	Frames []int32 `parquet:"frames,list"`
}

// The signals a Sample can carry.
const (
	SignalCPU = "cpu" // value: CPU time
	// SignalOffCPU has as value the time off the CPU, blocked or runnable, by the stack that left
	// it.
	SignalOffCPU = "offcpu"
	SignalFault  = "fault" // count: minor page faults; value: 0
	SignalMajor  = "major" // count: faults that waited for a disk; value: 0
	// SignalReclaim is memory that a thread had to free before it got some. Count: how often;
	// value: how long. The stack is the kernel's function alone: for a cgroup's limit, or for the
	// host's memory.
	SignalReclaim = "reclaim"
	// SignalCycles and SignalInstructions are samples by counters of the CPU. Count: samples;
	// value: how many cycles or instructions these stand for.
	SignalCycles       = "cycles"
	SignalInstructions = "instructions"
)

// Sample is an amount of one signal at one stack.
type Sample struct {
	Signal  string `parquet:"signal,dict"`
	TimeNs  int64  `parquet:"time_ns,delta"` // start of its slice
	Pid     int32  `parquet:"pid"`
	Tid     int32  `parquet:"tid"`
	CPU     int32  `parquet:"cpu"`
	Stack   int32  `parquet:"stack"`
	Count   int64  `parquet:"count"`
	ValueNs int64  `parquet:"value_ns"`
	// Target is false for another process of the host: added up by process, NoStack.
	Target bool   `parquet:"target"`
	Comm   string `parquet:"comm,dict"`
}

// Syscall is what one thread did with one system call.
type Syscall struct {
	Pid     int32  `parquet:"pid"`
	Tid     int32  `parquet:"tid,optional"` // 0: all threads of the process (schema 1)
	Comm    string `parquet:"comm,dict"`
	Name    string `parquet:"name,dict"` // "write"; "syscall_451" where the name is unknown
	Count   int64  `parquet:"count"`
	Errors  int64  `parquet:"errors"`
	Bytes   int64  `parquet:"bytes"` // sum of non-negative results of calls that return a size
	TotalNs int64  `parquet:"total_ns"`
	// Buckets are by latency: element i counts calls of [2^i, 2^(i+1)) ns.
	Buckets []int64 `parquet:"buckets,list"`
}

// The ways a blocked thread can be woken.
const (
	WakerThread    = "thread"    // another thread of the target or of the host
	WakerTimer     = "timer"     // a timer's expiry
	WakerInterrupt = "interrupt" // a device's or another CPU's interrupt
	WakerKernel    = "kernel"    // a kernel thread
	WakerNone      = "none"      // never slept: it was preempted and waited for a CPU
	WakerPending   = "pending"   // still asleep when the window ended
	WakerBeside    = "beside"    // of parts of requests: not known; this thread was at work for most of the wait
)

// Wait is one stay of a target thread off the CPU, long enough to be kept whole.
type Wait struct {
	TimeNs     int64 `parquet:"time_ns,delta"` // when it left the CPU
	BlockedNs  int64 `parquet:"blocked_ns"`    // until it was woken; 0 when preempted
	RunqueueNs int64 `parquet:"runqueue_ns"`   // from woken (or preempted) to running again
	Pid        int32 `parquet:"pid"`
	Tid        int32 `parquet:"tid"`
	// State is "R" preempted, "S" interruptible, "D" uninterruptible, …
	State   string `parquet:"state,dict"`
	Syscall string `parquet:"syscall,dict"` // the call it was in, "" when none
	// Object is the futex address or file descriptor of that call, else 0.
	Object     uint64 `parquet:"object"`
	Stack      int32  `parquet:"stack"` // user and kernel frames, NoStack when unknown
	WakerKind  string `parquet:"waker_kind,dict"`
	WakerPid   int32  `parquet:"waker_pid"`
	WakerTid   int32  `parquet:"waker_tid"`
	WakerComm  string `parquet:"waker_comm,dict"`
	WakerStack int32  `parquet:"waker_stack"` // kernel frames
	RunnerPid  int32  `parquet:"runner_pid"`  // who had the CPU just before it got it back
	RunnerComm string `parquet:"runner_comm,dict"`
	// The hop behind: the last sleep of the waker before it woke this thread. HopStack and HopComm
	// mean something only where HopNs is above 0; below that the waker had not slept meanwhile, or
	// was not watched.
	HopNs int64 `parquet:"hop_ns,optional"` // how long the waker had slept
	// HopStack has the kernel frames where it slept, NoStack when unknown.
	HopStack int32 `parquet:"hop_stack,optional"`
	// HopComm is who woke the waker, "" when that was no thread.
	HopComm string `parquet:"hop_comm,optional,dict"`
}
