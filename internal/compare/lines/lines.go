// Package lines finds the cache lines that several threads share, of one process or of several, and
// at least one of them writes: what each core must fetch again after another has written.
//
// It refuses a line that one thread uses nearly alone, threads that never ran at the same time,
// memory that they have one after the other, the garbage collector's own reads, and memory that was
// mapped anew in between.
//
//	for _, line := range lines.Find(a, b, work.Scales(sides)) {
//		fmt.Println(line.Name, line.False, line.Functions[0].Name) // counters true worker
//	}
package lines

import (
	"maps"
	"slices"
	"strings"

	"culprit/internal/code"
	"culprit/internal/compare/names"
	"culprit/recording"
)

// Line is a cache line that several threads touch and at least one writes, merged over the runs by
// the code that touches it.
type Line struct {
	Name      string     // its words, as the run that was sampled most there calls them; "" when unknown
	False     bool       // the threads touch different words of it
	Functions []Function // the innermost functions of the code that touches it, by name
	Threads   int        // most that touched it in one run
	Words     int        // distinct offsets, most in one run
	Confirmed bool       // by debug registers: several threads, one of them writing
	Watched   bool       // by debug registers, with or without a hit
	Drawing   *Drawing   // of the run that was sampled most there
	Processes int        // most that touched it in one run
	Memory    string     // that processes share: the path of what they have mapped; "" of one process's own
	Lines     int        // that are shared alike, most in one run
	Monitor   bool       // it is a lock, of a Java object or one that is spun for: who shares it fights for it
	Languages []string   // of the code that touches it, as code.Language tells
	A, B      []float64  // samples per run whose operand it was
	Layout    Layout     // how its words lie in other runs
	// BesideA and BesideB are those of the samples whose word no two threads write: only what is
	// written beside it takes the line away. All of a line that is shared falsely, some of one that
	// is shared truly as well.
	BesideA, BesideB []float64
}

// Function touches a shared line, in the time that its samples with that operand stand for.
type Function struct {
	recording.Frame           // its name and kind alone
	A, B            []float64 // seconds per run
	// AtA and AtB are seconds per run at lines that threads share or have each for themselves, also
	// while no other one ran; nil where no lines of the second kind are known.
	AtA, AtB []float64
	// Calls tells that it is not the code at the line: most of its samples were taken right behind
	// the call of such a function.
	Calls bool
}

// use is what one recording shows of one line.
type use struct {
	pids      map[int32]bool
	memory    string // as recorded
	names     map[string]bool
	functions map[recording.Frame]float64 // samples
	fought    map[recording.Frame]float64 // of those, while others ran that touch the line
	behind    map[recording.Frame]float64 // of all, right behind the call of what touches it
	threads   map[int32]bool
	words     users[int32]  // by thread
	tasks     users[uint64] // by task of Go, where it is known
	written   bool
	hits      hits
	watched   bool
	count     float64
	monitor   float64 // samples of words that are a lock
	rows      []*recording.Line
	leaves    []recording.Frame // innermost functions of the rows; without a name where there is none
	nameless  map[recording.Frame]bool
}

const (
	// fewestStaying is how often a line must be sampled in a program that returns memory all the
	// time: what is mapped at an address later is other memory, which two threads do not share.
	// Such lines had two to four samples in a run of 24,000 mappings, lines that threads fight for
	// hundreds.
	fewestStaying = 5
	// oftenUnmapped is how many calls that return memory make such a program. Chosen: no verdict of
	// the corpus changes between 75 and 125.
	oftenUnmapped = 100
)

// unmapping is how often each process returns memory to the kernel.
func unmapping(rec *recording.Recording) map[int32]int64 {
	calls := map[int32]int64{}
	for i := range rec.Syscalls {
		switch call := &rec.Syscalls[i]; call.Name {
		case "munmap", "mremap", "madvise", "shmdt":
			if recording.Plausible(call.Count) {
				calls[call.Pid] += call.Count
			}
		}
	}
	return calls
}

// mostUnseen bounds for how many samples one stands whose operand was looked for. Chosen: no
// verdict of the corpus changes between 7.5 and 12.5.
const mostUnseen = 10

// secondsPerOperand is the CPU time that a sample stands for whose operand was looked for: it
// stands for those of user space, too, whose operand did not fit.
func secondsPerOperand(rec *recording.Recording) float64 {
	samples, user, valueNs := 0.0, 0.0, 0.0
	for i := range rec.Samples {
		sample := &rec.Samples[i]
		if sample.Signal != recording.SignalCPU || !sample.Target ||
			!recording.Plausible(sample.Count, sample.ValueNs) {
			continue
		}
		samples += float64(sample.Count)
		valueNs += float64(sample.ValueNs)
		if endsInUser(rec, sample.Stack) {
			user += float64(sample.Count)
		}
	}
	if samples == 0 {
		return 0
	}
	standsFor := 1.0
	if lost := lostOperands(rec); lost > 0 {
		standsFor = mostUnseen
		if kept := user - lost; kept*mostUnseen > user {
			standsFor = user / kept
		}
	}
	return valueNs / samples / 1e9 * standsFor
}

