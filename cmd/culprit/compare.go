package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"culprit/internal/compare/units"
	"culprit/internal/explain"
	"culprit/internal/investigate"
	"culprit/internal/report"
)

// compareOptions is what may be typed for compare.
type compareOptions struct {
	a, b     []string
	windows  []string
	per      string
	metric   string
	smallest string
	failOver string
	json     string
	html     string
	force    bool
	agentDir string
	service  string
}

func compareVerb(w world) *cobra.Command {
	var o compareOptions
	command := &cobra.Command{
		Use:   "compare A.culprit B.culprit | --a FILE… --b FILE…",
		Short: "What differs between two recordings or two groups of them",
		Long: `Sets two groups of recordings side by side: every signal in one ranking, in seconds of the
metric and as a share of its change, each second counted once. Intervals come from the spread
between the recordings of a group, corrected for looking at many items; with one recording a
side nothing is decided, but for a --metric of requests: that of each second or so of it tells
the spread. FILE@2s..5s is a part of a recording; agent:web@03:00..03:10 are the
windows of the service web that the agent of this host recorded then.

Exit status 1 when B is worse; with --fail-over 5% only when it is worse by more than that.`,
		Example: `  culprit record -o a1.culprit -- sleep 0.1
  culprit record -o a2.culprit -- sleep 0.1
  culprit record -o b1.culprit -- sleep 0.1
  culprit record -o b2.culprit -- sleep 0.1
  culprit compare a1.culprit b1.culprit
  culprit compare --a a1.culprit a2.culprit --b b1.culprit b2.culprit --fail-over 500% --html page.html
  culprit compare a1.culprit@0s..0.05s a1.culprit@0.05s..0.1s`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCompare(cmd.Context(), w, o, args)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.a, "a", nil, "recordings of side A: all words up to the next flag")
	flags.StringArrayVar(&o.b, "b", nil, "recordings of side B")
	flags.StringArrayVar(&o.windows, "window", nil,
		"use only this part of every recording, such as 2s..5s; given twice, the first is A's and the second B's")
	flags.StringVar(&o.per, "per", units.PerAuto,
		"unit of work: auto, run, second, cpu-second, request (as recorded), request=N, request=NA,NB, or request=CALL "+
			"of the system calls counted")
	flags.StringVar(&o.metric, "metric", "auto",
		"what is compared: wall, cpu, auto: what changed more; of requests mean, p50, p99, p99.9 …, or throughput")
	flags.StringVar(&o.smallest, "smallest", "2%", "difference that does not count: A and B are then the same")
	flags.StringVar(&o.failOver, "fail-over", "", "exit 1 only when B is worse by more than this, such as 5%")
	flags.StringVar(&o.json, "json", "", "write the comparison as JSON to this file, - for standard output")
	flags.StringVar(&o.html, "html", "", "write a page with the differential flame graph to this file")
	flags.BoolVarP(&o.force, "force", "f", false, "overwrite the page")
	flags.StringVar(&o.service, "service", "",
		"of windows of a host, as agents record and hubs keep them, this service alone")
	flags.StringVar(&o.agentDir, "agent-dir", "", "folder of the agent whose windows agent:SERVICE@TIME names")
	return command
}

// spreadGroups lets --a and --b take all words up to the next flag, so that a shell's pattern can
// stand there: --a x1 x2 becomes --a x1 --a x2. What stands after -- is left alone, and so are
// other verbs.
func spreadGroups(args []string) []string {
	if len(args) == 0 || args[0] != "compare" && args[0] != "investigate" {
		return args
	}
	spread, group := []string{args[0]}, ""
	for i, word := range args[1:] {
		switch {
		case word == "--":
			return append(spread, args[1+i:]...)
		case word == "--a" || word == "--b":
			group = word
		case strings.HasPrefix(word, "-") && word != "-":
			group = ""
			spread = append(spread, word)
		case group != "":
			spread = append(spread, group+"="+word)
		default:
			spread = append(spread, word)
		}
	}
	return spread
}

func runCompare(ctx context.Context, w world, o compareOptions, words []string) error {
	limits, err := o.check(words)
	if err != nil {
		return err
	}
	a, b, err := o.read(w, words)
	if err != nil {
		return err
	}
	c, err := compareGroups(ctx, a, b, o, limits)
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	if o.html != "" {
		if err := report.ComparisonHTML(o.html, c, report.RequestSide{Title: c.A.Command, Recordings: a.recordings},
			report.RequestSide{Title: c.B.Command, Recordings: b.recordings}); err != nil {
			return err
		}
	}
	if o.json != "-" {
		options := textOptions(w)
		options.Report = o.html
		if err := report.ComparisonText(w.stdout, c, options); err != nil {
			return err
		}
	}
	if o.json != "" {
		if err := writeOut(w, o.json, func(out io.Writer) error { return report.ComparisonJSON(out, c) }); err != nil {
			return err
		}
	}
	if c.Outcome == investigate.Worse && (limits.failOver == nil || c.WorseBy() > 1+*limits.failOver) {
		return errWorse
	}
	return nil
}

// compareLimits are the percentages that were typed, as fractions.
type compareLimits struct {
	smallest float64
	failOver *float64
}

func (o *compareOptions) check(words []string) (compareLimits, error) {
	var limits compareLimits
	grouped := len(o.a)+len(o.b) > 0
	switch {
	case grouped && len(words) > 0:
		return limits, fmt.Errorf("%q stands outside of --a and --b; give every recording to one of them", words[0])
	case grouped && (len(o.a) == 0 || len(o.b) == 0):
		return limits, fmt.Errorf("recordings of one side only; give --a FILE… and --b FILE…")
	case !grouped && len(words) != 2:
		return limits, fmt.Errorf("give two recordings, A and B, or groups with --a FILE… --b FILE…; not %d", len(words))
	case len(o.windows) > 2:
		return limits, fmt.Errorf("--window is given %d times; once for both sides, or first for A and then for B",
			len(o.windows))
	}
	var err error
	if limits.smallest, err = fraction("--smallest", o.smallest); err != nil {
		return limits, err
	}
	if o.failOver != "" {
		over, err := fraction("--fail-over", o.failOver)
		if err != nil {
			return limits, err
		}
		if (len(o.a) < 2 || len(o.b) < 2) && !explain.IsOfRequests(o.metric) { // whose parts have a spread
			return limits, fmt.Errorf("--fail-over needs two or more recordings a side: with one there is no spread, " +
				"so that it could never fail")
		}
		limits.failOver = &over
	}
	if o.json != "" && o.json != "-" {
		if err := checkOutput(o.json, true); err != nil {
			return limits, err
		}
	}
	if o.html != "" {
		return limits, checkOutput(o.html, o.force)
	}
	return limits, nil
}

// fraction reads "5%" or "0.05".
func fraction(flag, text string) (float64, error) {
	number, hundredths := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if hundredths {
		value /= 100
	}
	if err == nil && !hundredths && value >= 1 { // a gate in CI that was meant for 5 % must not become one for 500 %
		return 0, fmt.Errorf("%s %s: write it with its unit, %s%% or %g%%", flag, text, text, value*100)
	}
	if err != nil || !(value >= 0) || value > 1000 {
		return 0, fmt.Errorf("%s %q: give a part such as 5%%", flag, text)
	}
	return value, nil
}
