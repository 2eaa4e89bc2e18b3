package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"culprit/internal/record"
)

// costFlags are about what recording itself costs, and what is left of it when it is killed.
func (o *recordOptions) costFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.selfCheck, "self-check", false,
		"detach the recorder in random blocks and say what it costs the target")
	flags.StringVar(&o.checkRate, "check-rate", "",
		"with --self-check: the rate is the number that the command prints here (a regular expression with a group)")
	flags.StringVar(&o.maxCost, "max-cost", "",
		"give up probes, and watch requests in slices of time, when recording costs more than this, such as 1%")
	flags.StringVar(&o.salvage, "salvage", "", "make one recording of the folder FILE.parts that a killed one left")
}

// checkCosts resolves what was typed about the recorder's own cost.
func (o *recordOptions) checkCosts() (err error) {
	switch {
	case o.checkRate != "" && !o.selfCheck:
		return fmt.Errorf("--check-rate goes with --self-check")
	case o.checkRate != "" && len(o.words) == 0:
		return fmt.Errorf("--check-rate reads what a command prints; give the command after --")
	case o.selfCheck && o.duration < record.CheckLeast:
		return fmt.Errorf("--self-check needs -d %v or more: it compares blocks with and without the recorder",
			record.CheckLeast)
	case o.selfCheck && o.maxCost != "":
		return fmt.Errorf("give only one of --self-check and --max-cost: what is thinned on the way has no one cost")
	}
	if o.checkRate != "" {
		_, err = record.NewPrinted(io.Discard, o.checkRate)
	}
	if o.maxCost != "" && err == nil {
		o.budget, err = parsePercent(o.maxCost)
	}
	return err
}

// parsePercent reads "1%" or "1" as 0.01.
func parsePercent(text string) (float64, error) {
	value, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(value > 0 && value <= 100) {
		return 0, fmt.Errorf("--max-cost %q is no share of the CPU; give one between 0%% and 100%% such as 1%%", text)
	}
	return value / 100, nil
}

// runSalvage joins the parts of a killed recording.
func runSalvage(w world, o recordOptions) error {
	if o.out == "" {
		o.out = strings.TrimSuffix(strings.TrimSuffix(o.salvage, "/"), record.PartsSuffix)
	}
	if err := checkRecording(o.out, o.force); err != nil {
		return err
	}
	parts, err := record.Salvage(o.salvage, o.out)
	if err != nil {
		return fmt.Errorf("salvage: %w", err)
	}
	noun := "parts"
	if parts == 1 {
		noun = "part"
	}
	fmt.Fprintf(w.stderr, "culprit: %s: made whole from %d %s\n", o.out, parts, noun)
	return nil
}

// newRun plans the recording.
func (o *recordOptions) newRun(recorder *record.Recorder, out string) (*record.Run, error) {
	run := &record.Run{Recorder: recorder, Target: o.target, Path: out, Duration: o.duration, SelfCheck: o.selfCheck,
		MaxCost: o.budget, Hz: o.Hz}
	if o.checkRate == "" {
		return run, nil
	}
	var err error
	run.Printed, err = record.NewPrinted(os.Stdout, o.checkRate)
	return run, err
}
