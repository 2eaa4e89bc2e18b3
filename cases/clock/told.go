package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"culprit/cases/child"
)

// measured is what a host told of itself on its console: the store under load without a recorder.
type measured struct {
	source string             // the clock source in force
	values map[string]float64 // requests, errors, mean_us, p50_us, p99_us, busy_us
	tried  string             // what `culprit try` said there, where it flipped
}

// Marks on a host's console.
const (
	aloneMark = "---alone "
	triedMark = "---tried\n"
)

// readConsole reads what a host printed. A load with failed requests measures nothing.
func readConsole(text string) (measured, error) {
	text, tried, _ := strings.Cut(text, triedMark)
	_, rest, found := strings.Cut(text, aloneMark)
	line, _, _ := strings.Cut(rest, "\n")
	words := strings.Fields(line)
	if !found || len(words) < 2 || len(words)%2 != 0 || words[0] != "source" {
		return measured{}, fmt.Errorf("it did not measure the store; it printed %q", text)
	}
	out := measured{source: words[1], tried: tried, values: map[string]float64{}}
	for i := 2; i < len(words); i += 2 {
		value, err := strconv.ParseFloat(words[i+1], 64)
		if err != nil {
			return measured{}, fmt.Errorf("read %s of the load: %w", words[i], err)
		}
		out.values[words[i]] = value
	}
	if out.values["requests"] <= 0 || out.values["errors"] != 0 || out.values["busy_us"] <= 0 {
		return measured{}, fmt.Errorf("the load failed: %s", line)
	}
	return out, nil
}

// ofRequest is the CPU time of one request, in microseconds.
func (m measured) ofRequest() float64 { return m.values["busy_us"] / m.values["requests"] }

// latency is the mean of a request, in microseconds.
func (m measured) latency() float64 { return m.values["mean_us"] }

