package compare

import (
	"fmt"
	"path"
	"sort"

	"culprit/recording"
)

const (
	defaultSliceNs = 1e6
	// shortWaitNs is the length from which the recorder keeps a wait whole; shorter ones are off-CPU samples only.
	shortWaitNs = 50e3
	// Short-lived processes: at least so many of one name, each living for at most this part of the run.
	shortProcesses = 3
	shortLife      = 0.25
)

// run is one recording, indexed for walking through time.
type run struct {
	rec     *recording.Recording
	pool    *pool
	stacks  []int32 // of the recording, as numbers of the pool
	sliceNs int64
	startNs int64 // of the stretch that the wall metric measured
	endNs   int64
	root    int32 // pid of the process that the trial ran
	process map[int32]*process
	thread  map[int32]*thread
	locks   map[lockObject]bool
	turns   map[turnPlace]bool
	// released is where each lock was given up most often, as the table of locks says.
	released map[lockObject]int32
	slices   map[int64][]int32 // indices of CPU samples by slice
	golang   map[int32]bool    // processes that run Go; nil until asked
}

// process is one process of the tree, with the names that paths carry.
type process struct {
	pid, ppid      int32
	startNs, endNs int64
	name, parent   string
	short          bool
	killed         bool // by a signal
}

// thread is one thread of the tree, with its waits and samples in order of time.
type thread struct {
	pid, tid       int32
	comm           string
	startNs, endNs int64 // endNs is 0 while it lives
	waits          []*recording.Wait
	cpu            []*recording.Sample
	short          []*recording.Sample // off-CPU samples of waits that are too short to be kept whole
	ticking        bool
	monitor        *bool // a runtime's own monitor; nil until asked
	tickNs         int64 // median time between its timer wake-ups
	ticked         int64 // how often it ticked, where most of these waits were too short to be kept whole; else 0
}

func newRun(rec *recording.Recording, shared *pool) *run {
	r := &run{rec: rec, pool: shared, stacks: shared.translate(rec), sliceNs: rec.Manifest.SliceNs,
		process: map[int32]*process{}, thread: map[int32]*thread{}, slices: map[int64][]int32{}}
	if r.sliceNs <= 0 || !plausible(r.sliceNs) {
		r.sliceNs = defaultSliceNs
	}
	r.indexProcesses()
	r.indexThreads()
	r.adoptProcesses()
	r.findRoot()
	r.stretch()
	r.nameProcesses()
	r.locks, r.released, r.turns = lockObjects(rec), r.releases(), r.turnPlaces()
	r.setTicking()
	return r
}

// threads returns all threads in a fixed order, so that the same recordings give the same result.
func (r *run) threads() []*thread {
	list := make([]*thread, 0, len(r.thread))
	for _, t := range r.thread {
		list = append(list, t)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].tid < list[j].tid })
	return list
}

// threadOf returns the thread, made on first sight: a recording may lack the table.
func (r *run) threadOf(pid, tid int32) *thread {
	t := r.thread[tid]
	if t == nil {
		t = &thread{pid: pid, tid: tid}
		r.thread[tid] = t
	}
	return t
}

func (r *run) indexThreads() {
	for i := range r.rec.Threads {
		known := &r.rec.Threads[i]
		t := r.threadOf(known.Pid, known.Tid)
		t.comm, t.startNs, t.endNs = known.Comm, known.StartNs, known.EndNs
	}
	for i := range r.rec.Waits {
		wait := &r.rec.Waits[i]
		if !plausible(wait.TimeNs) || !plausible(wait.BlockedNs) || !plausible(wait.RunqueueNs) ||
			r.stray(wait.Pid) {
			continue
		}
		t := r.threadOf(wait.Pid, wait.Tid)
		t.waits = append(t.waits, wait)
	}
	for i := range r.rec.Samples {
		sample := &r.rec.Samples[i]
		if !plausible(sample.TimeNs) || !plausible(sample.ValueNs) || !plausible(sample.Count) {
			continue
		}
		if sample.Signal == recording.SignalCPU {
			at := sample.TimeNs / r.sliceNs
			r.slices[at] = append(r.slices[at], int32(i))
		}
		if !sample.Target || r.stray(sample.Pid) {
			continue
		}
		t := r.threadOf(sample.Pid, sample.Tid)
		if t.comm == "" {
			t.comm = sample.Comm
		}
		switch {
		case sample.Signal == recording.SignalCPU:
			t.cpu = append(t.cpu, sample)
		case sample.Signal == recording.SignalOffCPU && sample.ValueNs < shortWaitNs*max(1, sample.Count):
			t.short = append(t.short, sample)
		}
	}
	for _, t := range r.thread {
		sort.SliceStable(t.waits, func(i, j int) bool { return t.waits[i].TimeNs < t.waits[j].TimeNs })
		sort.SliceStable(t.cpu, func(i, j int) bool { return t.cpu[i].TimeNs < t.cpu[j].TimeNs })
		sort.SliceStable(t.short, func(i, j int) bool { return t.short[i].TimeNs < t.short[j].TimeNs })
	}
}

// plausible refuses numbers of a damaged file before sums of them overflow.
func plausible(ns int64) bool { return ns >= 0 && ns <= maxSeconds*1e9 }

