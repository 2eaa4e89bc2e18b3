package recording

import "strings"

// Evidence are the tables that came with schema 2. Empty tables are written all
// the same, so that a query finds its columns; a recording of schema 1 has none.
type Evidence struct {
	Slow     []Slow
	Locks    []Lock
	Wakeups  []Wakeup
	Block    []Block
	Network  []Network
	Metrics  []Metric
	Lines    []Line
	Counters []Counter
	Errors   []SyscallError
}

// The kinds of objects that a slow operation can be on.
const (
	ObjectFile = "file" // Object: path
	// Object: "tcp 10.0.0.1:443" of a connection that the target made, "tcp from 10.0.0.1:51234" of
	// one that it took, "tcp port 80" of a listener, "unix /run/x".
	ObjectSocket  = "socket"
	ObjectPipe    = "pipe"
	ObjectLock    = "lock"    // Object: futex address in hexadecimal
	ObjectPoll    = "poll"    // a wait for any of several descriptors
	ObjectTimer   = "timer"   // a sleep for a time that the program chose
	ObjectProcess = "process" // a wait for the end of a child
	ObjectOther   = "other"   // Object: what the kernel calls it, or the path of a device
)

// Slow is one system call of the target that took longer than the threshold,
// whole: what it was on, where it waited longest, who woke it, and what that waker
// had itself just waited for.
type Slow struct {
	TimeNs     int64  `parquet:"time_ns,delta"` // when it was entered
	DurationNs int64  `parquet:"duration_ns"`
	Pid        int32  `parquet:"pid"`
	Tid        int32  `parquet:"tid"`
	Comm       string `parquet:"comm,dict"`
	Name       string `parquet:"name,dict"`        // of the call: "fsync"
	ObjectKind string `parquet:"object_kind,dict"` // one of Object…
	Object     string `parquet:"object,dict"`      // "" when it could not be told
	Size       int64  `parquet:"size"`             // bytes asked for, 0 when the call has none
	Result     int64  `parquet:"result"`           // negative: errno
	BlockedNs  int64  `parquet:"blocked_ns"`       // asleep, all waits of the call together
	RunqueueNs int64  `parquet:"runqueue_ns"`
	Waits      int32  `parquet:"waits"`      // times it slept
	LongestNs  int64  `parquet:"longest_ns"` // its longest sleep, which the next columns are about
	Stack      int32  `parquet:"stack"`      // user and kernel frames, where it slept
	WakerKind  string `parquet:"waker_kind,dict"`
	WakerPid   int32  `parquet:"waker_pid"`
	WakerTid   int32  `parquet:"waker_tid"`
	WakerComm  string `parquet:"waker_comm,dict"`
	WakerStack int32  `parquet:"waker_stack"`
	// The hop behind: the waker's own last sleep before it woke this thread.
	HopNs    int64  `parquet:"hop_ns"`        // 0: it had not slept meanwhile, or was not seen
	HopStack int32  `parquet:"hop_stack"`     // where the waker slept
	HopComm  string `parquet:"hop_comm,dict"` // who woke the waker
	// Stall numbers the stalls of the recording: slow calls that overlap in time and
	// wait for the same thing are one stall. Counted from 1; 0: the call waited for work (see
	// Idle), or spent most of its time on a CPU or waiting for one.
	Stall int32 `parquet:"stall"`
}

// The kinds of locks.
const (
	LockFutex = "futex" // user space, by address
	LockMutex = "mutex" // kernel: mutex, rwsem, spin, percpu, by the tracepoint's flags
	LockRWSem = "rwsem"
	LockSpin  = "spin"
	LockOther = "other"
)

// Lock is one lock that target threads waited for.
type Lock struct {
	Kind        string `parquet:"kind,dict"`
	Address     uint64 `parquet:"address"`
	Pid         int32  `parquet:"pid"` // whose address it is; 0 for kernel locks
	Waits       int64  `parquet:"waits"`
	TotalNs     int64  `parquet:"total_ns"`
	MaxNs       int64  `parquet:"max_ns"`
	Waiters     int32  `parquet:"waiters"`      // distinct threads
	WaiterStack int32  `parquet:"waiter_stack"` // where most of the time was waited
	HolderPid   int32  `parquet:"holder_pid"`   // who released it most often
	HolderTid   int32  `parquet:"holder_tid"`
	HolderComm  string `parquet:"holder_comm,dict"`
	HolderStack int32  `parquet:"holder_stack"` // at the release; in the kernel see recording.md
}

