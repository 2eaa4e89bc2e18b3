package compare

import (
	"math"
	"sort"
	"strings"

	"culprit/internal/code"
)

// Difference is one item that differs: a function, a wait, a system call, a process.
type Difference struct {
	Signal  string // "cpu", "wait", "runqueue", "syscalls" or "processes"
	Name    string
	Where   string  // the program's own function through which most of its CPU time came, "" for itself
	A, B    float64 // mean per run
	Unit    string
	Change  Interval
	Share   Interval // of the metric's change; zero for counts, whose unit is not the metric's
	Decided bool     // at a false discovery rate of 1 − confidence over all items
}

// Differences ranks every item of a result by the size of its change: seconds
// first, then counts. CPU items are a function's own time; on the wall metric
// only what lay on the critical path. At most limit items of each signal.
func Differences(result *Result, confidence float64, limit int) []Difference {
	items := newItems()
	for i := range result.Paths {
		path := &result.Paths[i]
		signal, name := itemOf(path)
		items.add(signal, name, result.Unit, path.A, path.B).through(path)
	}
	for i := range result.Counts {
		count := &result.Counts[i]
		if count.Key != "" && count.Name != CountProcesses || count.Key == "" && count.Name == CountProcesses {
			continue
		}
		if call, found := strings.CutSuffix(strings.TrimPrefix(count.Name, "syscall."), ".count"); found {
			items.add("syscalls", call, count.Unit, count.A, count.B)
		}
		if count.Name == CountProcesses {
			items.add("processes", count.Key, count.Unit, count.A, count.B)
		}
	}
	return items.rank(result, confidence, limit)
}

// itemOf names the item that a path adds to.
func itemOf(path *Path) (signal, name string) {
	leaf := "[no stack]"
	if n := len(path.Frames); n > 0 {
		leaf = path.Frames[n-1].Name
	}
	switch path.Kind {
	case Runnable:
		if path.WakerComm == "" {
			return "runqueue", "nobody ran"
		}
		return "runqueue", path.WakerComm + " ran"
	case Blocked:
		place := leaf
		if at := code.Innermost(path.Frames); at >= 0 {
			place = path.Frames[at].Name
		}
		if path.Syscall != "" {
			place += ";" + path.Syscall
		}
		return "wait", place
	}
	return "cpu", leaf
}

type itemKey struct{ signal, name string }

type items struct {
	index map[itemKey]int
	list  []Difference
	where []map[string]float64 // of each, change by the program's own code
	a, b  [][]float64
}

func newItems() *items { return &items{index: map[itemKey]int{}} }

func (s *items) add(signal, name, unit string, a, b []float64) itemWhere {
	key := itemKey{signal, name}
	at, known := s.index[key]
	if !known {
		at = len(s.list)
		s.index[key] = at
		s.list = append(s.list, Difference{Signal: signal, Name: name, Unit: unit})
		s.where = append(s.where, map[string]float64{})
		s.a, s.b = append(s.a, make([]float64, len(a))), append(s.b, make([]float64, len(b)))
	}
	for i := range a {
		s.a[at][i] += a[i]
	}
	for i := range b {
		s.b[at][i] += b[i]
	}
	return s.where[at]
}

// itemWhere is how much an item changed through each function of the program's own.
type itemWhere map[string]float64

// through notes the innermost function of the program's own that CPU time came through: below an interpreter or a run
// time the name of the item alone says nothing of the program.
func (w itemWhere) through(path *Path) {
	if path.Kind != Running {
		return
	}
	if at := code.Innermost(path.Frames); at >= 0 {
		name := path.Frames[at].Name
		if code.IsEntry(path.Frames[at]) {
			name = "" // everything is below it
		}
		w[name] += mean(path.B) - mean(path.A)
	}
}

func (s *items) rank(result *Result, confidence float64, limit int) []Difference {
	decided := decide(s.a, s.b, confidence)
	for i := range s.list {
		item := &s.list[i]
		item.A, item.B = mean(s.a[i]), mean(s.b[i])
		item.Change = Change(s.a[i], s.b[i], confidence)
		item.Decided, item.Where = decided[i], mostChanged(s.where[i], item.Name)
		if item.Unit == result.Unit {
			item.Share, _ = Share(s.a[i], s.b[i], result.A, result.B, confidence)
		}
	}
	sort.SliceStable(s.list, func(i, j int) bool {
		x, y := &s.list[i], &s.list[j]
		if seconds := x.Unit == result.Unit; seconds != (y.Unit == result.Unit) {
			return seconds
		}
		if math.Abs(x.Change.Value) != math.Abs(y.Change.Value) {
			return math.Abs(x.Change.Value) > math.Abs(y.Change.Value)
		}
		return x.Name < y.Name
	})
	kept, of := make([]Difference, 0, len(s.list)), map[string]int{}
	for _, item := range s.list {
		if of[item.Signal]++; of[item.Signal] <= limit {
			kept = append(kept, item)
		}
	}
	return kept
}
