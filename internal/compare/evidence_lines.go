package compare

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"culprit/recording"
)

// SharedLine is a cache line that several threads of one process touch and at least
// one of them writes, merged over the runs by its name or, without one, by the code that touches it.
type SharedLine struct {
	Name      string         // symbol or type and field, "" when unknown
	False     bool           // the threads touch different words of it
	Functions []LineFunction // the innermost functions of the code that touches it, by name, without repeats
	Threads   int            // most that touched it in one run
	Words     int            // distinct offsets, most in one run
	Confirmed bool           // by a debug register
	A, B      []float64      // samples per run whose operand it was
}

// LineFunction is a function that touches a shared line, and the time that its samples with that operand stand for.
type LineFunction struct {
	recording.Frame           // its name and kind alone
	A, B            []float64 // seconds per run
}

// lineKey is one line of one process in one recording.
type lineKey struct {
	pid  int32
	line uint64
}

// lineUse is what one recording shows of one line.
type lineUse struct {
	pid       int32
	names     map[string]bool
	functions map[recording.Frame]float64 // samples
	threads   map[int32]bool
	words     users[int32]  // by thread
	tasks     users[uint64] // by task of Go, where it is known
	written   bool
	hits      bool
	count     float64
}

// sharedLines merges the lines of all recordings of both sides, the most sampled first.
func sharedLines(a, b []*recording.Recording, work *Work) []SharedLine {
	merged := map[string]*SharedLine{}
	for i, rec := range append(slices.Clone(a), b...) {
		if len(rec.Lines) == 0 {
			continue // most recordings; samples are many
		}
		side, at := A, i
		if i >= len(a) {
			side, at = B, i-len(a)
		}
		meet, seconds, unmaps := together(rec), secondsPerOperand(rec)*work.scale(side, at), unmapping(rec)
		for _, use := range usesOf(rec) {
			if len(use.threads) < 2 || !use.written || use.oneUser() || !meet(use.pid, use.threads) ||
				use.count < fewestStaying && unmaps[use.pid] {
				continue
			}
			key := use.key()
			known := merged[key]
			if known == nil {
				known = &SharedLine{Name: use.name(), False: use.apart(), A: make([]float64, len(a)), B: make([]float64, len(b))}
				merged[key] = known
			}
			known.add(use, side, at, seconds)
		}
	}
	return sortedLines(merged)
}

const (
	// fewestStaying is how often a line must be sampled in a program that returns memory all the time: what is mapped at
	// an address later is other memory, and two threads that had the address one after the other share nothing. Such
	// lines had two to four samples in a run of 24,000 mappings, lines that threads fight for hundreds.
	fewestStaying = 5
	// oftenUnmapped is how many calls that return memory make such a program.
	oftenUnmapped = 100
)

// unmapping are the processes that return memory to the kernel all the time.
func unmapping(rec *recording.Recording) map[int32]bool {
	calls := map[int32]int64{}
	for i := range rec.Syscalls {
		switch call := &rec.Syscalls[i]; call.Name {
		case "munmap", "mremap", "madvise", "shmdt":
			if plausible(call.Count) {
				calls[call.Pid] += call.Count
			}
		}
	}
	often := map[int32]bool{}
	for pid, count := range calls {
		often[pid] = count >= oftenUnmapped
	}
	return often
}

// sortedLines lists the most sampled first.
func sortedLines(merged map[string]*SharedLine) []SharedLine {
	keys := make([]string, 0, len(merged))
	for key := range merged {
		keys = append(keys, key)
	}
	samples := func(key string) float64 { return mean(merged[key].A) + mean(merged[key].B) }
	sort.Slice(keys, func(i, j int) bool {
		if x, y := samples(keys[i]), samples(keys[j]); x != y {
			return x > y
		}
		return keys[i] < keys[j]
	})
	list := make([]SharedLine, 0, len(keys))
	for _, key := range keys {
		line := merged[key]
		slices.SortFunc(line.Functions, func(x, y LineFunction) int { return byFrame(x.Frame, y.Frame) })
		list = append(list, *line)
	}
	return list
}

