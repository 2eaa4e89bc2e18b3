// Package units says what the amounts of recordings are divided by: the unit of work, such as a run
// or a request, without which ten requests and a thousand cannot be compared.
//
// It refuses a unit that a recording has none of, and one that it does not know.
//
//	work, err := units.Choose(units.PerAuto, a, b) // Name "run", A [1 1], B [1 1]
//	work.Unit().Amount(2.5)                        // seconds per run
package units

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"culprit/internal/compare/perrun"
	"culprit/internal/stat"
	"culprit/recording"
)

// Work is what the time of both sides is divided by.
type Work struct {
	Name string `json:"name"` // "run", "second", "CPU second", "request", "call of accept4"
	Why  string `json:"why"`  // why this one
	// A and B are the units of work in each recording.
	A []float64 `json:"a"`
	B []float64 `json:"b"`
}

// The units of work that can be asked for, beside request=N.
const (
	PerAuto      = "auto"
	PerRun       = "run"
	PerSecond    = "second"
	PerCPUSecond = "cpu-second"
	PerRequest   = "request"
)

// cpuSecond is the name of the unit that compares parts of a profile.
const cpuSecond = "CPU second"

// ByParts tells the unit that makes the CPU time one on both sides: only its parts can differ.
func (w *Work) ByParts() bool { return w != nil && w.Name == cpuSecond }

// OfTime tells the units whose number of requests a recording does not say.
func (w *Work) OfTime() bool { return w.Name == PerSecond || w.Name == cpuSecond }

// Choose returns what the time of both sides is to be divided by.
//
//	auto          run when every recording is Whole, second when every one has a window, else (and
//	              for imports, which do not say what they are of) cpu-second
//	run           one recording is one unit
//	second        of the window
//	cpu-second    of the target's CPU time: parts of the profile, for sides whose load differs
//	request       of those that each recording counted; auto where all did
//	request=N     every recording served N requests; request=NA,NB: those of A and those of B
//	request=NAME  as many as the metric or the system call NAME counted in each recording
func Choose(asked string, a, b []*recording.Recording) (Work, error) {
	name, amount, found := strings.Cut(asked, "=")
	switch {
	case name == PerRequest && found && amount != "":
		return requests(amount, a, b)
	case found:
		return Work{}, fmt.Errorf("unit of work %q: only request takes a number, such as request=10000",
			asked)
	case asked == PerRun:
		return count(PerRun, "as asked", a, b, one)
	case asked == PerSecond:
		return count(PerSecond, "as asked", a, b, windowSeconds)
	case asked == PerRequest:
		return count(PerRequest, "as asked", a, b, Served)
	case asked == PerCPUSecond:
		return count(cpuSecond, "as asked", a, b, cpuSeconds)
	case asked == PerAuto || asked == "":
		return shared(a, b)
	}
	return Work{}, fmt.Errorf("unit of work %q: give auto, run, second, cpu-second, request or request=N",
		asked)
}

// shared is the unit that every recording of both sides has.
func shared(a, b []*recording.Recording) (Work, error) {
	commands, windows, imports, parts := true, true, false, false
	for _, rec := range slices.Concat(a, b) {
		imported := rec.Imported() != ""
		imports = imports || imported
		// A log of strace is of a whole command, and has no CPU time to divide by.
		parts = parts || imported && (rec.Manifest.Target.Kind != "command" || cpuSeconds(rec) > 0)
		commands = commands && Whole(rec)
		windows = windows && windowSeconds(rec) > 0
	}
	alone := len(b) == 0 // parts of it need nothing to be divided by, and the whole is told as it is
	switch {
	case !commands && all(a, b, Served):
		return count(PerRequest, "the requests were counted", a, b, Served)
	case all(a, b, usualSeconds):
		return count(PerSecond, "of the usual traffic, by the CPU time", a, b, usualSeconds)
	case parts && !alone:
		return count(cpuSecond, "an import does not say how much work it saw; --per run or "+
			"request=N do", a, b, cpuSeconds)
	case commands:
		return count(PerRun, "each recording is a whole command", a, b, one)
	case windows && !(alone && imports):
		return count(PerSecond, "the recordings are windows of what runs on", a, b, windowSeconds)
	case alone:
		return count("recording", "some recordings do not say how long they are", a, b, one)
	}
	return count(cpuSecond, "some recordings do not say how long they are", a, b, cpuSeconds)
}

// Whole reports whether a recording is of a command from its start to its end: not what -d cut
// short, nor what is left of a killed one. What does not tell how its first process ended is
// believed.
func Whole(rec *recording.Recording) bool {
	if rec.Manifest.Target.Kind != "command" {
		return false
	}
	wall := rec.Manifest.Metrics[recording.MetricWall]
	if rec.Imported() != "" || wall > 0 && wall < windowSeconds(rec) {
		return true // a log ends with its command; a trial waited for it, and then closed the window
	}
	known := false
	for i := range rec.Processes {
		if process := &rec.Processes[i]; process.Pid == int32(rec.Manifest.Target.Pid) {
			if process.EndNs > 0 {
				return true
			}
			known = true
		}
	}
	return !known
}

