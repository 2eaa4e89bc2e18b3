package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/client"
	"culprit/internal/report"
	"culprit/internal/stat"
)

// fleetFlags is what may be typed for the questions of fleet.
type fleetFlags struct {
	hubFlags
	json                          string
	effect, effectLow, effectHigh float64
	askAgents                     bool
	typed                         client.Typed
}

func fleetVerb(w world) *cobra.Command {
	command := &cobra.Command{
		Use:   "fleet",
		Short: "Ask the windows of many hosts: bands, versions, weeks, facts, shares",
		Long: `Asks what agents ('culprit agent') recorded on many hosts, in the store of a hub ('culprit-hub').
The unit is a host: a minute more of the same host is no further proof. Each answer names hosts
to look at, with the commands that prove it there.

Where the windows are: --store DIR, or --hub URL --token-file FILE. With --store clickhouse://…
the rows are asked that a hub writes to a cluster, beside that hub.`,
		Example: "  culprit fleet --help",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	command.AddCommand(
		fleetQuestion(w, ask.Services, "Which services there are windows of"),
		fleetQuestion(w, ask.Hosts, "The hosts of a service: cost, load, version, last window"),
		fleetQuestion(w, ask.Bands, "Do the hosts form two bands, who is in which, and what goes with it"),
		fleetQuestion(w, ask.Compare, "Compare two groups of hosts, or two times of the same"),
		fleetQuestion(w, ask.Changes, "When did it get slower or faster, and what was rolled out then"),
		fleetQuestion(w, ask.Facts, "Which settings, versions and labels go with the metric"),
		fleetQuestion(w, ask.Top, "What the time of the whole fleet goes to"),
		fleetQuestion(w, ask.Worth, "What a proven effect would save over the fleet"),
		fleetFetch(w),
	)
	return command
}

// fleetExamples need a store, so unlike other verbs' they are not run as tests; those of
// cmd/culprit-hub ask one.
var fleetExamples = map[string]string{
	ask.Services: "  culprit fleet services --store /var/lib/culprit-hub",
	ask.Hosts:    "  culprit fleet hosts web --store /var/lib/culprit-hub --since 1h",
	ask.Bands:    "  culprit fleet bands web --store /var/lib/culprit-hub --since 24h",
	ask.Compare:  "  culprit fleet compare web --store /var/lib/culprit-hub --a version=1.0 --b version=1.1",
	ask.Changes:  "  culprit fleet changes web --store /var/lib/culprit-hub --since 30d",
	ask.Facts:    "  culprit fleet facts web --store /var/lib/culprit-hub --within zone",
	ask.Top:      "  culprit fleet top web --store /var/lib/culprit-hub --per-core-hour 0.04",
	ask.Worth: "  culprit fleet worth web --store /var/lib/culprit-hub --effect=-0.2" +
		" --effect-low=-0.24 --effect-high=-0.16",
}

func fleetQuestion(w world, question, short string) *cobra.Command {
	f := &fleetFlags{typed: client.Typed{Question: question}}
	command := &cobra.Command{Use: question + " SERVICE", Short: short, Example: fleetExamples[question],
		Args: oneWord,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.typed.Service = args[0]
			return runFleet(cmd.Context(), w, f)
		}}
	flags := command.Flags()
	f.hubFlags.define(flags, "token-file")
	flags.StringVar(&f.json, "json", "", "write the answer as JSON to this file, - for standard output")
	if question == ask.Services {
		command.Use, command.Args = question, cobra.NoArgs
		command.RunE = func(cmd *cobra.Command, _ []string) error { return runFleet(cmd.Context(), w, f) }
		return command
	}
	flags.StringVar(&f.typed.Since, "since", "",
		"from when: 24h, 30d, or 2026-11-23T03:00 in UTC (default 24h, of changes 30d)")
	flags.StringVar(&f.typed.Until, "until", "", "to when (default now)")
	flags.IntVar(&f.typed.Most, "most", 20, "rows of an answer")
	if question != ask.Changes {
		flags.StringVar(&f.typed.A, "a", "", "hosts: version=1.2,zone!=eu-1a")
	}
	if question != ask.Hosts {
		flags.StringSliceVar(&f.typed.Within, "within", nil,
			"labels that hosts are compared within, or were changed by: zone")
	}
	f.flagsOf(question, command)
	return command
}

