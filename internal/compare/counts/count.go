// Package counts adds up what happened how often in each recording: system calls, processes,
// wake-ups by timers, switches, block requests, page faults and all else that is no time of the
// metric.
//
// It refuses to take a missing table for a zero: of what no table tells there is no count.
//
//	table := counts.New(perrun.Sides{A: 1, B: 1})
//	table.Add(0, timeline.New(recA, pool), 1)
//	table.Add(1, timeline.New(recB, pool), 1)
//	list := table.List() // {Name: "syscall.write.count", Unit: "calls/run", A: [10], B: [3000]}
package counts

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"culprit/internal/compare/perrun"
	"culprit/internal/compare/timeline"
	"culprit/recording"
)

// Count is a number of events per run ("syscall.write.count", "process.started", …).
type Count struct {
	Name string // dotted
	Key  string // of what: a process's name for most, or "" for the whole tree
	Unit string
	A, B []float64
}

// The counts of a result. Those of processes have the process's name as key and stand once more
// with an empty key for the whole tree.
//
//	syscall.NAME.count    calls           syscall.NAME.errors    failed calls
//	syscall.NAME.bytes    bytes moved     syscall.NAME.seconds   time inside
//	process.cpu           seconds, by name
//	switches.voluntary    by process      switches.involuntary   by process
//	migrations            by process
//	counter.NAME          events of --counters (tree only), and ratios of those counted at the same times
//	metric.NAME           every other number in the manifest (tree only)
const (
	Processes    = "process.started"  // by name
	Threads      = "threads"          // of all processes of a name, by process only
	TimerWakeups = "timer.wakeups"    // by process
	Ticks        = "timer.ticks"      // those at a fixed rate, by process
	TickInterval = "timer.interval"   // seconds between ticks, by process
	Runqueue     = "runqueue.seconds" // waiting for a CPU, by process
)

// Call is the name of what is counted of a system call: "syscall.write.count".
func Call(call, what string) string { return ofCalls + call + "." + what }

// CallOf takes such a name apart; "" of other counts.
func CallOf(count string) (call, what string) {
	if rest, found := strings.CutPrefix(count, ofCalls); found {
		call, what, _ = strings.Cut(rest, ".")
	}
	return call, what
}

const ofCalls = "syscall."

type key struct{ name, key, unit string }

// Table adds up events per run.
type Table struct {
	sides  perrun.Sides
	run    int     // that is added
	scale  float64 // of its amounts
	values map[key][]float64
	had    map[string]int // recordings that have a counter, by its name
}

// New makes a table for so many recordings.
func New(sides perrun.Sides) *Table {
	return &Table{sides: sides, values: map[key][]float64{}, had: map[string]int{}}
}

// plus adds an amount for one key; tree adds it for the whole tree as well.
func (t *Table) plus(name, of, unit string, amount float64) {
	at := key{name, of, unit}
	if t.values[at] == nil {
		t.values[at] = t.sides.Amounts()
	}
	if name != TickInterval && name != Threads && unit != RatioUnit { // neither is an amount of what a run does
		amount *= t.scale
	}
	t.values[at][t.run] += amount
}

func (t *Table) tree(name, of, unit string, amount float64) {
	t.plus(name, "", unit, amount)
	if of != "" {
		t.plus(name, of, unit, amount)
	}
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// Add adds a run's counts, each times scale; run counts through A, then B.
func (t *Table) Add(run int, r *timeline.Run, scale float64) {
	t.run, t.scale = run, scale
	rec := r.Recording
	for i := range rec.Syscalls {
		call := &rec.Syscalls[i]
		t.tree(Call(call.Name, "count"), call.Comm, "calls/run", float64(call.Count))
		t.tree(Call(call.Name, "errors"), call.Comm, "calls/run", float64(call.Errors))
		t.tree(Call(call.Name, "bytes"), call.Comm, "bytes/run", float64(call.Bytes))
		t.tree(Call(call.Name, "seconds"), call.Comm, "s/run", seconds(call.TotalNs))
	}
	for i := range rec.Processes {
		if p := r.Process(rec.Processes[i].Pid); p.Pid != r.Root {
			if p.StartNs > 0 {
				t.tree(Processes, p.Name, "processes/run", 1)
			}
			t.tree("process.cpu", p.Name, "s/run", seconds(rec.Processes[i].CPUNs))
		}
	}
	for i := range rec.Threads {
		thread := &rec.Threads[i]
		name := r.ProcessName(thread.Pid)
		t.plus(Threads, name, "threads/run", 1)
		t.tree("switches.voluntary", name, "switches/run", float64(thread.Voluntary))
		t.tree("switches.involuntary", name, "switches/run", float64(thread.Involuntary))
		t.tree("migrations", name, "migrations/run", float64(thread.Migrations))
		t.tree(Runqueue, name, "s/run", seconds(thread.RunqueueNs))
	}
	t.timers(r)
	t.samples(r)
	t.block(rec)
	t.network(rec)
	t.sentLate(r)
	t.counters(rec)
	grownBy(rec, throttledMetric, func(scope string, stopped float64) {
		t.tree(Throttled, scope, "s/run", stopped)
	})
	grownBy(rec, ListenDrops, func(_ string, dropped float64) {
		t.plus(ListenDrops, "", "connections/run", dropped)
	})
	for name, value := range rec.Manifest.Metrics {
		if !recording.OfWork(name) {
			t.plus("metric."+name, "", name+"/run", value)
		}
	}
}

func (t *Table) timers(r *timeline.Run) {
	ticks := r.ProcessTicks()
	for _, thread := range r.Threads {
		name, woken := r.ProcessName(thread.Pid), float64(thread.TimerWakes)
		if woken > 0 {
			t.tree(TimerWakeups, name, "wake-ups/run", woken)
		}
		if woken > 0 && (ticks[thread.Pid] > 0 || thread.Ticking) {
			t.tree(Ticks, name, "ticks/run", woken)
		}
		// A rhythm knows of all ticks, waits of those kept.
		if thread.Ticking && (ticks[thread.Pid] == 0 || thread.Rhythm) {
			ticks[thread.Pid] = thread.TickNs
		}
	}
	for _, pid := range slices.Sorted(maps.Keys(ticks)) {
		// Of several processes of one name, one says how long an interval is.
		name := r.ProcessName(pid)
		if known := t.values[key{TickInterval, name, "s"}]; known == nil || known[t.run] == 0 {
			t.plus(TickInterval, name, "s", seconds(ticks[pid]))
		}
	}
}

// List returns the counts by name, the whole tree before its processes.
func (t *Table) List() []Count {
	list := make([]Count, 0, len(t.values))
	for at, values := range t.values {
		if had, is := t.had[at.name]; is && had < len(values) {
			continue // some were recorded without it, which is no zero
		}
		a, b := t.sides.Split(values)
		list = append(list, Count{Name: at.name, Key: at.key, Unit: at.unit, A: a, B: b})
	}
	slices.SortFunc(list, func(x, y Count) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Key, y.Key), cmp.Compare(x.Unit, y.Unit))
	})
	return list
}
