package compare

import (
	"fmt"
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
	words     users[int32]  // by thread
	tasks     users[uint64] // by task of Go, where it is known
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
				threads: map[int32]bool{}, words: users[int32]{}, tasks: users[uint64]{}}
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

func (l *SharedLine) key() string {
	if l.Name != "" {
		return fmt.Sprint(l.False, l.Name)
	}
	return fmt.Sprint(l.False, l.Functions)
}
