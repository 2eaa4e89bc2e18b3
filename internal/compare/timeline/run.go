// Package timeline reads one recording as what it is: processes and threads that run and wait, in
// order of time. It tells which thread ran a process to its end, which ones only tick, and what a
// wait was for: a lock, a turn, a nap of the run time.
//
// It refuses rows of processes outside of the recording's tree, and numbers that only damage makes.
//
//	run := timeline.New(rec, names.New(a, b, nil))
//	for _, thread := range run.Threads {
//		fmt.Println(thread.Comm, len(thread.Waits), thread.Ticking)
//	}
package timeline

import (
	"path"
	"slices"

	"culprit/internal/compare/names"
	"culprit/recording"
)

const (
	// defaultSliceNs is the length of a slice where a damaged recording names none. Chosen.
	defaultSliceNs = 1e6
	// ShortNs is the length from which the recorder keeps a wait whole; shorter ones are off-CPU
	// samples only (probe/offcpu).
	ShortNs = 50e3
	// Short-lived processes: at least so many of one name, each living for at most this part of the
	// run. Chosen: two may be a program and its helper; no verdict of the corpus changes with 2,
	// nor between 0.19 and 0.31.
	shortProcesses = 3
	shortLife      = 0.25
)

// Run is one recording, indexed for walking through time.
type Run struct {
	Recording *recording.Recording
	Names     *names.Pool
	Threads   []*Thread // by number, so that the same recordings give the same result
	SliceNs   int64
	StartNs   int64 // of the stretch that the wall metric measured
	EndNs     int64
	Root      int32 // pid of the process that the trial ran

	stacks  []int32 // of the recording, as numbers of the pool
	process map[int32]*Process
	thread  map[int32]*Thread
	locks   map[lockObject]bool
	turns   map[turnPlace]bool
	// released is where each lock was given up most often, as the table of locks says.
	released map[lockObject]int32
	others   map[int32]int32               // where the other threads run, by thread; filled when asked
	slices   map[int64][]*recording.Sample // CPU samples of everybody on the host by slice
	golang   map[int32]bool                // processes that run Go; nil until asked
	serving  map[int32]bool                // threads that read requests or write their answers
}

// Process is one process of the tree.
type Process struct {
	Pid, ppid      int32
	StartNs, endNs int64
	Name, Parent   string // Parent is the name of the process that started it
	Short          bool   // one of many of its name that each lived for a small part of the run
	killed         bool   // by a signal
	endedBy        int32  // the thread that called exit_group, 0 when not known
}

// Thread is one thread of the tree, with its waits and samples in order of time.
type Thread struct {
	Pid, Tid int32
	Comm     string
	StartNs  int64
	Waits    []*recording.Wait
	CPU      []*recording.Sample
	Short    []*recording.Sample // off-CPU samples of waits that are too short to be kept whole
	Ticking  bool                // a timer wakes it at a fixed rate, and it mostly sleeps
	TickNs   int64               // median time between its timer wake-ups
	// TimerWakes is how often timers woke it: in waits that are kept, or by Rhythm in all of a
	// place.
	TimerWakes int64
	Rhythm     bool
	monitor    *bool // a runtime's own monitor; nil until asked
}

// New indexes a recording whose names are in the pool.
func New(rec *recording.Recording, pool *names.Pool) *Run {
	r := &Run{Recording: rec, Names: pool, stacks: pool.Translate(rec), SliceNs: rec.Manifest.SliceNs,
		process: map[int32]*Process{}, thread: map[int32]*Thread{},
		slices: map[int64][]*recording.Sample{}, others: map[int32]int32{}}
	if r.SliceNs <= 0 || !recording.Plausible(r.SliceNs) {
		r.SliceNs = defaultSliceNs
	}
	r.indexProcesses()
	r.indexThreads()
	r.findRoot()
	r.stretch()
	r.nameProcesses()
	r.locks, r.released, r.turns = lockObjects(rec), r.releases(), r.turnPlaces()
	r.serving = rec.Answering()
	r.setTicking()
	return r
}

// Stack is the pool's number of a stack of this recording.
func (r *Run) Stack(stack int32) int32 {
	if stack < 0 || int(stack) >= len(r.stacks) {
		return names.None
	}
	return r.stacks[stack]
}

// Frames are the frames of a stack of this recording, root first, as the pool names them.
func (r *Run) Frames(stack int32) []recording.Frame { return r.Names.Frames(r.Stack(stack)) }

// Process is a process of the tree, nil when it is none of it.
func (r *Run) Process(pid int32) *Process { return r.process[pid] }

// ProcessName is the name of a process of the tree, else "".
func (r *Run) ProcessName(pid int32) string {
	if p := r.process[pid]; p != nil {
		return p.Name
	}
	return ""
}

// Thread is a thread of the tree, nil when it is none of it.
func (r *Run) Thread(tid int32) *Thread { return r.thread[tid] }

// Creator is the pid of the process that started a thread, -1 when it is not known.
func (r *Run) Creator(t *Thread) int32 {
	p := r.process[t.Pid]
	switch {
	case t.Tid != t.Pid:
		return t.Pid
	case p == nil || p.ppid == t.Pid:
		return -1
	}
	return p.ppid
}