// Wakeup is one place where a thread sleeps again and again.
type Wakeup struct {
	Pid        int32  `parquet:"pid"`
	Tid        int32  `parquet:"tid"`
	Comm       string `parquet:"comm,dict"`
	Syscall    string `parquet:"syscall,dict"`
	WakerKind  string `parquet:"waker_kind,dict"` // timer: nobody else woke it
	Count      int64  `parquet:"count"`
	IntervalNs int64  `parquet:"interval_ns"` // median time between two wake-ups
	SpreadNs   int64  `parquet:"spread_ns"`   // between the quartiles of that time
	CPUNs      int64  `parquet:"cpu_ns"`      // run between wake-up and next sleep
	Stack      int32  `parquet:"stack"`
}

// Block is what one process asked of one block device with one operation.
type Block struct {
	Device    string  `parquet:"device,dict"`    // "vda", "loop0"; "8:16" when it has no name
	Operation string  `parquet:"operation,dict"` // read, write, flush, discard, other
	Pid       int32   `parquet:"pid"`            // who submitted it: often a kernel thread
	Comm      string  `parquet:"comm,dict"`
	Target    bool    `parquet:"target"`
	Count     int64   `parquet:"count"`
	Bytes     int64   `parquet:"bytes"`
	TotalNs   int64   `parquet:"total_ns"` // issued to completed
	MaxNs     int64   `parquet:"max_ns"`
	QueueNs   int64   `parquet:"queue_ns"`     // inserted to issued
	MaxDepth  int32   `parquet:"max_depth"`    // requests of the device in flight, highest seen
	Buckets   []int64 `parquet:"buckets,list"` // by latency as in Syscall
	// What a cgroup's limit held back before it became a request (whose row, once it is let go, may
	// be a kernel thread's).
	Throttled int64 `parquet:"throttled,optional"` // how many pieces of I/O
	// ThrottledNs is how long they were held, all together.
	ThrottledNs int64 `parquet:"throttled_ns,optional"`
	// ThrottledBy is the last part of the path of the cgroup that asked.
	ThrottledBy string `parquet:"throttled_by,optional,dict"`
}

// The events of a Network row.
const (
	NetConnect    = "connect"    // opened by this host
	NetFailed     = "failed"     // refused, or given up
	NetAccept     = "accept"     // opened by the other end
	NetRetransmit = "retransmit" // a segment was sent again
	NetReset      = "reset"      // by the other end
)

// Network counts events of the host's TCP connections by peer.
type Network struct {
	Event string `parquet:"event,dict"`
	Pid   int32  `parquet:"pid"` // who opened it, or listens at its port; 0: not known
	Comm  string `parquet:"comm,dict"`
	// "127.0.0.1:6379", "[::1]:80"; of accept the accepting side's own address; without the port
	// where the other end has chosen it.
	Peer    string `parquet:"peer,dict"`
	Target  bool   `parquet:"target"`
	Count   int64  `parquet:"count"`
	TotalNs int64  `parquet:"total_ns"` // connect: until established; failed: until it was
}

// Metric is one number of the host, a device or a cgroup at one time.
type Metric struct {
	TimeNs int64 `parquet:"time_ns,delta"`
	// Name is dotted, with its unit last: "cpu.user_s", "memory.dirty_bytes".
	Name  string `parquet:"name,dict"`
	Scope string `parquet:"scope,dict"` // "" for the host, a device or a cgroup path
	// Value holds counters as they stand, so that any two rows give a rate.
	Value float64 `parquet:"value"`
}

// MonitorOf begins the Name of a line whose word is the lock of a Java object, or a lock of Java's
// library; the object's class follows.
const MonitorOf = "monitor of "

// LockWord begins the Name of a line whose word is a lock by the type that its program gave it, as
// Rust's Mutex: what is called so follows.
const LockWord = "lock "

// IsLock tells by the Name of a line that its word is a lock: who shares it fights for that.
func IsLock(name string) bool {
	return strings.HasPrefix(name, MonitorOf) || strings.HasPrefix(name, LockWord)
}

