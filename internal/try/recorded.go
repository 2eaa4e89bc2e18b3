package try

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// recordedPrefix begins the name of a metric that is read out of a recording of each trial:
// recording:runqueue, recording:calls:fsync, recording:slow:10ms.
const recordedPrefix = "recording:"

// whatFollows says what may stand behind a second colon.
type whatFollows int

const (
	nothingFollows whatFollows = iota
	callFollows                // the name of a system call; without one: all of them
	limitFollows               // a time: operations that take longer count
	deviceFollows              // a block device; without one: all of them
	numberFollows              // the name of a number of the host, a device or a counter
)

// recordedKind is one thing that a recording can be asked for.
type recordedKind struct {
	name, text string
	unit       string
	follows    whatFollows
	probe      string // whose evidence it is
	amount     bool   // it grows with the window, so that a running service has it as a rate
	add        float64
}

// seconds that stand in for none at all in a ratio: see Metric.Add. A tenth of a millisecond is
// below what matters.
const recordedSeconds = 1e-4

// recordedKinds lists them as --help and the guide do.
func recordedKinds() []recordedKind {
	return []recordedKind{
		{"cpu", "CPU time of all threads", "s", nothingFollows, "processes", true, recordedSeconds},
		{"runqueue", "time that threads waited for a CPU", "s", nothingFollows, "processes", true, recordedSeconds},
		{"switches", "context switches", "", nothingFollows, "processes", true, half},
		{"voluntary", "switches of threads that went to sleep", "", nothingFollows, "processes", true, half},
		{"involuntary", "switches of threads that were pushed off the CPU", "", nothingFollows, "processes", true, half},
		{"processes", "processes started", "", nothingFollows, "processes", true, half},
		{"offcpu", "time off the CPU, all threads together", "s", nothingFollows, "offcpu", true, recordedSeconds},
		{"calls", "system calls", "", callFollows, "syscalls", true, half},
		{"errors", "system calls that failed", "", callFollows, "syscalls", true, half},
		{"call_time", "time in system calls", "s", callFollows, "syscalls", true, recordedSeconds},
		{"call_bytes", "bytes that system calls moved", "bytes", callFollows, "syscalls", true, half},
		{"slow", "operations longer than the limit", "", limitFollows, "syscalls", true, half},
		{"stalls", "stalls longer than the limit: slow operations that wait for one thing are one", "", limitFollows,
			"syscalls", true, half},
		{"stalled", "time in such stalls", "s", limitFollows, "syscalls", true, recordedSeconds},
		{"faults", "minor page faults", "", nothingFollows, "faults", true, half},
		{"major_faults", "page faults that waited for a disk", "", nothingFollows, "faults", true, half},
		{"reclaim", "time in which threads had to free memory", "s", nothingFollows, "faults", true, recordedSeconds},
		{"block_requests", "requests to disks, the host's", "", deviceFollows, "block", true, half},
		{"block_bytes", "bytes of them", "bytes", deviceFollows, "block", true, half},
		{"block_mean", "mean latency of them", "s", deviceFollows, "block", false, recordedSeconds},
		{"block_p50", "half of them took no longer", "s", deviceFollows, "block", false, recordedSeconds},
		{"block_p99", "99 of 100 took no longer", "s", deviceFollows, "block", false, recordedSeconds},
		{"block_max", "the longest of them", "s", deviceFollows, "block", false, recordedSeconds},
		{"retransmits", "TCP segments sent again, the host's", "", nothingFollows, "network", true, half},
		{"connects", "TCP connections opened", "", nothingFollows, "network", true, half},
		{"resets", "TCP connections reset by the other end, the host's", "", nothingFollows, "network", true, half},
		{"lock_time", "time that threads waited for locks", "s", nothingFollows, "syscalls", true, recordedSeconds},
		{"host", "how much a counter of the table metrics grew, such as recording:host:cpu.steal_s", "", numberFollows,
			"", true, recordedSeconds},
		{"counter", "a counter of the table counters", "", numberFollows, "", true, half},
	}
}

// recorded is a metric that a recording has, resolved.
type recorded struct {
	recordedKind
	of    string        // what follows the second colon
	limit time.Duration // where that is a limit
}

// The bounds of what may follow.
const (
	leastLimit = 50 * time.Microsecond
	usualLimit = 10 * time.Millisecond
	maxOf      = 80
)

// isRecorded tells a metric of recordings from others by its name.
func isRecorded(name string) bool { return strings.HasPrefix(name, recordedPrefix) }

// parseRecorded reads recording:WHAT or recording:WHAT:OF.
func parseRecorded(name string) (recorded, error) {
	what, of, _ := strings.Cut(strings.TrimPrefix(name, recordedPrefix), ":")
	kinds := recordedKinds()
	at := slices.IndexFunc(kinds, func(kind recordedKind) bool { return kind.name == what })
	if at < 0 {
		var names []string
		for _, kind := range kinds {
			names = append(names, kind.name)
		}
		return recorded{}, fmt.Errorf("metric %.60q: of recordings there are %s", name, strings.Join(names, " "))
	}
	found := recorded{recordedKind: kinds[at], of: of}
	if len(of) > maxOf || strings.ContainsAny(of, "\x00\n =") {
		return found, fmt.Errorf("metric %.60q: what follows %s is no name", name, what)
	}
	switch found.follows {
	case callFollows:
		if strings.Trim(of, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			return found, fmt.Errorf("metric %.60q: what follows %s is the name of a system call, such as fsync", name, what)
		}
	case nothingFollows:
		if of != "" {
			return found, fmt.Errorf("metric %s: nothing follows %s; give recording:%s", name, what, what)
		}
	case numberFollows:
		if of == "" {
			return found, fmt.Errorf("metric %s: say which, such as recording:host:cpu.steal_s", name)
		}
	case limitFollows:
		found.limit = usualLimit
		if of != "" {
			limit, err := time.ParseDuration(of)
			if err != nil || limit < leastLimit || limit > time.Hour {
				return found, fmt.Errorf("metric %s: %q is no limit; give %v to 1h, such as recording:%s:10ms", name, of,
					leastLimit, what)
			}
			found.limit = limit
		}
	}
	return found, nil
}

// recordedMetric is the metric of a name and a direction: fewer, or less, is better where none is
// given.
func recordedMetric(name, direction string) (Metric, error) {
	found, err := parseRecorded(name)
	if err != nil {
		return Metric{}, err
	}
	if direction != "" && direction != "lower" && direction != "higher" {
		return Metric{}, fmt.Errorf("metric %s: %q is no direction; give higher or lower", name, direction)
	}
	return Metric{Name: name, Unit: found.unit, Add: found.add, Higher: direction == "higher"}, nil
}

// recorded lists the metrics of an experiment that recordings have to give. Check has seen that
// they can be read.
func (e Experiment) recorded() []recorded {
	var list []recorded
	for _, metric := range e.Metrics {
		if !isRecorded(metric.Name) {
			continue
		}
		if found, err := parseRecorded(metric.Name); err == nil {
			list = append(list, found)
		}
	}
	return list
}

// metricName is what was typed.
func (r recorded) metricName() string {
	if r.of == "" {
		return recordedPrefix + r.name
	}
	return recordedPrefix + r.name + ":" + r.of
}

// rateUnit is the unit of a metric of a running service.
func (r recorded) rateUnit() string {
	switch {
	case !r.amount:
		return r.unit
	case r.unit == "":
		return "1/s"
	}
	return r.unit + "/s"
}