// threadOf returns the thread, made on first sight: a recording may lack the table.
func (r *Run) threadOf(pid, tid int32, comm string) *Thread {
	t := r.thread[tid]
	if t == nil {
		t = &Thread{Pid: pid, Tid: tid}
		r.thread[tid] = t
		r.Threads = append(r.Threads, t)
	}
	if t.Comm == "" {
		t.Comm = comm
	}
	return t
}

func (r *Run) indexThreads() {
	for i := range r.Recording.Threads {
		known := &r.Recording.Threads[i]
		t := r.threadOf(known.Pid, known.Tid, "")
		t.Comm, t.StartNs = known.Comm, known.StartNs
	}
	for i := range r.Recording.Waits {
		wait := &r.Recording.Waits[i]
		if recording.Plausible(wait.TimeNs, wait.BlockedNs, wait.RunqueueNs) && !r.Stray(wait.Pid) {
			t := r.threadOf(wait.Pid, wait.Tid, "")
			t.Waits = append(t.Waits, wait)
		}
	}
	for i := range r.Recording.Samples {
		r.indexSample(&r.Recording.Samples[i])
	}
	for _, t := range r.Threads {
		slices.SortStableFunc(t.Waits, func(x, y *recording.Wait) int { return int(x.TimeNs - y.TimeNs) })
		slices.SortStableFunc(t.CPU, earlier)
		slices.SortStableFunc(t.Short, earlier)
	}
	slices.SortFunc(r.Threads, func(x, y *Thread) int { return int(x.Tid) - int(y.Tid) })
	for _, t := range r.Threads {
		if r.process[t.Pid] == nil { // the recording lacks the table
			r.process[t.Pid] = &Process{Pid: t.Pid, Name: t.Comm}
		}
	}
}

func earlier(x, y *recording.Sample) int { return int(x.TimeNs - y.TimeNs) }

func (r *Run) indexSample(sample *recording.Sample) {
	if !recording.Plausible(sample.TimeNs, sample.ValueNs, sample.Count) {
		return
	}
	if sample.Signal == recording.SignalCPU {
		at := sample.TimeNs / r.SliceNs
		r.slices[at] = append(r.slices[at], sample)
	}
	if !sample.Target || r.Stray(sample.Pid) {
		return
	}
	t := r.threadOf(sample.Pid, sample.Tid, sample.Comm)
	switch {
	case sample.Signal == recording.SignalCPU:
		t.CPU = append(t.CPU, sample)
	case sample.Signal == recording.SignalOffCPU && sample.ValueNs < ShortNs*max(1, sample.Count):
		t.Short = append(t.Short, sample)
	}
}

func (r *Run) indexProcesses() {
	for _, known := range r.Recording.Processes {
		name := known.Comm
		if known.Command != "" {
			name = path.Base(known.Command)
		}
		r.process[known.Pid] = &Process{Pid: known.Pid, ppid: known.Ppid,
			StartNs: known.StartNs, endNs: known.EndNs, Name: name, killed: known.ExitCode < 0,
			endedBy: known.EndedBy}
	}
}

// Stray reports whether a process is none of the recording's tree: a sample that arrived too late,
// in the window of the next run.
func (r *Run) Stray(pid int32) bool {
	return len(r.Recording.Processes) > 0 && r.process[pid] == nil
}

// findRoot looks for the process that the trial waited for: the target's pid, else the eldest
// process whose parent is not in the tree.
func (r *Run) findRoot() {
	target := int32(r.Recording.Manifest.Target.Pid)
	if r.process[target] != nil && target != 0 {
		r.Root = target
		return
	}
	var best *Process
	for _, p := range r.process {
		if p.ppid == 0 || r.process[p.ppid] == nil {
			// Without a table of processes every parent is 0: then the lowest pid is the best
			// guess.
			if best == nil || p.StartNs < best.StartNs || p.StartNs == best.StartNs && p.Pid < best.Pid {
				best = p
			}
		}
	}
	if best != nil {
		r.Root = best.Pid
	}
}

// stretch sets the part of the window that the wall metric measured: it ends with the root process.
func (r *Run) stretch() {
	if recording.Plausible(r.Recording.Manifest.WindowNs) {
		r.EndNs = r.Recording.Manifest.WindowNs
	}
	if root := r.process[r.Root]; root != nil && root.endNs > 0 && recording.Plausible(root.endNs) {
		r.EndNs = root.endNs
	}
	wall := r.Recording.Manifest.Metrics[recording.MetricWall]
	if wall > 0 && wall <= recording.MaxSeconds {
		r.StartNs = r.EndNs - int64(wall*1e9)
	}
}

// nameProcesses gives each process its parent's name and finds those that are many and short-lived.
func (r *Run) nameProcesses() {
	lives := map[string][]int64{}
	for _, p := range r.process {
		if parent := r.process[p.ppid]; parent != nil && p.ppid != p.Pid {
			p.Parent = parent.Name
			if p.StartNs > 0 && p.endNs > p.StartNs {
				lives[p.Name] = append(lives[p.Name], p.endNs-p.StartNs)
			}
		}
	}
	longest := int64(shortLife * float64(r.EndNs-r.StartNs))
	for _, p := range r.process {
		many := lives[p.Name]
		if p.Pid == r.Root || p.Parent == "" || len(many) < shortProcesses {
			continue
		}
		slices.Sort(many)
		// One that lives on is none, though its children have its name until they run another
		// program.
		p.Short = many[len(many)/2] <= longest && p.StartNs > 0 && p.endNs-p.StartNs <= longest
	}
}
