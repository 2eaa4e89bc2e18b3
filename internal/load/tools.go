package load

import (
	"encoding/csv"
	"math"
	"regexp"
	"strconv"
	"strings"
)

const number = `(\d+(?:\.\d+)?(?:e[+-]?\d+)?)`

var (
	wrkRequests = regexp.MustCompile(`(?m)^\s*(\d+) requests in `)
	wrkRate     = regexp.MustCompile(`(?m)^Requests/sec:\s+` + number)
	wrkAverage  = regexp.MustCompile(`(?m)^\s*Latency\s+` + number + `(us|ms|s|m|h)\s+\S+\s+` + number +
		`(us|ms|s|m|h)\s`)
	wrkPercentile = regexp.MustCompile(`(?m)^\s*` + number + `%\s+` + number + `(us|ms|s|m|h)\s*$`)
	wrkBadStatus  = regexp.MustCompile(`(?m)^\s*Non-2xx or 3xx responses: (\d+)`)
	wrkSockets    = regexp.MustCompile(`(?m)^\s*Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`)
)

// wrk reads wrk and wrk2, with --latency or without.
func wrk(text string, r *Result) bool {
	if !wrkRequests.MatchString(text) || !wrkRate.MatchString(text) {
		return false
	}
	r.Requests, r.Throughput = last(text, wrkRequests), last(text, wrkRate)
	if match := wrkAverage.FindStringSubmatch(text); match != nil {
		r.Mean, r.Max = parse(match[1])*seconds[match[2]], parse(match[3])*seconds[match[4]]
	}
	r.percentiles(text, wrkPercentile, "")
	r.fail(last(text, wrkBadStatus), "non-2xx or 3xx responses")
	if match := wrkSockets.FindStringSubmatch(text); match != nil {
		r.fail(parse(match[1]), "connect errors")
		r.fail(parse(match[2]), "read errors")
		r.fail(parse(match[3]), "write errors")
		r.fail(parse(match[4]), "time-outs")
	}
	return true
}

var (
	abComplete   = regexp.MustCompile(`(?m)^Complete requests:\s+(\d+)`)
	abFailed     = regexp.MustCompile(`(?m)^Failed requests:\s+(\d+)`)
	abKinds      = regexp.MustCompile(`(?m)^\s+\(Connect: (\d+), Receive: (\d+), Length: (\d+), Exceptions: (\d+)\)`)
	abBadStatus  = regexp.MustCompile(`(?m)^Non-2xx responses:\s+(\d+)`)
	abRate       = regexp.MustCompile(`(?m)^Requests per second:\s+` + number)
	abMean       = regexp.MustCompile(`(?m)^Time per request:\s+` + number + ` \[ms\] \(mean\)`)
	abPercentile = regexp.MustCompile(`(?m)^\s*(\d+)%\s+(\d+)\s*$`)
	abLongest    = regexp.MustCompile(`(?m)^\s*100%\s+(\d+) \(longest request\)`)
)

// abLeast is from how many seconds on a percentile of ab tells: it rounds them to milliseconds. Its
// mean it does not round.
const abLeast = 20e-3

// ab reads ApacheBench. Answers of another length than the first one it calls failed: a page that
// tells the time is none.
func ab(text string, r *Result) bool {
	if !abComplete.MatchString(text) || !abRate.MatchString(text) {
		return false
	}
	r.Requests, r.Throughput, r.Mean = last(text, abComplete), last(text, abRate), last(text, abMean)/1e3
	if match := abKinds.FindStringSubmatch(text); match != nil {
		r.fail(parse(match[1]), "connect errors")
		r.fail(parse(match[2]), "receive errors")
		r.fail(parse(match[4]), "exceptions")
	} else {
		r.fail(last(text, abFailed), "failed requests")
	}
	r.fail(last(text, abBadStatus), "non-2xx responses")
	for _, match := range abPercentile.FindAllStringSubmatch(text, -1) {
		if value := parse(match[2]) / 1e3; value >= abLeast {
			r.Percentiles[parse(match[1])] = value
		}
	}
	r.Max = last(text, abLongest) / 1e3
	return true
}

var (
	redisDone  = regexp.MustCompile(`(?m)^\s*(\d+) requests completed in ` + number + ` seconds`)
	redisRate  = regexp.MustCompile(`throughput summary:\s+` + number + ` requests per second`)
	redisQuiet = regexp.MustCompile(`(?m)(?:^|\r)[^\r\n:]+: ` + number + ` requests per second(?:, p50=` + number +
		` msec)?`)
	redisHeadings  = regexp.MustCompile(`(?m)^\s*avg\s+min\s+p50\s+p95\s+p99\s+max\s*\n\s*([\d. ]+)$`)
	redisIntervals = regexp.MustCompile(`(?m)^` + number + `% <= ` + number + `() milliseconds`)
)

