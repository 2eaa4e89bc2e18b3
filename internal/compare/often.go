package compare

import "strings"

// Calls separate "more often" from "dearer" where something was counted as well as timed. The two parts add up to
// the change: each is taken at the mean of the other over both sides (Shapley's division for two factors).
type Calls struct {
	A      float64  `json:"a"` // calls per unit of work
	B      float64  `json:"b"`
	CostA  float64  `json:"cost_a"` // seconds per call
	CostB  float64  `json:"cost_b"`
	Often  Interval `json:"often"`  // change because of the number of calls, in seconds per unit of work
	Dearer Interval `json:"dearer"` // change because of the cost of each
}

// SplitCalls divides a change of seconds by the counts of the same recordings. All vectors hold one value for each
// recording. Nil where neither side counted anything. Where one side never called, all of the change is "often".
func SplitCalls(secondsA, secondsB, countA, countB []float64, confidence float64) *Calls {
	c := &Calls{A: mean(countA), B: mean(countB)}
	if c.A <= 0 && c.B <= 0 {
		return nil
	}
	change := Change(secondsA, secondsB, confidence)
	if c.A <= 0 || c.B <= 0 {
		c.Often = change
		if c.A > 0 {
			c.CostA = mean(secondsA) / c.A
		}
		if c.B > 0 {
			c.CostB = mean(secondsB) / c.B
		}
		return c
	}
	c.CostA, c.CostB = mean(secondsA)/c.A, mean(secondsB)/c.B
	cost, count := (c.CostA+c.CostB)/2, (c.A+c.B)/2
	counted := Change(countA, countB, confidence)
	c.Often = Interval{Value: counted.Value * cost, Low: counted.Low * cost, High: counted.High * cost}
	dear := Change(quotients(secondsA, countA, c.CostA), quotients(secondsB, countB, c.CostB), confidence)
	half := (dear.High - dear.Low) / 2 * count
	value := change.Value - c.Often.Value
	c.Dearer = Interval{Value: value, Low: value - half, High: value + half}
	return c
}

// quotients are the costs of a call in each recording; where one counted none, the side's mean.
func quotients(seconds, counts []float64, otherwise float64) []float64 {
	list := make([]float64, len(seconds))
	for i := range seconds {
		list[i] = otherwise
		if counts[i] > 0 {
			list[i] = seconds[i] / counts[i]
		}
	}
	return list
}

// split gives the items of system calls what their counts say.
func (r *ranker) split(items []Ranked) {
	counts := map[string]*Count{}
	for i := range r.result.Counts {
		if count := &r.result.Counts[i]; count.Key == "" && !r.uncounted(count) {
			counts[count.Name] = count
		}
	}
	per := r.work.typical()
	for i := range items {
		item, row := &items[i], &r.rows[i]
		name := item.Name
		if item.Signal == SignalWait {
			name = name[strings.LastIndexByte(name, ';')+1:]
		}
		count := counts["syscall."+name+".count"]
		if item.Signal != SignalCall && item.Signal != SignalWait || count == nil {
			continue
		}
		if item.Calls = SplitCalls(row.a, row.b, count.A, count.B, r.confidence); item.Calls != nil {
			item.Calls.divide(per)
		}
	}
}

// always are the families of counts that every program has some of: a side without any did not count them.
var always = []string{"syscall.", "switches."}

// uncounted tells a count that one side has no probe for, so that its zero is none: an import, a part of a recording.
func (r *ranker) uncounted(count *Count) bool {
	for _, family := range always {
		if !strings.HasPrefix(count.Name, family) {
			continue
		}
		if r.families == nil {
			r.families = map[string]sides{}
			for i := range r.result.Counts {
				one := &r.result.Counts[i]
				name, _, _ := strings.Cut(one.Name, ".")
				sum := r.families[name+"."]
				sum.a, sum.b = sum.a+mean(one.A), sum.b+mean(one.B)
				r.families[name+"."] = sum
			}
		}
		sum := r.families[family]
		return sum.a == 0 || sum.b == 0
	}
	return false
}

// divide turns amounts per typical recording into amounts per unit of work.
func (c *Calls) divide(per float64) {
	c.A, c.B = c.A/per, c.B/per
	for _, part := range []*Interval{&c.Often, &c.Dearer} {
		part.Value, part.Low, part.High = part.Value/per, part.Low/per, part.High/per
	}
}

// besides tells the counts that stand beside a ranking: of the whole tree, but of processes by name.
func besides(count *Count) bool {
	switch {
	case count.Name == CountProcesses:
		return count.Key != ""
	case count.Key != "" || count.Name == CountTickInterval || strings.HasSuffix(count.Unit, "s/run") &&
		strings.HasPrefix(count.Unit, "s/"):
		return false
	case strings.HasPrefix(count.Name, "metric."):
		return false // what a program said of itself: not known to be an amount
	}
	return mean(count.A) > 0 || mean(count.B) > 0
}

// countName writes a count's name for a reader.
func countName(count *Count) string {
	if call, found := strings.CutPrefix(count.Name, "syscall."); found {
		call, what, _ := strings.Cut(call, ".")
		switch what {
		case "count":
			return call + " calls"
		case "errors":
			return call + " calls that failed"
		case "bytes":
			return call + " bytes"
		}
		return call + " " + what
	}
	switch count.Name {
	case CountProcesses:
		return "processes " + count.Key
	case "switches.voluntary":
		return "voluntary context switches"
	case "switches.involuntary":
		return "involuntary context switches"
	case CountTimerWakeups:
		return "wake-ups by timers"
	case CountTicks:
		return "ticks at a fixed rate"
	}
	return strings.ReplaceAll(count.Name, ".", " ")
}
