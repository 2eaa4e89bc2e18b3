package try

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The limits of reading what a command wrote.
const (
	maxCalls       = 20_000_000
	maxLatencyLine = 1 << 20
	maxToolOutput  = 64 << 20
)

// latencyReaders are the formats by name.
func latencyReaders() map[string]func(*Latency, io.Reader) (latencies, error) {
	return map[string]func(*Latency, io.Reader) (latencies, error){
		"lines": readLines, "jsonl": readJSONLines, "jmh": readJMH, "wrk": readWrk, "hey": readHey, "redis": readRedis,
	}
}

var errNoLatency = errors.New("no latency is in it")

// eachLine calls take with every line that is not blank.
func eachLine(in io.Reader, take func(line string) error) error {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, maxLatencyLine)
	for number := 1; scanner.Scan(); number++ {
		line := strings.TrimSpace(scanner.Text())
		if line == "" {
			continue
		}
		if err := take(line); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	return scanner.Err()
}

func (f *latencies) add(begun, took, scale float64) error {
	if math.IsNaN(took) || math.IsInf(took, 0) || took < 0 || math.IsNaN(begun) || math.IsInf(begun, 0) {
		return fmt.Errorf("%g is no latency", took)
	}
	if len(f.calls) == maxCalls {
		return fmt.Errorf("more than %d calls", maxCalls)
	}
	f.calls = append(f.calls, call{begun * scale, took * scale})
	return nil
}

// readLines reads one number a line, how long the call took; or two: when it began and how long it
// took; or three: when it was due, when it began and how long it took, which then counts from when
// it was due (Tene's coordinated omission: a stall delays the calls that come after it). All are in
// the same unit. Lines that begin with # are notes.
func readLines(l *Latency, in io.Reader) (latencies, error) {
	var found latencies
	columns := 0
	scale := latencyUnits()[l.Unit]
	err := eachLine(in, func(line string) error {
		if strings.HasPrefix(line, "#") {
			return nil
		}
		fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' || r == ';' })
		if columns == 0 {
			columns = len(fields)
			found.timed = columns > 1
		}
		if len(fields) != columns || columns < 1 || columns > 3 {
			return fmt.Errorf("%d numbers: give the latency, before it when the call began, and before that when it was due, "+
				"the same in every line", len(fields))
		}
		numbers := [3]float64{}
		for i, field := range fields {
			number, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return fmt.Errorf("%.40q is not a number", field)
			}
			numbers[i] = number
		}
		switch columns {
		case 1:
			return found.add(0, numbers[0], scale)
		case 2:
			return found.add(numbers[0], numbers[1], scale)
		}
		return found.add(numbers[0], max(0, numbers[1]-numbers[0])+numbers[2], scale)
	})
	if err == nil && len(found.calls) == 0 {
		err = errNoLatency
	}
	return found, err
}

// readJSONLines reads an object a line; lines that hold none are passed over, since programs print
// other things too.
func readJSONLines(l *Latency, in io.Reader) (latencies, error) {
	found := latencies{timed: l.Time != ""}
	field := l.Field
	if field == "" {
		field = "latency"
	}
	scale := latencyUnits()[l.Unit]
	err := eachLine(in, func(line string) error {
		var object map[string]any
		if line[0] != '{' || json.Unmarshal([]byte(line), &object) != nil {
			return nil
		}
		took, has := object[field].(float64)
		if !has {
			return nil
		}
		begun, hasBegun := object[l.Time].(float64)
		if found.timed && !hasBegun {
			return fmt.Errorf("it has %s but no number %s", field, l.Time)
		}
		if l.Due == "" {
			return found.add(begun, took, scale)
		}
		due, hasDue := object[l.Due].(float64)
		if !hasDue {
			return fmt.Errorf("it has %s but no number %s", field, l.Due)
		}
		return found.add(due, max(0, begun-due)+took, scale)
	})
	if err == nil && len(found.calls) == 0 {
		err = fmt.Errorf("no line is an object with a number %q: %w", field, errNoLatency)
	}
	return found, err
}

// readJMH reads what jmh writes with -rf json: the first benchmark's percentiles, or its score as a
// throughput.
func readJMH(_ *Latency, in io.Reader) (latencies, error) {
	var results []struct {
		Mode          string `json:"mode"`
		PrimaryMetric struct {
			Score            float64            `json:"score"`
			ScoreUnit        string             `json:"scoreUnit"`
			ScorePercentiles map[string]float64 `json:"scorePercentiles"`
		} `json:"primaryMetric"`
	}
	if err := json.NewDecoder(io.LimitReader(in, maxToolOutput)).Decode(&results); err != nil {
		return latencies{}, fmt.Errorf("not what jmh -rf json writes: %w", err)
	}
	if len(results) != 1 {
		return latencies{}, fmt.Errorf("it holds %d benchmarks; select one, for example jmh -f 1 NAME", len(results))
	}
	metric := results[0].PrimaryMetric
	per, unit, isThroughput := strings.Cut(metric.ScoreUnit, "/")
	if isThroughput && per == "ops" {
		return latencies{throughput: metric.Score / latencyUnits()[unit]}, nil
	}
	scale := latencyUnits()[per]
	if scale == 0 {
		return latencies{}, fmt.Errorf("its unit %q is not known", metric.ScoreUnit)
	}
	found := latencies{mean: metric.Score * scale, percentiles: map[float64]float64{}}
	// An error names the first.
	for _, name := range slices.Sorted(maps.Keys(metric.ScorePercentiles)) {
		value := metric.ScorePercentiles[name]
		percentile, err := strconv.ParseFloat(name, 64)
		switch {
		case err != nil:
			return latencies{}, fmt.Errorf("percentile %.20q is not a number", name)
		case percentile >= 100:
			found.max = value * scale
		case percentile > 0:
			found.percentiles[percentile] = value * scale
		}
	}
	return found, nil
}

