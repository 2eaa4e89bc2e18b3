package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"

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
	perRequest   = "request"
)

// cpuSecond is the name of the unit that compares parts of a profile.
const cpuSecond = "CPU second"

// ByParts tells the unit that makes the CPU time one on both sides: only its parts can differ.
func (w *Work) ByParts() bool { return w != nil && w.Name == cpuSecond }

// ChooseWork returns what the time of both sides is to be divided by.
//
//	auto            run when every recording is Whole, second when every one has a window, else (and for
//	                imports, which do not say what they are of) cpu-second
//	run             one recording is one unit
//	second          of the window
//	cpu-second      of the target's CPU time: parts of the profile, for sides whose load differs
//	request=N       every recording served N requests; request=NA,NB: those of A and those of B
//	request=NAME    as many as the metric or the system call NAME counted in each recording
func ChooseWork(asked string, a, b []*recording.Recording) (Work, error) {
	name, amount, found := strings.Cut(asked, "=")
	switch {
	case name == perRequest && found && amount != "":
		return requests(amount, a, b)
	case found:
		return Work{}, fmt.Errorf("unit of work %q: only request takes a number, such as request=10000", asked)
	case asked == PerRun:
		return workOf("run", "as asked", a, b, func(*recording.Recording) float64 { return 1 })
	case asked == PerSecond:
		return workOf("second", "as asked", a, b, windowSeconds)
	case asked == PerCPUSecond:
		return workOf(cpuSecond, "as asked", a, b, cpuMetric)
	case asked == PerAuto || asked == "":
		return sharedWork(a, b)
	}
	return Work{}, fmt.Errorf("unit of work %q: give auto, run, second, cpu-second or request=N", asked)
}

func sharedWork(a, b []*recording.Recording) (Work, error) {
	commands, windows, imports, parts := true, true, false, false
	for _, rec := range both(a, b) {
		imports = imports || Imported(rec) != ""
		// A log of strace is of a whole command, and has no CPU time to divide by.
		parts = parts || Imported(rec) != "" &&
			(rec.Manifest.Target.Kind != "command" || cpuMetric(rec) > 0)
		commands = commands && Whole(rec)
		windows = windows && windowSeconds(rec) > 0
	}
	one := func(*recording.Recording) float64 { return 1 }
	alone := len(b) == 0 // parts of it need nothing to be divided by, and the whole is told as it is
	switch {
	case parts && !alone:
		return workOf(cpuSecond, "an import does not say how much work it saw; --per run or "+
			"request=N do", a, b, cpuMetric)
	case commands:
		return workOf("run", "each recording is a whole command", a, b, one)
	case windows && !(alone && imports):
		return workOf("second", "the recordings are windows of what runs on", a, b, windowSeconds)
	case alone:
		return workOf("recording", "some recordings do not say how long they are", a, b, one)
	}
	return workOf(cpuSecond, "some recordings do not say how long they are", a, b, cpuMetric)
}

// Whole reports whether a recording is of a command from its start to its end: not what -d cut short, nor what is left
// of a killed recording. What does not tell how its first process ended is believed.
func Whole(rec *recording.Recording) bool {
	if rec.Manifest.Target.Kind != "command" {
		return false
	}
	if wall := rec.Manifest.Metrics[MetricWall]; Imported(rec) != "" || wall > 0 && wall < windowSeconds(rec) {
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

func windowSeconds(rec *recording.Recording) float64 {
	if !plausible(rec.Manifest.WindowNs) {
		return 0
	}
	return float64(rec.Manifest.WindowNs) / 1e9
}

func cpuMetric(rec *recording.Recording) float64 { return rec.Manifest.Metrics[MetricCPU] }

func requests(amount string, a, b []*recording.Recording) (Work, error) {
	parts := strings.Split(amount, ",")
	numbers := make([]float64, len(parts))
	for i, part := range parts {
		number, err := strconv.ParseFloat(part, 64)
		if err != nil && i == 0 && len(parts) == 1 {
			return counted(amount, a, b)
		}
		if err != nil || !(number > 0) || math.IsInf(number, 0) || len(parts) > 2 {
			return Work{}, fmt.Errorf("requests %q: give one positive number, or one of A and one of B: request=1000,1200",
				amount)
		}
		numbers[i] = number
	}
	work := Work{Name: perRequest, Why: "as asked"}
	for range a {
		work.A = append(work.A, numbers[0])
	}
	for range b {
		work.B = append(work.B, numbers[len(numbers)-1])
	}
	return work, nil
}

// counted takes the units from what each recording counted itself.
func counted(name string, a, b []*recording.Recording) (Work, error) {
	title := "call of " + name
	for _, rec := range both(a, b) {
		if _, known := rec.Manifest.Metrics[name]; known {
			title = name
		}
	}
	return workOf(title, "as asked", a, b, func(rec *recording.Recording) float64 {
		if value, known := rec.Manifest.Metrics[name]; known {
			return value
		}
		return float64(calls(rec, name))
	})
}

func calls(rec *recording.Recording, name string) int64 {
	var sum int64
	for i := range rec.Syscalls {
		if call := &rec.Syscalls[i]; call.Name == name && plausible(call.Count) {
			sum += call.Count
		}
	}
	return sum
}

func workOf(name, why string, a, b []*recording.Recording, of func(*recording.Recording) float64) (Work, error) {
	work := Work{Name: name, Why: why}
	for at, group := range [][]*recording.Recording{a, b} { // an error names A before B
		side := [...]Side{A, B}[at]
		for i, rec := range group {
			amount := of(rec)
			if !(amount > 0) || math.IsInf(amount, 0) {
				return Work{}, fmt.Errorf("recording %d of %s has no %s to divide by: choose another unit with --per",
					i+1, side, name)
			}
			if side == A {
				work.A = append(work.A, amount)
			} else {
				work.B = append(work.B, amount)
			}
		}
	}
	return work, nil
}

func both(a, b []*recording.Recording) []*recording.Recording {
	return append(append([]*recording.Recording{}, a...), b...)
}

// typical is how many units a recording of A has: what is shown per unit is weighed per typical recording, so that
// "seldom" and "often" mean the same whatever the unit.
func (w *Work) typical() float64 {
	if mean := mean(w.A); mean > 0 {
		return mean
	}
	return 1
}

// scale is what the amounts of one recording are multiplied with to be those of a typical recording of A.
func (w *Work) scale(side Side, at int) float64 {
	if w == nil {
		return 1
	}
	units := w.A
	if side == B {
		units = w.B
	}
	if at >= len(units) || !(units[at] > 0) {
		return 1
	}
	return w.typical() / units[at]
}
