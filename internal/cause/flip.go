package cause

// Way says how an intervention is made.
type Way string

// The ways.
const (
	// BySetting flips a setting of the host or of a cgroup: journaled before, read back after, put back at the end.
	BySetting Way = "setting"
	// ByRestart starts the command in another way: without a variable, an option or a wrapper, or with the other
	// side's. Nothing on the host changes.
	ByRestart Way = "restart"
	// ByTree gives the command's own processes another attribute while they run. It ends with them.
	ByTree Way = "tree"
)

// Flip is an intervention that would prove a cause: what it changes, and how.
type Flip struct {
	Way  Way    `json:"way"`
	What string `json:"what"` // a knob, or which parts of a command: "wrapper", "tracer", "variable", "option", "head"
	// Names are the wrappers, or the beginnings of the variables' names; empty: all of them.
	Names []string `json:"names,omitempty"`
	// Exact tells that it takes the cause away whole, so that a flip without an effect refutes the suspect. Others may
	// only prove it.
	Exact bool   `json:"exact"`
	Text  string `json:"text"` // for people
}

// The parts of a command that a restart can change.
const (
	PartWrapper  = "wrapper"  // taskset, nice …: a program that runs another one under changed settings
	PartTracer   = "tracer"   // strace, perf …: one that watches another
	PartVariable = "variable" // of the environment
	PartOption   = "option"   // of the run time: what stands between the program and its first other word
	PartHead     = "head"     // all of these but tracers
)

// Flips lists what would prove a cause, the best first; nil where nothing can be flipped. Entry.Proof says it in words.
func Flips(id string) []Flip {
	return flips[id]
}

// flips stand beside the catalogue: a cause that something can prove has a line here.
var flips = map[string][]Flip{
	"clock.slow-source": {{BySetting, "clocksource", nil, true, "flip clocksource"}},
	// A restart without a setting is not exact: the same may be set elsewhere than at the head of the command, and a
	// collector or an allocator may take longer for another reason than its setting.
	"config.differs": {{ByRestart, PartHead, nil, false, "start the dearer side with the other one's variables, options " +
		"and wrappers"}},
	"cpu.confined": {
		{ByRestart, PartWrapper, []string{"taskset", "numactl"}, false, "start it without the wrapper that confines it"},
		{BySetting, "cgroup.cpuset.cpus", nil, true, "give its cgroup all CPUs"},
		{ByTree, "affinity", nil, false, "widen the affinity of its threads as soon as they run"}},
	"cpu.throttled": {{BySetting, "cgroup.cpu.max", nil, true, "lift the quota of its cgroup"}},
	"cpu.starved": {
		{ByRestart, PartWrapper, []string{"nice", "chrt", "taskset"}, false, "start it without the wrapper"},
		{ByTree, "policy", nil, false, "let its own processes that have the CPU run only when it is idle"}},
	"disk.throttled": {{BySetting, "cgroup.io", nil, true, "lift the rate that its cgroup may use of a device"}},
	"memory.reclaim": {{BySetting, "cgroup.memory.max", nil, true, "lift the memory limit of its cgroup"}},
	"memory.page-in": {{BySetting, "cgroup.memory.max", nil, false, "lift the memory limit of its cgroup"}},
	"memory.faults": {{ByRestart, PartVariable, []string{"MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD", "TCMALLOC",
		"JE_MALLOC", "GODEBUG"}, false, "start it with the other side's settings of the allocator"}},
	"runtime.gc": {
		{ByRestart, PartVariable, []string{"GOGC", "GOMEMLIMIT", "GODEBUG", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS",
			"_JAVA_OPTIONS", "NODE_OPTIONS"}, false, "start it with the other side's settings of the collector"},
		{ByRestart, PartOption, nil, false, "start it with the other side's options of the run time"},
		{BySetting, "cgroup.memory.max", nil, false, "lift the memory limit of its cgroup"}},
	"runtime.cold": {
		{ByRestart, PartOption, nil, false, "start it with the other side's options of the run time"},
		{ByRestart, PartVariable, []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "NODE_OPTIONS",
			"PYTHON"}, false, "start it with the other side's settings of the compiler"}},
	"syscall.traced":     {{ByRestart, PartTracer, nil, true, "start it without the tracer that its command starts"}},
	"monitor.attached":   {{ByRestart, PartTracer, nil, true, "start it without the monitor that its command starts"}},
	"line.false-sharing": {{ByTree, "affinity one", nil, false, "hold all its threads on one CPU: no line moves"}},
	"line.true-sharing":  {{ByTree, "affinity one", nil, false, "hold all its threads on one CPU: no line moves"}},
}
