package load

import (
	"regexp"
	"strings"
)

var (
	heyRate       = regexp.MustCompile(`(?m)^\s*Requests/sec:\s+` + number)
	heyAverage    = regexp.MustCompile(`(?m)^\s*Average:\s+` + number + ` secs`)
	heySlowest    = regexp.MustCompile(`(?m)^\s*Slowest:\s+` + number + ` secs`)
	heyPercentile = regexp.MustCompile(`(?m)^\s*` + number + `%%? in ` + number + `() secs`)
	heyStatus     = regexp.MustCompile(`^\s*\[(\d{3})\]\s+(\d+) responses`)
	heyError      = regexp.MustCompile(`^\s*\[(\d+)\]\s+(\S.*)`)

	ghzCount      = regexp.MustCompile(`(?m)^\s*Count:\s+(\d+)\s*$`)
	ghzAverage    = regexp.MustCompile(`(?m)^\s*Average:\s+` + number + ` (ns|us|µs|μs|ms|s|m)\s*$`)
	ghzSlowest    = regexp.MustCompile(`(?m)^\s*Slowest:\s+` + number + ` (ns|us|µs|μs|ms|s|m)\s*$`)
	ghzPercentile = regexp.MustCompile(`(?m)^\s*` + number + ` ?% in ` + number + ` (ns|us|µs|μs|ms|s|m)\s*$`)
	ghzStatus     = regexp.MustCompile(`^\s*\[(\w+)\]\s+(\d+) responses`)
)

// heyLeast is from how many seconds on a latency of hey tells: it rounds them to 0.1 ms.
const heyLeast = 2e-3

// hey reads hey's summary. What it calls errors got no answer.
func hey(text string, r *Result) bool {
	if !heyRate.MatchString(text) || !strings.Contains(text, " secs") {
		return false
	}
	r.Throughput, r.Mean, r.Max = last(text, heyRate), last(text, heyAverage), last(text, heySlowest)
	r.percentiles(text, heyPercentile, "s")
	r.Least = heyLeast
	for _, line := range section(text, "Status code distribution:") {
		if match := heyStatus.FindStringSubmatch(line); match != nil {
			r.Requests += parse(match[2])
			if match[1] >= "400" {
				r.fail(parse(match[2]), "responses of status "+match[1])
			}
		}
	}
	for _, line := range section(text, "Error distribution:") {
		if match := heyError.FindStringSubmatch(line); match != nil {
			r.Requests += parse(match[1])
			r.fail(parse(match[1]), match[2])
		}
	}
	return true
}

// ghz reads ghz's summary, the format that it prints unless told otherwise.
func ghz(text string, r *Result) bool {
	if !ghzCount.MatchString(text) || !heyRate.MatchString(text) {
		return false
	}
	r.Requests, r.Throughput = last(text, ghzCount), last(text, heyRate)
	if match := ghzAverage.FindStringSubmatch(text); match != nil {
		r.Mean = parse(match[1]) * seconds[match[2]]
	}
	if match := ghzSlowest.FindStringSubmatch(text); match != nil {
		r.Max = parse(match[1]) * seconds[match[2]]
	}
	r.percentiles(text, ghzPercentile, "")
	for _, line := range section(text, "Status code distribution:") {
		if match := ghzStatus.FindStringSubmatch(line); match != nil && match[1] != "OK" {
			r.fail(parse(match[2]), "responses of status "+match[1])
		}
	}
	return true
}

// section are the lines behind a heading, up to the next blank one.
func section(text, heading string) []string {
	_, after, found := strings.Cut(text, heading)
	if !found {
		return nil
	}
	after, _, _ = strings.Cut(strings.TrimLeft(after, "\r\n"), "\n\n")
	return strings.Split(after, "\n")
}

var (
	k6Requests   = regexp.MustCompile(`(?m)^\s*http_reqs\.*: (\d+)\s+` + number + `/s`)
	k6Iterations = regexp.MustCompile(`(?m)^\s*iterations\.*: (\d+)\s+` + number + `/s`)
	k6Duration   = regexp.MustCompile(`(?m)^\s*(?:http|grpc)_req_duration\.*: (.*)$`)
	k6Value      = regexp.MustCompile(`(avg|med|max|p\(` + number + `\))=((?:\d+(?:\.\d+)?(?:ns|us|µs|μs|ms|h|m|s))+)`)
	k6Part       = regexp.MustCompile(number + `(ns|us|µs|μs|ms|h|m|s)`)
	k6Failed     = regexp.MustCompile(`(?m)^\s*http_req_failed\.*: ` + number + `%\s+(?:✓ (\d+)|(\d+) out of)`)
)

// k6 reads the summary at the end of a test, of before version 1 and after. Without requests over
// HTTP the iterations are counted.
func k6(text string, r *Result) bool {
	match := k6Requests.FindStringSubmatch(text)
	if match == nil {
		if match = k6Iterations.FindStringSubmatch(text); match == nil {
			return false
		}
	}
	r.Requests, r.Throughput = parse(match[1]), parse(match[2])
	if line := k6Duration.FindStringSubmatch(text); line != nil {
		for _, one := range k6Value.FindAllStringSubmatch(line[1], -1) {
			value := 0.0
			for _, part := range k6Part.FindAllStringSubmatch(one[3], -1) { // 1m2.5s
				value += parse(part[1]) * seconds[part[2]]
			}
			switch one[1] {
			case "avg":
				r.Mean = value
			case "med":
				r.Percentiles[50] = value
			case "max":
				r.Max = value
			default:
				r.Percentiles[parse(one[2])] = value
			}
		}
	}
	if failed := k6Failed.FindStringSubmatch(text); failed != nil {
		count := failed[2] + failed[3] // one of them is empty
		r.fail(parse(count), "http_req_failed")
	}
	return true
}
