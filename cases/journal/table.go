package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// result is what is looked at of `culprit try`'s result.json.
type result struct {
	Effects []effect `json:"effects"`
	Trials  []trial  `json:"trials"`

	folder string
}

type effect struct {
	Factor, Level, Metric, Verdict string
	Ratio, Low, High               *float64
}

type trial struct {
	Order  int
	Kind   string
	Levels map[string]string
	Start  string
	Valid  bool
	Why    string
	Stdout string
}

func readResult(folder string) (*result, error) {
	text, err := os.ReadFile(filepath.Join(folder, "result.json"))
	if err != nil {
		return nil, err
	}
	r := &result{folder: folder}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("read %s: %w", folder, err)
	}
	return r, nil
}

// of is the answer for one variant and program; nil for the baseline.
func (r *result) of(v variant, program string) *effect {
	for i, e := range r.Effects {
		if e.Factor == v.factor && e.Level == v.level && e.Metric == program {
			return &r.Effects[i]
		}
	}
	return nil
}

func (r *result) is(factor, level, program, verdict string) bool {
	e := r.of(variant{factor: factor, level: level}, program)
	return e != nil && e.Verdict == verdict
}

// measured collects what the trials that count printed, by variant.
func (r *result) measured(variants []variant) ([][]counted, error) {
	found := make([][]counted, len(variants))
	for _, t := range r.Trials {
		if t.Kind != "measure" || !t.Valid || t.Why != "" {
			continue
		}
		programs, err := readCounted(filepath.Join(r.folder, t.Stdout))
		if err != nil {
			return nil, err
		}
		at := of(variants, t.Levels)
		found[at] = append(found[at], programs...)
	}
	return found, nil
}

// printTables prints a table for each program, as the published one.
func printTables(out io.Writer, r *result, variants []variant) error {
	found, err := r.measured(variants)
	if err != nil {
		return err
	}
	for _, program := range programNames {
		fmt.Fprintf(out, "\n%s\n  %-18s %-23s %-10s %-26s %8s   %s\n", program, "variant", "lines over 10 ms",
			"published", "stalls, a minute", "longest", "time stalled, against ext4 as it is")
		var open, better, worse []string
		for i, v := range variants {
			printRow(out, v, programOf(found[i], program), r.of(v, program))
			switch e := r.of(v, program); {
			case e == nil:
			case e.Verdict == "better":
				better = append(better, v.label)
			case e.Verdict == "worse":
				worse = append(worse, v.label)
			default:
				open = append(open, v.label)
			}
		}
		for _, group := range []struct {
			text   string
			labels []string
		}{{"stalls less than ext4 as it is", better}, {"stalls more", worse},
			{"cannot be told apart from ext4 as it is", open}} {
			if len(group.labels) > 0 {
				fmt.Fprintf(out, "  %s: %s\n", group.text, strings.Join(group.labels, ", "))
			}
		}
	}
	fmt.Fprintln(out, "\nIntervals hold with 95 %: of shares by resampling trials, of stalls as counts (Poisson), of "+
		"ratios for all\ncomparisons together. A published share is of calls over that author's limit, on another disk.")
	return nil
}

func programOf(all []counted, program string) []counted {
	return slices.DeleteFunc(slices.Clone(all), func(c counted) bool { return c.Program != program })
}

func printRow(out io.Writer, v variant, trials []counted, e *effect) {
	if len(trials) == 0 {
		fmt.Fprintf(out, "  %-18s no trial counts\n", v.label)
		return
	}
	sum, longest := total(trials), 0.0
	for _, t := range trials {
		longest = max(longest, t.LongestMs)
	}
	shareLow, shareHigh := resampled(trials)
	low, high := poisson(sum.Stalls)
	minutes := float64(sum.Lines) / (threads * linesPerSecond) / 60
	against := "–"
	if e != nil {
		against = e.Verdict
		if e.Ratio != nil && e.Low != nil && e.High != nil {
			against = fmt.Sprintf("%.2g× (%.2g× to %.2g×) %s", *e.Ratio, *e.Low, *e.High, e.Verdict)
		}
	}
	fmt.Fprintf(out, "  %-18s %-23s %-10s %-26s %5.0f ms   %s\n", v.label,
		fmt.Sprintf("%.3g %% (%.2g to %.2g)", share(sum), shareLow, shareHigh), v.published,
		fmt.Sprintf("%d, %.0f (%.0f to %.0f)", sum.Stalls, float64(sum.Stalls)/minutes, low/minutes, high/minutes), longest,
		against)
}

// threads and their rate, as in the programs.
const threads, linesPerSecond = 5, 1000

func total(trials []counted) counted {
	var sum counted
	for _, t := range trials {
		sum.Lines += t.Lines
		sum.Over += t.Over
		sum.Stalls += t.Stalls
	}
	return sum
}

func share(c counted) float64 { return 100 * float64(c.Over) / float64(c.Lines) }

// resampled is the interval of the share of slow lines: trials are resampled, since lines are not
// independent.
func resampled(trials []counted) (low, high float64) {
	const times = 2000
	random := rand.New(rand.NewPCG(1, 1))
	shares := make([]float64, times)
	for i := range shares {
		drawn := make([]counted, len(trials))
		for k := range drawn {
			drawn[k] = trials[random.IntN(len(trials))]
		}
		shares[i] = share(total(drawn))
	}
	slices.Sort(shares)
	return shares[times/40], shares[times-times/40-1]
}

// poisson is the exact 95 % interval of a count's expectation (Garwood 1936), by bisection.
func poisson(n int) (low, high float64) {
	// atMost is the chance of at most k events where so many are expected.
	atMost := func(k int, expected float64) float64 {
		sum, term := 0.0, math.Exp(-expected)
		for i := range k + 1 {
			sum += term
			term *= expected / float64(i+1)
		}
		return sum
	}
	solve := func(k int, chance float64) float64 {
		from, to := 0.0, 20+4*float64(n)
		for range 60 {
			if middle := (from + to) / 2; atMost(k, middle) > chance {
				from = middle
			} else {
				to = middle
			}
		}
		return from
	}
	if n > 0 {
		low = solve(n-1, 0.975)
	}
	return low, solve(n, 0.025)
}