func (f *fleetFlags) flagsOf(question string, command *cobra.Command) {
	flags := command.Flags()
	switch question {
	case ask.Bands, ask.Facts, ask.Compare, ask.Hosts:
		flags.StringVar(&f.typed.Metric, "metric", "",
			"cores, latency, or a metric that agents send (default: CPU time per request, cores where none are seen)")
	}
	switch question {
	case ask.Bands:
		flags.BoolVar(&f.askAgents, "ask", false, "have the hub ask a host of each band for a full window with cache lines")
	case ask.Compare:
		flags.StringVar(&f.typed.B, "b", "", "the other hosts")
		flags.StringVar(&f.typed.Before, "before", "", "FROM..TO: the same hosts, before")
		flags.StringVar(&f.typed.After, "after", "", "FROM..TO: and after")
		flags.StringVar(&f.typed.Baseline, "baseline", "",
			"FROM..TO before the difference was made: hosts are held against themselves")
	case ask.Changes:
		flags.Float64Var(&f.typed.Smallest, "smallest", 0.02, "the least change that matters")
	case ask.Top, ask.Worth:
		flags.Float64Var(&f.typed.PerCoreHour, "per-core-hour", 0, "price of a core for an hour")
	}
	if question == ask.Top {
		flags.StringVar(&f.typed.Setting, "setting", "",
			"NAME of a fact, a label or version: the time by its values, not by functions")
	}
	if question == ask.Worth {
		flags.StringVar(&f.typed.Setting, "setting", "", "NAME=VALUE: the time of the hosts that have it")
		flags.StringVar(&f.typed.Frame, "frame", "", "function whose time changes, as top names it (default: all)")
		flags.Float64Var(&f.effect, "effect", 0, "the proven change of its time: -0.2 is a fifth less")
		flags.Float64Var(&f.effectLow, "effect-low", math.NaN(), "lower end of its interval")
		flags.Float64Var(&f.effectHigh, "effect-high", math.NaN(), "upper end")
	}
}

func runFleet(ctx context.Context, w world, f *fleetFlags) error {
	request, err := f.resolve(time.Now())
	if err != nil {
		return err
	}
	if f.json != "" && f.json != "-" {
		if err := checkOutput(f.json, true); err != nil {
			return err
		}
	}
	answer, err := f.Ask(ctx, request)
	if err != nil {
		return err
	}
	if f.askAgents {
		if err := f.askForLines(ctx, answer); err != nil {
			return err
		}
	}
	if f.json != "-" {
		if err := report.Fleet(w.stdout, answer, textOptions(w)); err != nil {
			return err
		}
	}
	if f.json != "" {
		return writeJSON(w, f.json, answer)
	}
	return nil
}

// askForLines has a host of each band recorded with cache lines: what no fact explains may be the
// layout of memory.
func (f *fleetFlags) askForLines(ctx context.Context, answer *ask.Answer) error {
	if answer.Bands == nil || !answer.Bands.Two {
		return nil
	}
	var hosts []string
	for _, look := range answer.Look {
		hosts = append(hosts, look.Host)
	}
	if err := f.AskForLines(ctx, f.typed.Service, hosts); err != nil {
		return err
	}
	answer.Notes = append(answer.Notes, fmt.Sprintf("the agents of %s are asked for a full window with cache lines",
		strings.Join(hosts, " and ")))
	return nil
}

// resolve turns flags into the request.
func (f *fleetFlags) resolve(now time.Time) (request ask.Request, err error) {
	if err := f.Check(); err != nil {
		return request, err
	}
	if err := f.readToken(); err != nil {
		return request, err
	}
	if f.effect != 0 {
		f.typed.Effect = &stat.Interval{Value: f.effect, Low: f.effectLow, High: f.effectHigh}
	}
	return f.typed.Request(now)
}
