package recording

// Process is one process of the target's tree.
type Process struct {
	Pid     int32  `parquet:"pid"`
	Ppid    int32  `parquet:"ppid"`
	StartNs int64  `parquet:"start_ns"` // 0 when it ran before the window
	EndNs   int64  `parquet:"end_ns"`   // 0 when it outlived the window
	Comm    string `parquet:"comm,dict"`
	// Command is the file of its last exec, "" when it never had one in the window.
	Command  string `parquet:"command,dict"`
	Execs    int32  `parquet:"execs"`
	CPUNs    int64  `parquet:"cpu_ns"` // in the window
	ExitCode int32  `parquet:"exit_code"`
	// EndedBy is the thread that ended it by exit_group, 0 when none did in the window: a signal
	// ended it, or each of its threads itself.
	EndedBy int32 `parquet:"ended_by,optional"`
	// By its cgroup: "docker 4fd2c1a90b17", else its unit of systemd, "nginx.service"; "" for
	// neither.
	Container string `parquet:"container,optional,dict"`
}

// Thread is one thread of the target's tree with the scheduler's own account of it.
type Thread struct {
	Pid         int32  `parquet:"pid"`
	Tid         int32  `parquet:"tid"`
	Comm        string `parquet:"comm,dict"`
	StartNs     int64  `parquet:"start_ns"`
	EndNs       int64  `parquet:"end_ns"`
	CPUNs       int64  `parquet:"cpu_ns"`
	RunqueueNs  int64  `parquet:"runqueue_ns"`
	Voluntary   int64  `parquet:"voluntary"`           // switches because it blocked
	Involuntary int64  `parquet:"involuntary"`         // switches because it was preempted
	Migrations  int64  `parquet:"migrations,optional"` // from one CPU to another
}
