package compare

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"culprit/recording"
)

// SharedLine is a cache line that several threads of one process touch and at least
// one of them writes, merged over the runs by its name or, without one, by the code that touches it.
type SharedLine struct {
	Name      string            // symbol or type and field, "" when unknown
	False     bool              // the threads touch different words of it
	Functions []recording.Frame // the innermost frames of the code that touches it, without repeats
	Threads   int               // most that touched it in one run
	Words     int               // distinct offsets, most in one run
	Confirmed bool              // by a debug register
	A, B      []float64         // samples per run whose operand it was
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
	functions map[recording.Frame]bool
	threads   map[int32]bool
	words     map[int32]map[int32]float64 // offset → thread → samples
	written   bool
	hits      bool
	count     float64
}

// sharedLines merges the lines of all recordings of both sides, the most sampled first.
func sharedLines(a, b []*recording.Recording) []SharedLine {
	merged := map[string]*SharedLine{}
	for i, rec := range append(slices.Clone(a), b...) {
		if len(rec.Lines) == 0 {
			continue // most recordings; samples are many
		}
		meet := together(rec)
		for _, use := range usesOf(rec) {
			if len(use.threads) < 2 || !use.written || use.oneUser() || !meet(use.pid, use.threads) {
				continue
			}
			line := use.shared()
			key := line.key()
			known := merged[key]
			if known == nil {
				line.A, line.B = make([]float64, len(a)), make([]float64, len(b))
				known = &line
				merged[key] = known
			}
			known.Threads, known.Words = max(known.Threads, line.Threads), max(known.Words, line.Words)
			known.Confirmed = known.Confirmed || line.Confirmed
			if i < len(a) {
				known.A[i] += use.count
			} else {
				known.B[i-len(a)] += use.count
			}
		}
	}
	list := make([]SharedLine, 0, len(merged))
	for _, line := range merged {
		list = append(list, *line)
	}
	sort.Slice(list, func(i, j int) bool {
		x, y := mean(list[i].A)+mean(list[i].B), mean(list[j].A)+mean(list[j].B)
		if x != y {
			return x > y
		}
		return list[i].key() < list[j].key()
	})
	return list
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
			use = &lineUse{pid: row.Pid, names: map[string]bool{}, functions: map[recording.Frame]bool{},
				threads: map[int32]bool{}, words: map[int32]map[int32]float64{}}
			uses[lineKey{row.Pid, row.Line}] = use
			order = append(order, use)
		}
		if row.Name != "" {
			use.names[row.Name] = true
		}
		if frames := rec.StackFrames(row.Stack); len(frames) > 0 {
			last := frames[len(frames)-1]
			use.functions[recording.Frame{Name: normalFrame(last).Name, Kind: last.Kind}] = true
		}
		if use.words[row.Offset] == nil {
			use.words[row.Offset] = map[int32]float64{}
		}
		use.words[row.Offset][row.Tid] += float64(row.Count)
		use.threads[row.Tid] = true
		use.written = use.written || row.Write
		use.hits = use.hits || row.Hits > 0
		use.count += float64(row.Count)
	}
	return order
}

func (u *lineUse) shared() SharedLine {
	line := SharedLine{False: u.apart(), Threads: len(u.threads), Words: len(u.words), Confirmed: u.hits}
	names := make([]string, 0, len(u.names))
	for name := range u.names {
		names = append(names, name)
	}
	sort.Strings(names)
	line.Name = strings.Join(names, ", ")
	for frame := range u.functions {
		line.Functions = append(line.Functions, frame)
	}
	sort.Slice(line.Functions, func(i, j int) bool { return line.Functions[i].Name < line.Functions[j].Name })
	return line
}

// What a run time that moves its tasks between threads (Go, virtual threads of Java) leaves of "a thread a word": one
// goroutine's word was seen with a second thread in 10 to 22 % of its samples, a word that two threads both write in
// 26 to 50 %.
const (
	movedAtMost  = 0.15 // such a part of the samples is not the word's usual thread, and nothing is shared but the line
	mixedAtMost  = 0.30 // up to here the words must at least differ in who uses them
	usersDiffers = 0.45 // by this part: half of the sum of differences between the threads' shares
)

// apart tells whether the threads use different words of the line.
func (u *lineUse) apart() bool {
	if len(u.words) < 2 {
		return false
	}
	var busiest, second map[int32]float64
	foreign := 0.0
	for _, threads := range u.words {
		usual := 0.0
		for _, count := range threads {
			usual = max(usual, count)
		}
		foreign += samplesOf(threads) - usual
		switch {
		case samplesOf(threads) > samplesOf(busiest):
			busiest, second = threads, busiest
		case samplesOf(threads) > samplesOf(second):
			second = threads
		}
	}
	differ := 0.0
	for tid := range u.threads {
		differ += math.Abs(busiest[tid]/samplesOf(busiest)-second[tid]/samplesOf(second)) / 2
	}
	mixed := foreign / u.count
	return mixed <= movedAtMost || mixed <= mixedAtMost && differ >= usersDiffers
}

func samplesOf(threads map[int32]float64) float64 {
	sum := 0.0
	for _, count := range threads {
		sum += count
	}
	return sum
}

func (l *SharedLine) key() string {
	if l.Name != "" {
		return fmt.Sprint(l.False, l.Name)
	}
	return fmt.Sprint(l.False, l.Functions)
}
