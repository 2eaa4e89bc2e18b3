package format

import (
	"math/bits"
	"strings"

	"culprit/recording"
)

// signalOf tells what an event of perf counts, and whether its periods are nanoseconds.
func signalOf(event string) (signal string, isTime bool) {
	base := event
	if pmu, rest, ok := strings.Cut(event, "/"); ok && strings.HasPrefix(pmu, "cpu") { // cpu_core/cycles/
		base = rest
	}
	base, _, _ = strings.Cut(base, ":") // modifiers: cycles:ppp
	base = strings.TrimRight(base, "/")
	switch base {
	case "", "cycles", "cpu-cycles", "ref-cycles", "bus-cycles", "cpu_clk_unhalted.thread":
		return recording.SignalCPU, false
	case "cpu-clock", "task-clock":
		return recording.SignalCPU, true
	case "page-faults", "faults", "minor-faults":
		return recording.SignalFault, false
	case "major-faults":
		return recording.SignalMajor, false
	}
	return event, false
}

// defaultPeriodNs is what a sample stands for when nothing tells: perf's users sample at 99 Hz.
const defaultPeriodNs = 1e9 / 99

// The time of one cycle on any CPU that runs Linux: 10 GHz to 200 MHz.
const (
	fastestCycleNs = 0.1
	slowestCycleNs = 5
)

// worth finds out what a sample of CPU time stands for. The text tells no
// frequency, but a thread that stays on its CPU is sampled once a period: the
// median distance of two samples of one thread on one CPU that follow each other.
type worth struct {
	last     map[int32]lastSample // by CPU
	gaps     histogram            // of distances, ns
	perCycle histogram            // of distances over periods, 1/1024 ns
	isTime   bool                 // periods are nanoseconds
	hz       int                  // as the header says; 0: it does not
}

type lastSample struct {
	tid    int32
	timeNs int64
}

const enoughGaps = 5

func (w *worth) add(sample perfSample) {
	if sample.timeNs < 0 || len(w.last) > 1<<16 {
		return
	}
	last, known := w.last[sample.cpu]
	w.last[sample.cpu] = lastSample{sample.tid, sample.timeNs}
	if !known || last.tid != sample.tid || sample.timeNs <= last.timeNs {
		return
	}
	gap := sample.timeNs - last.timeNs
	w.gaps.add(gap)
	if sample.period > 0 {
		w.perCycle.add(gap * 1024 / sample.period)
	}
}

// settled is how a row's count and weight become nanoseconds.
type settled struct {
	perWeight, perCount float64
	periodNs            float64
	how                 string // for people; "" when it is exact
}

func (w *worth) settle(weighted bool) settled {
	if w.isTime && weighted {
		return settled{perWeight: 1, periodNs: w.period()}
	}
	cycle := w.perCycle.median() / 1024
	switch {
	case weighted && w.perCycle.total >= enoughGaps && cycle >= fastestCycleNs && cycle <= slowestCycleNs:
		return settled{perWeight: cycle, periodNs: w.period(),
			how: "CPU time is taken from cycles at the median time between samples"}
	case w.hz > 0:
		return settled{perCount: 1e9 / float64(w.hz), periodNs: 1e9 / float64(w.hz)}
	case w.gaps.total >= enoughGaps:
		return settled{perCount: w.gaps.median(), periodNs: w.gaps.median(),
			how: "CPU time is samples times the median time between two of them"}
	}
	return settled{perCount: defaultPeriodNs, periodNs: defaultPeriodNs,
		how: "the text tells no sampling rate: each sample is taken as 1/99 s, so shares are right and seconds are not"}
}

func (w *worth) period() float64 {
	switch {
	case w.hz > 0:
		return 1e9 / float64(w.hz)
	case w.gaps.total > 0:
		return w.gaps.median()
	}
	return defaultPeriodNs
}

func (s settled) ns(r row) int64 {
	return int64(min(maxAmount, s.perWeight*float64(r.weight)+s.perCount*float64(r.count)))
}

// histogram counts numbers in sixteen steps an octave and keeps each step's sum.
type histogram struct {
	counts [64 * 16]int64
	sums   [64 * 16]float64
	total  int64
}

func (h *histogram) add(value int64) {
	if value <= 0 {
		return
	}
	octave := bits.Len64(uint64(value)) - 1
	step := uint64(value) << (63 - octave) >> 59 & 15
	at := octave*16 + int(step)
	h.counts[at]++
	h.sums[at] += float64(value)
	h.total++
}

// median is the mean of the step that holds the middle, 0 of nothing.
func (h *histogram) median() float64 {
	var before int64
	for at, count := range h.counts {
		if before += count; before*2 >= h.total && count > 0 {
			return h.sums[at] / float64(count)
		}
	}
	return 0
}