func (r *run) indexProcesses() {
	for _, known := range r.rec.Processes {
		name := known.Comm
		if known.Command != "" {
			name = path.Base(known.Command)
		}
		r.process[known.Pid] = &process{pid: known.Pid, ppid: known.Ppid,
			startNs: known.StartNs, endNs: known.EndNs, name: name, killed: known.ExitCode < 0}
	}
}

// stray reports whether a process is none of the recording's tree: a sample
// that arrived too late, in the window of the next run.
func (r *run) stray(pid int32) bool { return len(r.rec.Processes) > 0 && r.process[pid] == nil }

// adoptProcesses makes processes out of threads where the recording lacks the table.
func (r *run) adoptProcesses() {
	for _, t := range r.thread {
		if r.process[t.pid] == nil {
			r.process[t.pid] = &process{pid: t.pid, name: t.comm}
		}
	}
}

// findRoot looks for the process that the trial waited for: the target's pid,
// else the eldest process whose parent is not in the tree.
func (r *run) findRoot() {
	if r.process[int32(r.rec.Manifest.Target.Pid)] != nil && r.rec.Manifest.Target.Pid != 0 {
		r.root = int32(r.rec.Manifest.Target.Pid)
		return
	}
	var best *process
	for _, p := range r.process {
		if p.ppid == 0 || r.process[p.ppid] == nil {
			// Without a table of processes every parent is 0: then the lowest pid is the best guess.
			if best == nil || p.startNs < best.startNs || p.startNs == best.startNs && p.pid < best.pid {
				best = p
			}
		}
	}
	if best != nil {
		r.root = best.pid
	}
}

// stretch sets the part of the window that the wall metric measured: it ends
// with the root process.
func (r *run) stretch() {
	if plausible(r.rec.Manifest.WindowNs) {
		r.endNs = r.rec.Manifest.WindowNs
	}
	if root := r.process[r.root]; root != nil && root.endNs > 0 && plausible(root.endNs) {
		r.endNs = root.endNs
	}
	r.startNs = 0
	if wall := r.rec.Manifest.Metrics[MetricWall]; wall > 0 && wall <= maxSeconds {
		r.startNs = r.endNs - int64(wall*1e9)
	}
}

// nameProcesses gives each process its parent's name and finds those that are many and short-lived.
func (r *run) nameProcesses() {
	lives := map[string][]int64{}
	for _, p := range r.process {
		if parent := r.process[p.ppid]; parent != nil && p.ppid != p.pid {
			p.parent = parent.name
			if p.startNs > 0 && p.endNs > p.startNs {
				lives[p.name] = append(lives[p.name], p.endNs-p.startNs)
			}
		}
	}
	longest := int64(shortLife * float64(r.endNs-r.startNs))
	for _, p := range r.process {
		many := lives[p.name]
		if p.pid == r.root || p.parent == "" || len(many) < shortProcesses {
			continue
		}
		sort.Slice(many, func(i, j int) bool { return many[i] < many[j] })
		// One that lives on is none of them, though its children have its name until they run another program.
		p.short = many[len(many)/2] <= longest && p.startNs > 0 && p.endNs-p.startNs <= longest
	}
}

// key is the part of a path's key that all time of one thread shares.
func (r *run) key(t *thread, kind PathKind, stack int32) pathKey {
	key := pathKey{kind: kind, stack: stack, comm: t.comm, ticking: t.ticking,
		wakerStack: recording.NoStack, forStack: recording.NoStack}
	if p := r.process[t.pid]; p != nil {
		key.process, key.parent, key.short = p.name, p.parent, p.short
	}
	return key
}

// stackOf is the pool's number of a stack of this recording.
func (r *run) stackOf(stack int32) int32 {
	if stack < 0 || int(stack) >= len(r.stacks) {
		return recording.NoStack
	}
	return r.stacks[stack]
}

// unseen says what this recording could not show.
func (r *run) unseen(metric string) []string {
	var list []string
	for _, probe := range r.rec.Manifest.Probes {
		if !probe.On {
			list = append(list, fmt.Sprintf("probe %s was off: %s", probe.Name, probe.Why))
		}
	}
	total, known, nameless := 0.0, 0.0, 0.0
	for _, sample := range r.rec.Samples {
		if sample.Signal == recording.SignalCPU && sample.Target {
			total += float64(sample.ValueNs)
			stack := r.stackOf(sample.Stack)
			if stack >= 0 {
				known += float64(sample.ValueNs)
			}
			if stack >= 0 && r.pool.inPerlMain(r.pool.stacks[stack]) {
				nameless += float64(sample.ValueNs)
			}
		}
	}
	if nameless > 0.1*total {
		list = append(list, perlUnseen)
	}
	exact, measured := r.rec.Manifest.Metrics[MetricCPU]
	switch {
	case total == 0:
		list = append(list, "no CPU samples of the target in some runs: their CPU time has no stacks")
	case known < 0.9*total:
		list = append(list, "more than a tenth of the CPU samples have no stack")
	case measured && exact > 0.02 && total/1e9 < 0.5*exact:
		list = append(list, "fewer than half of the expected CPU samples were taken")
	}
	if metric == MetricWall && len(r.rec.Waits) == 0 {
		list = append(list, "no waits were recorded: waiting cannot be told from running")
	}
	return list
}
