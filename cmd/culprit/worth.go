package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"culprit/internal/report"
	"culprit/internal/try"
	"culprit/internal/worth"
)

// worthFlags is what may be typed for worth.
type worthFlags struct {
	worth.Options
	loads string
	json  string
	html  string
}

func worthVerb(w world) *cobra.Command {
	var f worthFlags
	command := &cobra.Command{
		Use:   "worth EXPERIMENT",
		Short: "Is it worth it: break-even load, savings, scaling law",
		Long: `Reads an experiment of 'culprit try' (its case directory or its result.json) in which a numeric
factor, the load, was swept over levels. With another factor of two levels, all combinations in each
block (--design factorial), it says at which load the change breaks even, with an interval, and
what it saves at the loads that really occur, on a host and over a fleet. Of a throughput, or of the
wall time of a job that is the same with each number of workers (threads, jobs, cpus …), it says how
far more workers help, by the Universal Scalability Law.

The loads that occur and the fleet: --loads 0:70%,1000:30% --hosts 4000 --per-core-hour 0.04.
Nothing is run. Exit status: 0 done, 1 the change costs at the loads that occur, 2 error.`,
		Example: `  culprit try --vary n=9,99,999 --vary v=1,9 --design factorial --trials 5 --case s -- 'seq {n} | gzip -{v}'
  culprit worth s
  culprit worth s --metric wall --json -`,
		Args: oneWord,
		RunE: func(cmd *cobra.Command, args []string) error { return runWorth(cmd.Context(), w, args[0], f) },
	}
	flags := command.Flags()
	flags.StringVar(&f.Load, "load", "", "the factor that was swept (default: the numeric one)")
	flags.StringVar(&f.Change, "change", "",
		"the factor to weigh: its first level is without the change (default: the one with two levels)")
	flags.StringVar(&f.Metric, "metric", "",
		"metric (default: cores, CPU time by wall time, for a change; else the first one)")
	flags.StringVar(&f.loads, "loads", "",
		"loads that occur, with their parts of the time: 0:70%,1000:30% (default: all that were tried, alike)")
	flags.Float64Var(&f.Hosts, "hosts", 0, "hosts of the fleet")
	flags.Float64Var(&f.PerCoreHour, "per-core-hour", 0, "price of a core for an hour")
	flags.Float64Var(&f.WattsPerCore, "watts-per-core", 0, "power of a busy core")
	flags.Float64Var(&f.PerKilowattHour, "per-kwh", 0, "price of a kilowatt-hour")
	flags.StringVar(&f.json, "json", "", "write the answer as JSON to this file, - for standard output")
	flags.StringVar(&f.html, "html", "", "write the experiment's page with this answer to this file")
	return command
}

func runWorth(ctx context.Context, w world, path string, f worthFlags) error {
	loads, err := parseLoads(f.loads)
	if err != nil {
		return err
	}
	f.Loads = loads
	for _, out := range []string{f.json, f.html} {
		if out == "" || out == "-" {
			continue
		}
		if err := checkOutput(out, true); err != nil {
			return err
		}
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, try.ResultName)
	}
	text, result, err := readResult(ctx, path)
	if err != nil {
		return err
	}
	experiment, err := worth.Read(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	answer, err := worth.Weigh(experiment, f.Options)
	if err != nil {
		return fmt.Errorf("weigh %s: %w", path, err)
	}
	if f.json != "-" {
		if err := report.Worth(w.stdout, answer, textOptions(w)); err != nil {
			return err
		}
	}
	if f.json != "" {
		if err := writeJSON(w, f.json, answer); err != nil {
			return err
		}
	}
	if f.html != "" {
		if err := report.ExperimentHTML(f.html, result, answer); err != nil {
			return err
		}
	}
	if answer.Saving != nil && answer.Saving.Verdict == worth.Worse {
		return errWorse
	}
	return nil
}

// parseLoads reads LOAD:PART,…; a part may be a percentage or any weight.
func parseLoads(text string) ([]worth.Load, error) {
	var loads []worth.Load
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		load, share, weighted := strings.Cut(part, ":")
		if !weighted {
			share = "1"
		}
		number, err := strconv.ParseFloat(load, 64)
		weight, shareErr := strconv.ParseFloat(strings.TrimSuffix(share, "%"), 64)
		if err != nil || shareErr != nil || !(weight > 0) {
			return nil, fmt.Errorf("load %q: give LOAD:PART, for example --loads 0:70%%,1000:30%%", part)
		}
		loads = append(loads, worth.Load{Load: number, Share: weight})
	}
	return loads, nil
}