// redis reads redis-benchmark and valkey-benchmark, of one test or several. Percentiles of several
// tests cannot be put together, and are left out.
func redis(text string, r *Result) bool {
	rates := redisRate.FindAllStringSubmatch(text, -1)
	if len(rates) == 0 {
		return redisBrief(text, r)
	}
	took := 0.0
	for _, match := range redisDone.FindAllStringSubmatch(text, -1) {
		r.Requests += parse(match[1])
	}
	tables := redisHeadings.FindAllStringSubmatch(text, -1)
	for i, match := range rates {
		took += 1 / parse(match[1])
		if i < len(tables) {
			fields := strings.Fields(tables[i][1])
			if len(fields) == 6 {
				r.Mean += parse(fields[0]) / 1e3 / float64(len(rates))
				r.Max = max(r.Max, parse(fields[5])/1e3)
			}
		}
	}
	if r.Throughput = float64(len(rates)) / took; len(rates) > 1 {
		return true
	}
	if len(tables) == 1 {
		if fields := strings.Fields(tables[0][1]); len(fields) == 6 {
			r.Percentiles[50], r.Percentiles[95] = parse(fields[2])/1e3, parse(fields[3])/1e3
			r.Percentiles[99] = parse(fields[4]) / 1e3
		}
		return true
	}
	r.percentiles(text, redisIntervals, "ms") // a version before 6.2
	return true
}

// redisBrief reads what -q and --csv print, which does not say how many requests there were.
func redisBrief(text string, r *Result) bool {
	if _, table, found := strings.Cut(text, redisColumns); found {
		return redisTable(table, r)
	}
	rates := redisQuiet.FindAllStringSubmatch(text, -1)
	took := 0.0
	for _, match := range rates {
		took += 1 / parse(match[1])
	}
	if len(rates) == 0 {
		return false
	}
	r.Throughput = float64(len(rates)) / took
	if len(rates) == 1 && rates[0][2] != "" {
		r.Percentiles[50] = parse(rates[0][2]) / 1e3
	}
	return true
}

// redisColumns are the first words of what --csv prints, since redis 6.2.
const redisColumns = `"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms",` +
	`"p99_latency_ms","max_latency_ms"`

// redisTable reads the rows of --csv, one a test. It does not say how many requests there were.
func redisTable(table string, r *Result) bool {
	rows, err := csv.NewReader(strings.NewReader(strings.TrimSpace(table))).ReadAll()
	if err != nil || len(rows) == 0 || len(rows[0]) != strings.Count(redisColumns, ",")+1 {
		return false
	}
	took := 0.0
	for _, row := range rows {
		took += 1 / parse(row[1])
		r.Mean += parse(row[2]) / 1e3 / float64(len(rows))
		r.Max = max(r.Max, parse(row[7])/1e3)
	}
	if r.Throughput = float64(len(rows)) / took; len(rows) == 1 {
		r.Percentiles[50], r.Percentiles[95] = parse(rows[0][4])/1e3, parse(rows[0][5])/1e3
		r.Percentiles[99] = parse(rows[0][6]) / 1e3
	}
	return true
}

var (
	pgDone   = regexp.MustCompile(`(?m)^number of transactions actually processed: (\d+)`)
	pgFailed = regexp.MustCompile(`(?m)^number of failed transactions: (\d+)`)
	pgMean   = regexp.MustCompile(`(?m)^latency average = ` + number + ` ms`)
	pgRate   = regexp.MustCompile(`(?m)^tps = ` + number)
	pgErrors = regexp.MustCompile(`(?m)^pgbench: error: client (\d+) .*aborted`)
)

// pgbench reads pgbench; the rate without connecting is the last one that it prints.
func pgbench(text string, r *Result) bool {
	if !pgDone.MatchString(text) {
		return false
	}
	r.Requests, r.Throughput, r.Mean = last(text, pgDone), last(text, pgRate), last(text, pgMean)/1e3
	r.fail(last(text, pgFailed), "failed transactions")
	r.fail(float64(len(pgErrors.FindAllString(text, -1))), "clients aborted")
	return true
}

// seconds of the units that tools print.
var seconds = map[string]float64{"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1,
	"m": 60, "h": 3600}

// percentiles adds what lines of a percent, a number and perhaps a unit say.
func (r *Result) percentiles(text string, pattern *regexp.Regexp, usual string) {
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		unit := match[3]
		if unit == "" {
			unit = usual
		}
		r.Percentiles[parse(match[1])] = parse(match[2]) * seconds[unit]
	}
}

// last is the number of the last match, 0 for none.
func last(text string, pattern *regexp.Regexp) float64 {
	matches := pattern.FindAllStringSubmatch(text, -1)
	if len(matches) == 0 {
		return 0
	}
	return parse(matches[len(matches)-1][1])
}

// parse reads a number that a pattern let through; one too large becomes no number that is
// believed.
func parse(text string) float64 {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return value
}
