package cause

// gains say of each cause that costs side A more, so that B gained by being without it, what the gain hangs on: a
// remedy would be for the side that nobody wants any more. Each goes on after gained.
var gains = map[string]string{
	"clock.slow-source":   "the fast clock source stays in force: a boot, or a kernel that distrusts it, may change it",
	"clock.vdso-bypassed": "the vDSO serves the time: a sandbox, a static loader or vdso=0 would take that away again",
	"clock.read-often":    "callers do with the time that was read once; see that none needs a fresher one",
	"syscall.traced":      "no tracer or filter is attached again; find out who had attached it to A, and what for",
	"syscall.chatty":      "reads and writes stay that large and nothing is polled or opened for each piece again",
	"timer.ticker":        "nobody needs what the ticks did on time: a value kept fresh, a look at a queue",
	"sleep.deliberate":    "the sleep guarded nothing: a back-off or a pause between two tries may be missed under load",
	"lock.contended":      "threads and load stay as in these runs: with more of them a lock may queue again",
	"line.false-sharing": "the words stay on lines of their own: without padding the next build or allocation may put " +
		"them together again",
	"line.true-sharing":   "threads keep to copies of their own; see that they are still added up",
	"process.short-lived": "the work is done without these processes; see that all of it still is",
	"config.differs":      "the setting stays as it is on B: write it where a boot or a deployment keeps it",
	"file.journal":        "file system, its options and what else is written to it stay as they are",
	"file.writeback":      "no more is written than in these runs: a longer run or a neighbour may meet it again",
	"file.dirty-throttle": "no more is written than in these runs: a longer run or a neighbour may meet the limit again",
	"file.inode-lock":     "each writer keeps to its own file",
	"file.sync":           "what is no longer forced to disk may be lost with the power",
	"disk.slow":           "the device stays that fast: less load of others may pass, so look again at another time",
	"disk.throttled":      "the limit stays lifted, or the I/O below it under full load as well",
	"cpu.throttled":       "the quota stays lifted, or the use below it under full load as well",
	"cpu.starved":         "the competitor stays away: that is the host's doing, so look again at another time",
	"cpu.confined":        "affinity and cpuset stay that wide where the program really runs",
	"memory.faults":       "memory is kept; see how much more of it the program now holds",
	"memory.page-in":      "the pages stay in memory: a boot, or a neighbour that needs memory, puts them out again",
	"memory.reclaim":      "the limit stays above what is used, under full load as well",
	"runtime.gc":          "allocation and heap stay as they are; see how much more memory a larger heap takes",
	"runtime.cold":        "nothing holds the compiler back, and runs are long enough to get warm",
	"cache.misses":        "data is as large and as ordered as in these runs",
	"branch.misses":       "data is as predictable as in these runs",
	"frontend.stalls":     "the layout of the code stays: the next build may move it",
	"code.grew":           "the input is like that of these runs; see that the function still does all it has to",
	"code.added":          "nobody needs what that path did; see that nothing is missing",
	"net.delayed":         "the socket's option stays set, or each message is written at once",
	"net.reconnect":       "connections stay open: see which end closes idle ones, and when",
	"net.loss":            "the link stays that good, so look again at another time",
	"monitor.attached":    "the monitor stays away, or its way of counting; find out who needs it",
	"monitor.multiplexed": "no more events are counted than the processor has counters",
}

// gained begins what stands in place of a remedy where B is the cheaper side.
const gained = "B does better without it, and that holds as long as "