func one(*recording.Recording) float64 { return 1 }

func usualSeconds(rec *recording.Recording) float64 {
	return rec.Manifest.Metrics[recording.MetricUsualSeconds]
}

// all reports whether every recording has an amount of work.
func all(a, b []*recording.Recording, of func(*recording.Recording) float64) bool {
	return !slices.ContainsFunc(slices.Concat(a, b), func(rec *recording.Recording) bool { return !(of(rec) > 0) })
}

func windowSeconds(rec *recording.Recording) float64 {
	if !recording.Plausible(rec.Manifest.WindowNs) {
		return 0
	}
	return float64(rec.Manifest.WindowNs) / 1e9
}

func cpuSeconds(rec *recording.Recording) float64 {
	return rec.Manifest.Metrics[recording.MetricCPU]
}

// requests reads N, NA,NB or the NAME of what each recording counted itself.
func requests(amount string, a, b []*recording.Recording) (Work, error) {
	parts := strings.Split(amount, ",")
	numbers := make([]float64, len(parts))
	for i, part := range parts {
		number, err := strconv.ParseFloat(part, 64)
		if err != nil && len(parts) == 1 {
			return counted(amount, a, b)
		}
		if err != nil || !(number > 0) || math.IsInf(number, 0) || len(parts) > 2 {
			return Work{}, fmt.Errorf("requests %q: give one positive number, or one of A and one of B: "+
				"request=1000,1200", amount)
		}
		numbers[i] = number
	}
	return Work{Name: PerRequest, Why: "as asked", A: slices.Repeat(numbers[:1], len(a)),
		B: slices.Repeat(numbers[len(numbers)-1:], len(b))}, nil
}

// counted takes the units from what each recording counted itself: a metric, else a system call.
func counted(name string, a, b []*recording.Recording) (Work, error) {
	title := "call of " + name
	for _, rec := range slices.Concat(a, b) {
		if _, known := rec.Manifest.Metrics[name]; known {
			title = name
		}
	}
	return count(title, "as asked", a, b, func(rec *recording.Recording) float64 {
		if value, known := rec.Manifest.Metrics[name]; known {
			return value
		}
		return float64(Calls(rec, name))
	})
}

// Calls is how often a recording's target made a system call.
func Calls(rec *recording.Recording, name string) (sum int64) {
	for i := range rec.Syscalls {
		if call := &rec.Syscalls[i]; call.Name == name && recording.Plausible(call.Count) {
			sum += call.Count
		}
	}
	return sum
}

// count takes the units of each recording from a function.
func count(name, why string, a, b []*recording.Recording,
	of func(*recording.Recording) float64) (Work, error) {
	work, sides := Work{Name: name, Why: why}, perrun.Sides{A: len(a), B: len(b)}
	for at, rec := range slices.Concat(a, b) {
		amount := of(rec)
		if !(amount > 0) || math.IsInf(amount, 0) {
			return Work{}, fmt.Errorf("%s has no %s to divide by: choose another unit with --per",
				sides.Name(at), name)
		}
		if at < len(a) {
			work.A = append(work.A, amount)
		} else {
			work.B = append(work.B, amount)
		}
	}
	return work, nil
}

// Typical is how many units a recording of A has. All reasoning is done in amounts of a typical
// recording of A, so that "seldom" and "often" mean the same whatever the unit.
func (w *Work) Typical() float64 {
	if w == nil || stat.Average(w.A) <= 0 {
		return 1
	}
	return stat.Average(w.A)
}

// Scales are what the amounts of each recording are multiplied with to be those of a typical
// recording of A; nil work leaves them as they are.
func (w *Work) Scales(sides perrun.Sides) []float64 {
	scales := slices.Repeat([]float64{1}, sides.A+sides.B)
	if w != nil {
		for at, units := range slices.Concat(w.A, w.B) {
			scales[at] = w.Typical() / units
		}
	}
	return scales
}

// PerRecording ends the units of amounts of one recording, "calls/run". All reasoning is done in
// them; Unit writes what is told.
const PerRecording = "/run"

// Unit is what amounts are told per: the one place where they become amounts per unit of work.
type Unit struct {
	Name string  // "run", "second", "request": what stands after "per"
	per  float64 // units in a typical recording of A
}

// Unit returns what amounts are told per; without any work a recording is a run.
func (w *Work) Unit() Unit {
	if w == nil {
		return Unit{Name: PerRun, per: 1}
	}
	return Unit{Name: w.Name, per: w.Typical()}
}

// Amount is an amount per unit of work.
func (u Unit) Amount(value float64) float64 { return value / u.per }

// Interval is an interval per unit of work.
func (u Unit) Interval(i stat.Interval) stat.Interval { return i.Over(u.per) }

// Of writes a unit of amounts: "calls/run" is "calls/second" here. counted is false where it is not
// an amount of a recording, such as the time of one call: such a value must not be divided.
func (u Unit) Of(unit string) (word string, counted bool) {
	head, counted := strings.CutSuffix(unit, PerRecording)
	if !counted {
		return unit, false
	}
	return head + "/" + u.Name, true
}