// Line is one word of memory that several threads touch in one cache line, of one process or of
// several.
type Line struct {
	Line   uint64 `parquet:"line"`   // address of the 64-byte line
	Offset int32  `parquet:"offset"` // of the word in it
	Size   int32  `parquet:"size"`
	Pid    int32  `parquet:"pid"`
	Tid    int32  `parquet:"tid"`
	// Task is the address of Go's task that ran, which moves from thread to thread; else 0.
	Task  uint64 `parquet:"task,optional"`
	Comm  string `parquet:"comm,dict"`
	Write bool   `parquet:"write"`
	Count int64  `parquet:"count"` // samples whose operand it was
	Hits  int64  `parquet:"hits"`  // of a debug register; 0: not tried or not hit
	// WatchedNs is how long a debug register watched the word while the thread ran; 0: not tried.
	WatchedNs int64 `parquet:"watched_ns,optional"`
	Stack     int32 `parquet:"stack"` // the code that touches it
	// Behind tells that the samples were taken where a function has just returned that ended with
	// the access: Stack ends in what called it.
	Behind bool `parquet:"behind,optional"`
	// Name is a variable, the type of what a pointer leads to, MonitorOf a class, or LockWord and
	// one of the first two; "" when unknown.
	Name string `parquet:"name,dict"`
	// Field is which of it the word is: ".seen", "[3].seen"; "" for the whole, or when unknown.
	Field string `parquet:"field,optional,dict"`
	// Memory is what several processes have mapped, where the line is of such: device, number and
	// path of a file. The same line has one MemoryOffset in all of them, and an address of its own
	// in each.
	Memory       string `parquet:"memory,optional,dict"`
	MemoryOffset uint64 `parquet:"memory_offset,optional"`
	// Alone is how many of the samples were taken while no other thread of the process ran, or of
	// the processes that have mapped the memory: then nobody fights for it. Recordings from before
	// it was known have none.
	Alone int64 `parquet:"alone,optional"`
	// Near is how many of the samples had another thread at its side: on another CPU, at the same
	// time, in the same neighbourhood. NearByChance is how many would have, were the threads there
	// independently of each other: none of both where too few samples tell.
	Near         int64   `parquet:"near,optional"`
	NearByChance float64 `parquet:"near_by_chance,optional"`
	// BlockSize is that of the heap block which the word lies in, by as many bytes as BlockOffset,
	// and BlockStack where it was allocated; all 0 where that is not known (record --allocations).
	BlockSize   int64  `parquet:"block_size,optional"`
	BlockOffset int64  `parquet:"block_offset,optional"`
	BlockStack  int32  `parquet:"block_stack,optional"`
	Context     string `parquet:"context,dict"`
}

// The scopes of a Counter. Both stand still while who is counted sleeps: the rows of a CPU, which
// go on, have its name ("cpu0"), and are never added to those.
const (
	ScopeTarget  = "target"  // the whole target
	ScopeProcess = "process" // Pid alone; what is in "target" too
)

// Counter is a hardware or software counter with how long it really counted.
type Counter struct {
	Name      string `parquet:"name,dict"`
	Scope     string `parquet:"scope,dict"` // ScopeTarget, ScopeProcess or "cpu0"
	Value     int64  `parquet:"value"`
	EnabledNs int64  `parquet:"enabled_ns"`
	RunningNs int64  `parquet:"running_ns"` // less than enabled: the value is a part of it
	// Low and High hold the true count with 95 % confidence; both are the value where it was
	// counted all the time, and 0 where it never was.
	Low  int64 `parquet:"low,optional"`
	High int64 `parquet:"high,optional"`
	// Group: events with the same one above 0 were counted at the same times.
	Group int32  `parquet:"group,optional"`
	Pid   int32  `parquet:"pid,optional"` // of ScopeProcess
	Comm  string `parquet:"comm,optional,dict"`
	Unit  string `parquet:"unit,optional,dict"` // "ns"; "" of a count
}

// Estimated is the value scaled up to all of the time that it was to be counted; false where it
// never was counted.
func (c *Counter) Estimated() (float64, bool) {
	if c.RunningNs <= 0 {
		return 0, false
	}
	return float64(c.Value) * float64(c.EnabledNs) / float64(c.RunningNs), true
}

// SyscallError counts the failures of one system call of one process by errno.
type SyscallError struct {
	Pid   int32  `parquet:"pid"`
	Name  string `parquet:"name,dict"`
	Errno string `parquet:"errno,dict"` // "ENOENT"; "errno 999" when it has no name
	Count int64  `parquet:"count"`
}