func wholeText(in io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxToolOutput))
	return string(text), err
}

// percentileLines reads lines that a pattern matches: a percentile, a number, perhaps its unit.
func percentileLines(text string, pattern *regexp.Regexp, usualUnit string) map[float64]float64 {
	found := map[float64]float64{}
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		unit := usualUnit
		if len(match) > 3 {
			unit = match[3]
		}
		percentile, errP := strconv.ParseFloat(match[1], 64)
		value, errV := strconv.ParseFloat(match[2], 64)
		if errP == nil && errV == nil && percentile < 100 {
			found[percentile] = value * latencyUnits()[unit]
		}
	}
	return found
}

func firstNumber(text string, pattern *regexp.Regexp) float64 {
	match := pattern.FindStringSubmatch(text)
	if match == nil {
		return 0
	}
	value, _ := strconv.ParseFloat(match[1], 64) // the pattern lets only numbers through
	return value
}

var (
	wrkPercentile  = regexp.MustCompile(`(?m)^\s*(\d+(?:\.\d+)?)%\s+(\d+(?:\.\d+)?)(us|ms|s)\s*$`)
	wrkAverage     = regexp.MustCompile(`(?m)^\s*Latency\s+(\d+(?:\.\d+)?)(us|ms|s)\s+\S+\s+(\d+(?:\.\d+)?)(us|ms|s)`)
	wrkRequests    = regexp.MustCompile(`(?m)^Requests/sec:\s+(\d+(?:\.\d+)?)`)
	heyPercentile  = regexp.MustCompile(`(?m)^\s*(\d+(?:\.\d+)?)%%? in (\d+(?:\.\d+)?) secs`)
	heySlowest     = regexp.MustCompile(`(?m)^\s*Slowest:\s+(\d+(?:\.\d+)?) secs`)
	heyAverage     = regexp.MustCompile(`(?m)^\s*Average:\s+(\d+(?:\.\d+)?) secs`)
	heyRequests    = regexp.MustCompile(`(?m)^\s*Requests/sec:\s+(\d+(?:\.\d+)?)`)
	redisRequests  = regexp.MustCompile(`throughput summary:\s+(\d+(?:\.\d+)?) requests per second`)
	redisHeadings  = regexp.MustCompile(`(?m)^\s*avg\s+min\s+p50\s+p95\s+p99\s+max\s*\n\s*([\d. ]+)$`)
	redisIntervals = regexp.MustCompile(`(?m)^(\d+(?:\.\d+)?)% <= (\d+(?:\.\d+)?) milliseconds`)
)

// readWrk reads what wrk --latency prints.
func readWrk(_ *Latency, in io.Reader) (latencies, error) {
	text, err := wholeText(in)
	if err != nil {
		return latencies{}, err
	}
	found := latencies{percentiles: percentileLines(text, wrkPercentile, ""), throughput: firstNumber(text, wrkRequests)}
	if match := wrkAverage.FindStringSubmatch(text); match != nil {
		average, _ := strconv.ParseFloat(match[1], 64) // the pattern lets only numbers through
		most, _ := strconv.ParseFloat(match[3], 64)
		found.mean, found.max = average*latencyUnits()[match[2]], most*latencyUnits()[match[4]]
	}
	return found, found.ofTool("wrk --latency")
}

// readHey reads what hey prints.
func readHey(_ *Latency, in io.Reader) (latencies, error) {
	text, err := wholeText(in)
	if err != nil {
		return latencies{}, err
	}
	found := latencies{percentiles: percentileLines(text, heyPercentile, "s"), throughput: firstNumber(text, heyRequests),
		mean: firstNumber(text, heyAverage), max: firstNumber(text, heySlowest)}
	return found, found.ofTool("hey")
}

// readRedis reads what redis-benchmark prints of one test.
func readRedis(_ *Latency, in io.Reader) (latencies, error) {
	text, err := wholeText(in)
	if err != nil {
		return latencies{}, err
	}
	if tests := len(redisRequests.FindAllString(text, -1)); tests > 1 {
		return latencies{}, fmt.Errorf("it holds %d tests; select one with redis-benchmark -t", tests)
	}
	found := latencies{percentiles: percentileLines(text, redisIntervals, "ms"),
		throughput: firstNumber(text, redisRequests)}
	if match := redisHeadings.FindStringSubmatch(text); match != nil {
		if fields := strings.Fields(match[1]); len(fields) == 6 {
			numbers := make([]float64, len(fields))
			for i, field := range fields {
				// A zero is left out like one that is missing.
				number, _ := strconv.ParseFloat(field, 64)
				numbers[i] = number * 1e-3
			}
			found.mean, found.max = numbers[0], numbers[5]
			found.percentiles[50], found.percentiles[95], found.percentiles[99] = numbers[2], numbers[3], numbers[4]
		}
	}
	return found, found.ofTool("redis-benchmark")
}

// ofTool refuses output that no latency was found in.
func (f latencies) ofTool(name string) error {
	if len(f.percentiles) == 0 && f.mean == 0 && f.throughput == 0 {
		return fmt.Errorf("not what %s prints: %w", name, errNoLatency)
	}
	return nil
}
