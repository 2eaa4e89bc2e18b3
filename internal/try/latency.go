package try

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"culprit/internal/trial"
)

// latencyPrefix begins the names of metrics out of a distribution of latencies.
const latencyPrefix = "latency."

// Latency says where a trial leaves how long its operations took.
type Latency struct {
	Format string `json:"format"` // lines, jsonl, jmh, wrk, hey or redis
	// File is relative to the command's folder; "": what the command prints.
	File  string `json:"file,omitempty"`
	Field string `json:"field,omitempty"`
	Time  string `json:"time,omitempty"` // field of when an operation began
	// Due is the field of when it was due: latency counts from then.
	Due         string    `json:"due,omitempty"`
	Unit        string    `json:"unit,omitempty"` // ns, us, ms or s, of lines and jsonl
	Limit       float64   `json:"limit_s,omitempty"`
	Percentiles []float64 `json:"percentiles"`
}

// usualPercentiles are reported where none are asked for.
func usualPercentiles() []float64 { return []float64{50, 90, 99, 99.9} }

// latencyUnits in seconds.
func latencyUnits() map[string]float64 {
	return map[string]float64{"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1}
}

// ParseLatency reads
// FORMAT[:FILE][,field=F][,time=F][,due=F][,unit=us][,limit=10ms][,percentiles=50/99].
func ParseLatency(text string) (*Latency, error) {
	parts := splitValues(text)
	format, file, _ := strings.Cut(parts[0], ":")
	l := &Latency{Format: format, File: file}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		var err error
		switch key {
		case "field":
			l.Field = value
		case "time":
			l.Time = value
		case "due":
			l.Due = value
		case "unit":
			l.Unit = value
		case "limit":
			err = l.SetLimit(value)
		case "percentiles":
			for _, one := range strings.Split(value, "/") {
				number, errOne := strconv.ParseFloat(one, 64)
				l.Percentiles, err = append(l.Percentiles, number), errors.Join(err, errOne)
			}
		default:
			err = errors.New("there are field, time, due, unit, limit and percentiles")
		}
		if err != nil {
			return nil, fmt.Errorf("latency option %q: %w", part, err)
		}
	}
	return l.Complete()
}

// SetLimit reads the longest time that is still good, such as 10ms.
func (l *Latency) SetLimit(text string) error {
	limit, err := time.ParseDuration(text)
	if err != nil || limit <= 0 {
		return fmt.Errorf("limit %q: give a time such as 10ms", text)
	}
	l.Limit = limit.Seconds()
	return nil
}

// Complete fills in what was left away and refuses what makes no sense.
func (l *Latency) Complete() (*Latency, error) {
	if len(l.Percentiles) == 0 {
		l.Percentiles = usualPercentiles()
	}
	slices.Sort(l.Percentiles)
	l.Percentiles = slices.Compact(l.Percentiles)
	if l.Unit == "" && (l.Format == "lines" || l.Format == "jsonl") {
		return nil, fmt.Errorf("latency %s: give unit=ns, us, ms or s", l.Format)
	}
	return l, l.check(nil)
}

func (l *Latency) check(metrics []Metric) error {
	if _, known := latencyReaders()[l.Format]; !known {
		return fmt.Errorf("latency format %q: give lines, jsonl, jmh, wrk, hey or redis", l.Format)
	}
	if l.Unit != "" && latencyUnits()[l.Unit] == 0 {
		return fmt.Errorf("latency unit %q: give ns, us, ms or s", l.Unit)
	}
	if (l.Field != "" || l.Time != "" || l.Due != "") && l.Format != "jsonl" {
		return fmt.Errorf("latency format %s has no fields; field=, time= and due= go with jsonl", l.Format)
	}
	if l.Due != "" && l.Time == "" {
		return errors.New("latency counts from when a call was due only where it is known when it began; add time=")
	}
	if l.Limit > 0 && l.Format != "jsonl" && l.Format != "lines" {
		return fmt.Errorf("latency format %s has no single calls to hold against a limit; lines and jsonl have", l.Format)
	}
	for _, percentile := range l.Percentiles {
		if !(percentile > 0 && percentile < 100) {
			return fmt.Errorf("percentile %v does not lie between 0 and 100", percentile)
		}
	}
	for _, metric := range metrics {
		name, is := strings.CutPrefix(metric.Name, latencyPrefix)
		if !is {
			continue
		}
		if percentile, is := strings.CutPrefix(name, "p"); is && !slices.ContainsFunc(l.Percentiles,
			func(of float64) bool { return percentileText(of) == percentile }) {
			return fmt.Errorf("metric %s is not among the percentiles %v", metric.Name, l.Percentiles)
		}
		if slices.Contains([]string{"over", "stalls", "stalled"}, name) && l.Limit <= 0 {
			return fmt.Errorf("metric %s needs a limit; add limit=10ms to --latency", metric.Name)
		}
	}
	return nil
}