// add takes in what one recording shows of a line; each of its samples stands for so many seconds.
func (l *SharedLine) add(use *lineUse, side Side, at int, seconds float64) {
	l.Threads, l.Words = max(l.Threads, len(use.threads)), max(l.Words, len(use.words))
	l.Confirmed = l.Confirmed || use.hits
	of := func(a, b []float64) *float64 {
		if side == A {
			return &a[at]
		}
		return &b[at]
	}
	*of(l.A, l.B) += use.count
	for frame, samples := range use.functions {
		known := slices.IndexFunc(l.Functions, func(f LineFunction) bool { return f.Frame == frame })
		if known < 0 {
			known = len(l.Functions)
			l.Functions = append(l.Functions,
				LineFunction{Frame: frame, A: make([]float64, len(l.A)), B: make([]float64, len(l.B))})
		}
		*of(l.Functions[known].A, l.Functions[known].B) += samples * seconds
	}
}

// mostUnseen bounds what is made of samples whose operand was lost: one that was looked for stands for at most so many.
const mostUnseen = 10

// secondsPerOperand is the CPU time that a sample stands for whose operand was looked for: those of user space whose
// operand did not fit are shared out among the others.
func secondsPerOperand(rec *recording.Recording) float64 {
	samples, user, valueNs := 0.0, 0.0, 0.0
	for i := range rec.Samples {
		sample := &rec.Samples[i]
		if sample.Signal != recording.SignalCPU || !sample.Target || !plausible(sample.Count) || !plausible(sample.ValueNs) {
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

// lostOperands counts the samples of user space whose operand did not fit or was not looked for: the losses of
// probe/oncpu that speak of one.
func lostOperands(rec *recording.Recording) (lost float64) {
	for _, loss := range rec.Manifest.Losses {
		if strings.HasPrefix(loss.What, "oncpu: samples") && strings.Contains(loss.What, "operand") && plausible(loss.Count) {
			lost += float64(loss.Count)
		}
	}
	return lost
}

func endsInUser(rec *recording.Recording, stack int32) bool {
	if stack < 0 || int(stack) >= len(rec.Stacks) || len(rec.Stacks[stack].Frames) == 0 {
		return false
	}
	frames := rec.Stacks[stack].Frames
	last := frames[len(frames)-1]
	return last >= 0 && int(last) < len(rec.Frames) && rec.Frames[last].Kind != recording.KindKernel
}

// usesOf gathers the rows of one recording by line, in a fixed order. What the garbage collector touches is left out:
// its workers mark the very objects that the program uses, and a line shared with them alone is the collector's doing.
func usesOf(rec *recording.Recording) []*lineUse {
	uses := map[lineKey]*lineUse{}
	var order []*lineUse
	collects := collectors(rec)
	for i := range rec.Lines {
		row := &rec.Lines[i]
		if !plausible(row.Count) || collects(row.Tid, row.Stack) {
			continue
		}
		use := uses[lineKey{row.Pid, row.Line}]
		if use == nil {
			use = &lineUse{pid: row.Pid, names: map[string]bool{}, functions: map[recording.Frame]float64{},
				threads: map[int32]bool{}, words: users[int32]{}, tasks: users[uint64]{}}
			uses[lineKey{row.Pid, row.Line}] = use
			order = append(order, use)
		}
		if row.Name != "" {
			use.names[row.Name] = true
		}
		if frames := rec.StackFrames(row.Stack); len(frames) > 0 {
			last := frames[len(frames)-1]
			use.functions[recording.Frame{Name: normalFrame(last).Name, Kind: last.Kind}] += float64(row.Count)
		}
		use.words.add(row.Offset, row.Tid, float64(row.Count))
		if row.Task != 0 {
			use.tasks.add(row.Offset, row.Task, float64(row.Count))
		}
		use.threads[row.Tid] = true
		use.written = use.written || row.Write
		use.hits = use.hits || row.Hits > 0
		use.count += float64(row.Count)
	}
	return order
}

// name is what the line is called, by all that its rows say.
func (u *lineUse) name() string {
	names := make([]string, 0, len(u.names))
	for name := range u.names {
		names = append(names, name)
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}

// key is the same for one line in all recordings: its name or, without one, the code that touches it.
func (u *lineUse) key() string {
	if name := u.name(); name != "" {
		return fmt.Sprint(u.apart(), name)
	}
	functions := make([]recording.Frame, 0, len(u.functions))
	for frame := range u.functions {
		functions = append(functions, frame)
	}
	slices.SortFunc(functions, byFrame)
	return fmt.Sprint(u.apart(), functions)
}

// byFrame orders functions by all that tells them apart.
func byFrame(x, y recording.Frame) int {
	return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Module, y.Module),
		cmp.Compare(x.BuildID, y.BuildID), cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line))
}
