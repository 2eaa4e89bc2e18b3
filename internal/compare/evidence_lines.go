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
	names     map[string]bool
	functions map[recording.Frame]bool
	threads   map[int32]bool
	words     map[int32]map[int32]bool // offset → threads
	written   bool
	hits      bool
	count     float64
}

// sharedLines merges the lines of all recordings of both sides, the most sampled first.
func sharedLines(a, b []*recording.Recording) []SharedLine {
	merged := map[string]*SharedLine{}
	for i, rec := range append(slices.Clone(a), b...) {
		for _, use := range usesOf(rec) {
			if len(use.threads) < 2 || !use.written {
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

// usesOf gathers the rows of one recording by line, in a fixed order.
func usesOf(rec *recording.Recording) []*lineUse {
	uses := map[lineKey]*lineUse{}
	var order []*lineUse
	for i := range rec.Lines {
		row := &rec.Lines[i]
		if !plausible(row.Count) {
			continue
		}
		use := uses[lineKey{row.Pid, row.Line}]
		if use == nil {
			use = &lineUse{names: map[string]bool{}, functions: map[recording.Frame]bool{}, threads: map[int32]bool{},
				words: map[int32]map[int32]bool{}}
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
			use.words[row.Offset] = map[int32]bool{}
		}
		use.words[row.Offset][row.Tid], use.threads[row.Tid] = true, true
		use.written = use.written || row.Write
		use.hits = use.hits || row.Hits > 0
		use.count += float64(row.Count)
	}
	return order
}

func (u *lineUse) shared() SharedLine {
	line := SharedLine{False: true, Threads: len(u.threads), Words: len(u.words), Confirmed: u.hits}
	for _, threads := range u.words {
		line.False = line.False && len(threads) == 1
	}
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