func percentileText(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// latencyMetric reads latency.p99, latency.mean, latency.max, latency.throughput, latency.over,
// latency.stalls or latency.stalled.
func latencyMetric(name, direction string) (Metric, error) {
	metric := Metric{Name: name, Unit: "s"}
	switch short := name[len(latencyPrefix):]; short {
	case "mean", "max":
	case "over":
		metric.Unit, metric.Add = "", 1e-6
	case "stalls":
		metric.Unit, metric.Add = "", half
	case "stalled":
		metric.Add = 1e-3
	case "throughput":
		metric.Unit, metric.Higher = "1/s", true
	default:
		percentile, err := strconv.ParseFloat(strings.TrimPrefix(short, "p"), 64)
		if err != nil || !strings.HasPrefix(short, "p") || !(percentile > 0 && percentile < 100) {
			return Metric{}, fmt.Errorf("metric %q: of latencies there are p50, p99, p99.9 …, mean, max, throughput, over, "+
				"stalls and stalled", name)
		}
	}
	if direction != "" && direction != "lower" && direction != "higher" {
		return Metric{}, fmt.Errorf("metric %s: %q is no direction; give higher or lower", name, direction)
	}
	metric.Higher = direction == "higher" || metric.Higher && direction != "lower"
	return metric, nil
}

// maxLatencyBytes bounds what is read of one trial.
const maxLatencyBytes = 512 << 20

// read takes the latencies of a run and adds what they say to its metrics.
func (l *Latency) read(dir, workDir string, run trial.Run, metrics map[string]float64) error {
	path := filepath.Join(dir, run.Stdout)
	if l.File != "" {
		path = caseFile(workDir, l.File)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("read latencies: %w", err)
	}
	if l.File != "" && info.ModTime().Before(run.Start.Add(-fileClockSlack)) {
		return fmt.Errorf("read latencies: %s was not written by this run; remove it or name the right file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read latencies: %w", err)
	}
	defer file.Close()
	found, err := latencyReaders()[l.Format](l, io.LimitReader(file, maxLatencyBytes))
	if err != nil {
		return fmt.Errorf("read latencies from %s: %w", path, err)
	}
	for name, value := range found.metrics(l) {
		metrics[latencyPrefix+name] = value
	}
	return nil
}

// fileClockSlack is how much coarser a file's time is than the clock: a tick of the kernel, and
// more on a busy host.
const fileClockSlack = 50 * time.Millisecond

// latencies are what one trial's operations took: single calls, or what the tool made of them.
type latencies struct {
	calls       []call
	timed       bool                // calls have their begin
	percentiles map[float64]float64 // where the tool computed them, in seconds
	mean, max   float64
	throughput  float64
}

// call is one operation, in seconds.
type call struct{ begun, took float64 }

// metrics are the numbers that a distribution gives, in seconds, shares and counts.
func (f latencies) metrics(l *Latency) map[string]float64 {
	values := map[string]float64{}
	if len(f.calls) == 0 {
		for percentile, value := range f.percentiles {
			values["p"+percentileText(percentile)] = value
		}
		for name, value := range map[string]float64{"mean": f.mean, "max": f.max, "throughput": f.throughput} {
			if value > 0 {
				values[name] = value
			}
		}
		return values
	}
	took := make([]float64, len(f.calls))
	sum, over := 0.0, 0
	for i, call := range f.calls {
		took[i] = call.took
		sum += call.took
		if l.Limit > 0 && call.took > l.Limit {
			over++
		}
	}
	slices.Sort(took)
	for _, percentile := range l.Percentiles {
		values["p"+percentileText(percentile)] = quantile(took, percentile/100)
	}
	values["mean"], values["max"], values["count"] = sum/float64(len(took)), took[len(took)-1], float64(len(took))
	if l.Limit > 0 {
		values["over"] = float64(over) / float64(len(took))
		if f.timed {
			values["stalls"], values["stalled"] = stalls(f.calls, l.Limit)
		}
	}
	return values
}

// quantile is the smallest value that at least this part of the sorted values does not exceed: a
// call that was made.
func quantile(sorted []float64, part float64) float64 {
	return sorted[min(len(sorted)-1, max(0, int(math.Ceil(part*float64(len(sorted))-1e-9))-1))]
}

// stalls counts the calls over the limit as what caused them: calls that overlap, or follow within
// the limit, are one stall, since a mutex or a queue makes many slow calls out of one wait. It
// returns how many there were and how long they lasted together, in seconds.
func stalls(calls []call, limit float64) (count, seconds float64) {
	var slow []call
	for _, call := range calls {
		if call.took > limit {
			slow = append(slow, call)
		}
	}
	slices.SortFunc(slow, func(a, b call) int {
		switch {
		case a.begun < b.begun:
			return -1
		case a.begun > b.begun:
			return 1
		}
		return 0
	})
	end := math.Inf(-1)
	for _, call := range slow {
		over := call.begun + call.took
		if call.begun > end+limit {
			count++
			seconds += call.took
		} else if over > end {
			seconds += over - max(end, call.begun)
		}
		end = max(end, over)
	}
	return count, seconds
}