// readDocument reads a JSON document of culprit's.
func readDocument(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// firstSuspect is that of a comparison in which B is worse, "" where there is none.
func firstSuspect(path string) (string, error) {
	var found struct {
		Outcome  string `json:"outcome"`
		Suspects []struct {
			Cause string `json:"cause"`
		} `json:"suspects"`
	}
	if err := readDocument(path, &found); err != nil {
		return "", err
	}
	if found.Outcome != "worse" || len(found.Suspects) == 0 {
		return "", nil
	}
	return found.Suspects[0].Cause, nil
}

// proof is what the slow host found when it flipped its clock source under the running service.
type proof struct {
	cpu, latency effect // of tsc, against the slow source
}

// readProof reads the proof out of the folder of what the slow host handed out.
func readProof(folder string) (proof, error) {
	var found result
	if err := readDocument(filepath.Join(folder, "try.json"), &found); err != nil {
		return proof{}, err
	}
	var out proof
	for _, each := range found.Effects {
		switch each.Metric {
		case "cpu_per_call":
			out.cpu = each
		case "latency":
			out.latency = each
		}
	}
	if !found.Restored || out.cpu.Ratio <= 0 {
		return proof{}, fmt.Errorf("the slow host's experiment: clock source restored %v, effects %+v", found.Restored,
			found.Effects)
	}
	return out, nil
}

// check holds the proof against what is known: tsc takes CPU time away.
func (p proof) check() error {
	if p.cpu.Verdict != "better" {
		return fmt.Errorf("tsc in place of the slow clock: CPU time of a call %.2f× (%.2f× to %.2f×), %s; known to be better",
			p.cpu.Ratio, p.cpu.Low, p.cpu.High, p.cpu.Verdict)
	}
	return nil
}

// timeRead matches the functions that read the time: of the JVM, of the C library and vDSO, and of
// the kernel.
var timeRead = regexp.MustCompile(`javaTimeMillis|javaTimeNanos|clock_gettime|gettimeofday`)

// share is the part of the samples in folded stacks that are below a function which reads the time.
func share(folded string) (float64, error) {
	var below, all float64
	for line := range strings.Lines(folded) {
		line = strings.TrimSpace(line)
		at := strings.LastIndexByte(line, ' ')
		samples, err := strconv.ParseFloat(line[at+1:], 64)
		if at < 0 || err != nil {
			return 0, fmt.Errorf("read folded stacks: %.80q", line)
		}
		all += samples
		if timeRead.MatchString(line[:at]) {
			below += samples
		}
	}
	if all == 0 {
		return 0, errors.New("the recording has no samples")
	}
	return below / all, nil
}

// clockShares are those parts of the CPU time on each host of a folder, all recordings together.
func clockShares(ctx context.Context, culprit, taken string) (map[string]float64, error) {
	shares := map[string]float64{}
	for _, each := range []host{quick, slow} {
		var folded strings.Builder
		for _, file := range recorded(taken, each) {
			export := child.Command(ctx, culprit, "export", "--as", "folded", file)
			export.Stdout = &folded
			if err := export.Run(); err != nil {
				return nil, fmt.Errorf("export a recording of %s: %w", each.name, err)
			}
		}
		part, err := share(folded.String())
		if err != nil {
			return nil, fmt.Errorf("host %s: %w", each.name, err)
		}
		shares[each.name] = part
	}
	return shares, nil
}

// readCost is what one read of the time costs on a host, in nanoseconds.
func readCost(taken string) (float64, error) {
	var found struct {
		Findings []struct {
			Group string  `json:"group"`
			Name  string  `json:"name"`
			Ns    float64 `json:"ns"`
		} `json:"findings"`
	}
	if err := readDocument(filepath.Join(taken, "bench.json"), &found); err != nil {
		return 0, err
	}
	for _, each := range found.Findings {
		if strings.TrimPrefix(each.Name, each.Group+".") == "vdso" && each.Ns > 0 {
			return each.Ns, nil
		}
	}
	return 0, fmt.Errorf("%s has no cost of a time read", taken)
}

// figures are those of the two hosts, beside which the published ones stand.
type figures struct {
	quick, slow         measured
	quickRead, slowRead float64            // nanoseconds
	shares              map[string]float64 // of the CPU time that is spent below time reads
	proof               proof
}

// table prints the figures.
func (f figures) table(out io.Writer) {
	line := func(what, here, published string) { fmt.Fprintf(out, "%-44s  %-32s  %s\n", what, here, published) }
	grew := func(of func(measured) float64) string {
		return fmt.Sprintf("%.0f µs → %.0f µs: %+.0f %%", of(f.quick), of(f.slow), 100*(of(f.slow)/of(f.quick)-1))
	}
	flipped := func(of effect) string {
		if of.Ratio <= 0 {
			return "not measured"
		}
		return fmt.Sprintf("%+.0f %% (%+.0f to %+.0f): %s", 100*(of.Ratio-1), 100*(of.Low-1), 100*(of.High-1), of.Verdict)
	}
	fmt.Fprintln(out)
	line("", "here", "published")
	line("one read of the time, "+f.quick.source+" → "+f.slow.source,
		fmt.Sprintf("%.0f ns → %.0f ns: %.1f×", f.quickRead, f.slowRead, f.slowRead/f.quickRead),
		"130 ns → 680 ns: 5×")
	line("CPU time below time reads, on the slow host", fmt.Sprintf("%.1f %%", 100*f.shares[slow.name]), "30.14 %")
	line("… on the quick one", fmt.Sprintf("%.1f %%", 100*f.shares[quick.name]), "1.6 %, after the flip")
	line("CPU time of a request, before the recorder", grew(measured.ofRequest), "over +30 %")
	line("mean write latency, before the recorder", grew(measured.latency), "over +30 %")
	line("tsc flipped in on the slow host: CPU time", flipped(f.proof.cpu), "")
	line("… mean write latency", flipped(f.proof.latency), "−43 %")
}
