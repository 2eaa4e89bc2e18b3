package compare

import (
	"sort"
)

// The counts of a result. Those of processes have the process's name as key and
// stand once more with an empty key for the whole tree.
//
//	syscall.NAME.count    calls           syscall.NAME.errors    failed calls
//	syscall.NAME.bytes    bytes moved     syscall.NAME.seconds   time inside
//	process.started       by name         process.cpu            seconds, by name
//	timer.wakeups         by process      timer.ticks            those at a fixed rate, by process
//	timer.interval        seconds between ticks, by process
//	switches.voluntary    by process      switches.involuntary   by process
//	runqueue.seconds      waiting for a CPU, by process
//	threads               of all processes of a name, by process only
//	strangers.cpu         seconds that the rest of the host ran (tree only)
//	metric.NAME           every other number in the manifest (tree only)
const (
	CountProcesses    = "process.started"
	CountThreads      = "threads"
	CountTimerWakeups = "timer.wakeups"
	CountTicks        = "timer.ticks"
	CountTickInterval = "timer.interval"
	CountRunqueue     = "runqueue.seconds"
)

type countKey struct{ name, key, unit string }

// counter adds up events per run.
type counter struct {
	runsA, runsB int
	scale        float64 // of the run that is added
	values       map[countKey]*Count
}

func newCounter(runsA, runsB int) *counter {
	return &counter{runsA: runsA, runsB: runsB, scale: 1, values: map[countKey]*Count{}}
}

// plus adds an amount for one key; tree adds it for the whole tree as well.
func (c *counter) plus(side Side, run int, name, key, unit string, amount float64) {
	at := countKey{name, key, unit}
	count := c.values[at]
	if count == nil {
		count = &Count{Name: name, Key: key, Unit: unit, A: make([]float64, c.runsA), B: make([]float64, c.runsB)}
		c.values[at] = count
	}
	if name != CountTickInterval && name != CountThreads { // neither is an amount of what a run does
		amount *= c.scale
	}
	if side == A {
		count.A[run] += amount
	} else {
		count.B[run] += amount
	}
}

func (c *counter) tree(side Side, run int, name, key, unit string, amount float64) {
	c.plus(side, run, name, "", unit, amount)
	if key != "" {
		c.plus(side, run, name, key, unit, amount)
	}
}

func (c *counter) add(side Side, at int, r *run) {
	for i := range r.rec.Syscalls {
		call := &r.rec.Syscalls[i]
		prefix := "syscall." + call.Name
		c.tree(side, at, prefix+".count", call.Comm, "calls/run", float64(call.Count))
		c.tree(side, at, prefix+".errors", call.Comm, "calls/run", float64(call.Errors))
		c.tree(side, at, prefix+".bytes", call.Comm, "bytes/run", float64(call.Bytes))
		c.tree(side, at, prefix+".seconds", call.Comm, "s/run", float64(call.TotalNs)/1e9)
	}
	for i := range r.rec.Processes {
		p := r.process[r.rec.Processes[i].Pid]
		if p == nil || p.pid == r.root {
			continue
		}
		if p.startNs > 0 {
			c.tree(side, at, CountProcesses, p.name, "processes/run", 1)
		}
		c.tree(side, at, "process.cpu", p.name, "s/run", float64(r.rec.Processes[i].CPUNs)/1e9)
	}
	for i := range r.rec.Threads {
		t := &r.rec.Threads[i]
		name := r.processName(t.Pid)
		c.plus(side, at, CountThreads, name, "threads/run", 1)
		c.tree(side, at, "switches.voluntary", name, "switches/run", float64(t.Voluntary))
		c.tree(side, at, "switches.involuntary", name, "switches/run", float64(t.Involuntary))
		c.tree(side, at, "migrations", name, "migrations/run", float64(t.Migrations))
		c.tree(side, at, CountRunqueue, name, "s/run", float64(t.RunqueueNs)/1e9)
	}
	c.timers(side, at, r)
	c.evidence(side, at, r)
	c.quota(side, at, r)
	c.listenDrops(side, at, r)
	for name, value := range r.rec.Manifest.Metrics {
		if name != MetricWall && name != MetricCPU {
			c.plus(side, at, "metric."+name, "", name+"/run", value)
		}
	}
}

func (c *counter) timers(side Side, at int, r *run) {
	ticks := r.processTicks()
	for _, t := range r.threads() {
		name := r.processName(t.pid)
		woken := float64(max(int64(timerWaits(t)), t.ticked))
		if woken > 0 {
			c.tree(side, at, CountTimerWakeups, name, "wake-ups/run", woken)
		}
		if woken > 0 && (ticks[t.pid] > 0 || t.ticking) {
			c.tree(side, at, CountTicks, name, "ticks/run", woken)
		}
		if t.ticking && (ticks[t.pid] == 0 || t.ticked > 0) { // a rhythm knows of all ticks, waits of those kept
			ticks[t.pid] = t.tickNs
		}
	}
	for _, pid := range sortedPids(ticks) {
		// Of several processes of one name, one says how long an interval is.
		key := countKey{CountTickInterval, r.processName(pid), "s"}
		if known := c.values[key]; known != nil && (side == A && known.A[at] > 0 || side == B && known.B[at] > 0) {
			continue
		}
		c.plus(side, at, CountTickInterval, key.key, "s", float64(ticks[pid])/1e9)
	}
}

func sortedPids(ticks map[int32]int64) []int32 {
	pids := make([]int32, 0, len(ticks))
	for pid := range ticks {
		pids = append(pids, pid)
	}
	sort.Slice(pids, func(i, j int) bool { return pids[i] < pids[j] })
	return pids
}

func (r *run) processName(pid int32) string {
	if p := r.process[pid]; p != nil {
		return p.name
	}
	return ""
}

// list returns the counts by name, the whole tree before its processes.
func (c *counter) list() []Count {
	list := make([]Count, 0, len(c.values))
	for _, count := range c.values {
		list = append(list, *count)
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].Name != list[j].Name {
			return list[i].Name < list[j].Name
		}
		return list[i].Key < list[j].Key
	})
	return list
}