// lostOperands counts the samples of user space whose operand did not fit or was not looked for.
func lostOperands(rec *recording.Recording) (lost float64) {
	for _, loss := range rec.Manifest.Losses {
		of := loss.What == recording.LossOperands || loss.What == recording.LossOperandsOver
		if of && recording.Plausible(loss.Count) {
			lost += float64(loss.Count)
		}
	}
	return lost
}

func endsInUser(rec *recording.Recording, stack int32) bool {
	if stack == recording.NoStack || len(rec.Stacks[stack].Frames) == 0 {
		return false
	}
	frames := rec.Stacks[stack].Frames
	return rec.Frames[frames[len(frames)-1]].Kind != recording.KindKernel
}

// usesOf gathers the rows of one recording by line, in a fixed order, without what the garbage
// collector touches: its workers mark the very objects that the program uses.
func usesOf(rec *recording.Recording, collects collecting) (order []*use) {
	type key struct {
		pid    int32
		memory string
		line   uint64
	}
	uses := map[key]*use{}
	for i := range rec.Lines {
		row := &rec.Lines[i]
		if !recording.Plausible(row.Count, row.Hits) || collects(row.Tid, row.Stack) {
			continue
		}
		at := key{pid: row.Pid, line: row.Line}
		if row.Memory != "" { // one line, which lies elsewhere in each process
			at = key{memory: row.Memory, line: row.MemoryOffset}
		}
		if uses[at] == nil {
			uses[at] = &use{pids: map[int32]bool{}, memory: row.Memory, names: map[string]bool{},
				functions: map[recording.Frame]float64{}, fought: map[recording.Frame]float64{},
				behind: map[recording.Frame]float64{}, threads: map[int32]bool{}, words: users[int32]{}, tasks: users[uint64]{},
				hits: hits{threads: users[int32]{}, pids: map[int32]bool{}, tasks: users[uint64]{}, written: map[int32]bool{}}}
			order = append(order, uses[at])
		}
		use, count := uses[at], float64(row.Count)
		use.rows, use.pids[row.Pid] = append(use.rows, row), true
		if row.Name != "" {
			use.names[row.Name+row.Field] = true
		}
		leaf := leafOf(rec, row.Stack)
		if recording.IsLock(row.Name) || code.SpinsForLock(leaf.Name) {
			use.monitor += count
		}
		if use.leaves = append(use.leaves, leaf); leaf.Name != "" {
			use.functions[leaf] += count
			use.fought[leaf] += foughtFor(row)
			if row.Behind {
				use.behind[leaf] += count
			}
		}
		use.threads[row.Tid] = true
		if count > 0 { // else only a debug register saw it
			use.words.add(row.Offset, row.Tid, count)
		}
		if count > 0 && row.Task != 0 {
			use.tasks.add(row.Offset, row.Task, count)
		}
		use.written = use.written || row.Write
		use.hits.add(row)
		use.watched = use.watched || row.WatchedNs > 0
		use.count += count
	}
	return order
}

// foughtFor is how many samples of a row may be of a thread that waits for the line: another one
// ran.
func foughtFor(row *recording.Line) float64 {
	return float64(row.Count - min(max(row.Alone, 0), row.Count))
}

// leafOf is the innermost function of a stack, its name and kind alone.
func leafOf(rec *recording.Recording, stack int32) recording.Frame {
	frames := rec.StackFrames(stack)
	if len(frames) == 0 {
		return recording.Frame{}
	}
	last := frames[len(frames)-1]
	return recording.Frame{Name: names.Normal(last).Name, Kind: last.Kind}
}

// isMonitor reports whether most samples are of a word that is a lock. Locks that each thread has
// for itself are words as others.
func (u *use) isMonitor() bool { return u.monitor > u.count/2 && !u.apart() }

// mostNames bounds the words of a line that are named one by one.
const mostNames = 4

// name is what the words of the line are called.
func (u *use) name() string {
	list := slices.Sorted(maps.Keys(u.names))
	if len(list) > mostNames {
		list = append(list[:mostNames], "…")
	}
	return strings.Join(list, ", ")
}

func byFrame(x, y recording.Frame) int { return names.KeyOf(x).Compare(names.KeyOf(y)) }

// collecting tells the rows of the garbage collector. Go's workers move between threads that also
// run the program: there the stack alone tells.
type collecting func(tid, stack int32) bool

func collectors(rec *recording.Recording) collecting {
	threads := map[int32]bool{}
	for i := range rec.Threads {
		if code.IsCollector(rec.Threads[i].Comm) {
			threads[rec.Threads[i].Tid] = true
		}
	}
	known := map[int32]bool{}
	return func(tid, stack int32) bool {
		collects, seen := known[stack]
		if !seen {
			collects = slices.ContainsFunc(rec.StackFrames(stack), func(frame recording.Frame) bool {
				return frame.Kind != recording.KindKernel && code.Collects(frame.Name)
			})
			known[stack] = collects
		}
		return collects || threads[tid]
	}
}
