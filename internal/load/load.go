// Package load reads what load generators print: how many requests a server answered, how many
// failed, at which rate and with which latency.
//
//	result, known := load.Read(printed)
//	result.Requests, result.Percentiles[99] // 15449, 0.0021
//
// It knows wrk and wrk2, hey, ab, redis-benchmark, pgbench, ghz and k6 by what they print. It
// refuses to guess: a number that a tool does not print is left out, and of the metrics also a time
// that it rounds to more than that can bear.
package load

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Result is one run of a load generator. Times are in seconds; what is 0 was not told.
type Result struct {
	Tool       string
	Requests   float64 // answered, the failed ones included
	Failed     float64
	Failures   string // what failed, in the tool's words: "37 Non-2xx or 3xx responses"
	Throughput float64
	Mean, Max  float64
	// Percentiles are those that the tool computed, by percent: 99 is the p99.
	Percentiles map[float64]float64
	// Least is the shortest time that tells anything, of a tool that rounds its times coarsely.
	Least float64
}

// The limits of what is believed of foreign text.
const (
	maxText   = 4 << 20 // read from its end: a summary comes last
	maxNumber = 1e15    // requests, or requests per second
	maxTime   = 1e9     // seconds
)

// tool is one load generator: its name, and a reader that says false where the text is not its own.
type tool struct {
	name string
	read func(text string, r *Result) bool
}

// tools are asked in this order: hey prints what ghz prints as well, with other units.
var tools = []tool{{"wrk", wrk}, {"ab", ab}, {"redis-benchmark", redis}, {"pgbench", pgbench},
	{"ghz", ghz}, {"hey", hey}, {"k6", k6}}

// Names are the tools that are known.
func Names() (names []string) {
	for _, one := range tools {
		names = append(names, one.name)
	}
	return names
}

// Read finds out whose text it is and reads it; false where no tool knows it.
func Read(text string) (Result, bool) {
	for _, one := range tools {
		if result, known := ReadAs(one.name, text); known {
			return result, true
		}
	}
	return Result{}, false
}

// ReadAs reads what the tool of that name printed; false where the text is not its own.
func ReadAs(name, text string) (Result, bool) {
	text = text[max(0, len(text)-maxText):]
	at := slices.IndexFunc(tools, func(one tool) bool { return one.name == name })
	if at < 0 {
		return Result{}, false
	}
	result := Result{Tool: name, Percentiles: map[float64]float64{}}
	if !tools[at].read(text, &result) || !result.believable() {
		return Result{}, false
	}
	return result, true
}

// believable refuses numbers that no run has.
func (r *Result) believable() bool {
	good := func(value, most float64) bool { return value >= 0 && value <= most } // NaN is neither
	if !good(r.Requests, maxNumber) || !good(r.Failed, maxNumber) || !good(r.Throughput, maxNumber) ||
		!good(r.Mean, maxTime) || !good(r.Max, maxTime) {
		return false
	}
	maps.DeleteFunc(r.Percentiles, func(percent, value float64) bool {
		return !(percent > 0 && percent < 100) || !(value > 0) || value > maxTime
	})
	return r.Requests > 0 || r.Throughput > 0 || r.Mean > 0 || len(r.Percentiles) > 0
}

// Metrics are the numbers under the names that they are asked for by: "requests", "throughput",
// "latency" (the mean), "max", "p50", "p99.9" …
func (r *Result) Metrics() map[string]float64 {
	values := map[string]float64{}
	for name, value := range map[string]float64{"requests": r.Requests, "throughput": r.Throughput,
		"latency": r.Mean, "max": r.Max} {
		if value > 0 {
			values[name] = value
		}
	}
	for percent, value := range r.Percentiles {
		values[Percentile(percent)] = value
	}
	maps.DeleteFunc(values, func(name string, value float64) bool {
		return name != "requests" && name != "throughput" && value < r.Least
	})
	return values
}

// Percentile is the name of a percentile: 99.9 is "p99.9".
func Percentile(percent float64) string {
	return "p" + strconv.FormatFloat(percent, 'f', -1, 64)
}

// Err says that requests failed, nil where none did: a run in which some were refused answers
// nothing about how long the others take.
func (r *Result) Err() error {
	if r.Failed <= 0 {
		return nil
	}
	text := fmt.Sprintf("%.0f of %.0f requests failed", r.Failed, max(r.Requests, r.Failed))
	if r.Failures != "" {
		text += " (" + r.Failures + ")"
	}
	return fmt.Errorf("%s, as %s counts them", text, r.Tool)
}

// fail adds requests that failed.
func (r *Result) fail(count float64, what string) {
	if !(count > 0) || math.IsInf(count, 0) {
		return
	}
	r.Failed += count
	what = strings.Join(strings.Fields(fmt.Sprintf("%.0f %s", count, what)), " ")
	if r.Failures != "" {
		what = r.Failures + ", " + what
	}
	const most = 120
	r.Failures = cut(what, most)
}

// IsMetric tells the names of metrics that only a load generator prints.
func IsMetric(name string) bool {
	if name == "latency" || name == "throughput" || name == "max" {
		return true
	}
	text, is := strings.CutPrefix(name, "p")
	percent, err := strconv.ParseFloat(text, 64)
	return is && err == nil && percent > 0 && percent < 100 && name == Percentile(percent)
}

// Known names the tool that a command calls, "" for none that is known.
func Known(command string) string {
	separates := func(c rune) bool { return strings.ContainsRune(" \t\n;|&()'\"/=", c) }
	for _, word := range strings.FieldsFunc(command, separates) {
		switch word {
		case "wrk2":
			word = "wrk"
		case "valkey-benchmark":
			word = "redis-benchmark"
		}
		if slices.Contains(Names(), word) {
			return word
		}
	}
	return ""
}

// cut keeps the beginning of a text, and only what can be printed on a line.
func cut(text string, most int) string {
	kept := []rune(strings.Map(func(c rune) rune {
		if !strconv.IsPrint(c) {
			return -1
		}
		return c
	}, text))
	return string(kept[:min(len(kept), most)])
}
