package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"culprit/internal/investigate"
	"culprit/internal/record"
	"culprit/internal/report"
	"culprit/internal/shell"
	"culprit/internal/try"
)

// investigateFlags is what may be typed for investigate.
type investigateFlags struct {
	a, b     []string
	metric   string
	prove    string
	confirm  bool
	blocks   bool
	counting countingFlags
	budget   time.Duration
	timeout  time.Duration
	smallest string
	caseDir  string
	json     string
	seed     int64
	pid      int
	cgroup   string
	news     int
	load     loadFlags
	agentDir string
}

func investigateVerb(w world) *cobra.Command {
	var f investigateFlags
	command := &cobra.Command{
		Use:   "investigate (--a SIDE --b SIDE | -p PID | --cgroup DIR | -- CMD…)",
		Short: "Is B worse than A, by how much, why, and proof",
		Long: `Runs two shell commands in random order until it is clear whether B is worse than A, by
wall time or CPU time; records further runs to see where the difference is; names the
causes that explain it; and, where a setting of this host can be flipped to prove it,
flips it in trials and puts it back.

With --load the commands are servers, which are compared per request. A side may also run
already: pid:4711, port:8080 (who listens there), unit:NAME or cgroup:DIR; both are then watched
under the traffic that they have, and nothing is done to them. Beside such a side the other one may be
what was recorded earlier: FILE.culprit, several of them, or the directory of a case.

With one command after --, or with what runs already (-p, --cgroup), it lists what costs most
and the causes it matches.

A case directory takes the recordings, the trials, case.json and report.html.
Exit status: 0 nothing is worse, 1 B is worse, 2 error.`,
		Example: `  culprit investigate --a 'sleep 0.05' --b 'sleep 0.1' --budget 15s
  culprit investigate --a 'gzip -1 -kc /bin/bash' --b 'gzip -9 -kc /bin/bash' --budget 20s --case slower
  culprit investigate --budget 10s -- sh -c 'for i in 1 2 3 4 5; do /bin/true; done'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := f.options(args, w)
			if err == nil {
				err = checkCounters(f.counting.events, f.counting.cpi)
			}
			if err != nil {
				return err
			}
			options.MayGrow = !cmd.Flags().Changed("budget")
			started := options.Target.Kind == "" && options.TargetB.Kind == ""
			options.Confirm = f.confirm && (started || cmd.Flags().Changed("confirm"))
			options.Allocations = f.blocks
			tell, err := openNews(f.news)
			if err != nil {
				return err
			}
			options.Found = tell.found
			return runInvestigate(cmd.Context(), w, options, f.json, tell)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&f.a, "a", nil, "side A, the baseline: a shell command, or pid:N, port:N, unit:NAME, "+
		"cgroup:DIR; beside one of these also recordings or a case made earlier")
	flags.StringArrayVar(&f.b, "b", nil, "side B, the suspect: the same")
	flags.IntVarP(&f.pid, "pid", "p", 0, "this running process and all below it, instead of commands")
	flags.StringVar(&f.cgroup, "cgroup", "", "this cgroup, given by its folder, instead of commands")
	flags.DurationVar(&f.budget, "budget", investigate.UsualBudget,
		"time for the whole investigation; the usual one grows where runs take long")
	flags.StringVar(&f.metric, "metric", "auto",
		"auto, wall, cpu, or NAME=REGEX[,higher]: a number that the commands print; of a load also "+
			"latency, throughput, p99 …")
	flags.StringVar(&f.smallest, "smallest", "2%", "smallest difference that counts")
	flags.StringVar(&f.prove, "prove", "ask", "ask, auto or none: may settings be flipped for proof")
	flags.BoolVar(&f.confirm, "confirm", true,
		"have debug registers watch cache lines that threads seem to share; of what runs already only when it is given")
	flags.BoolVar(&f.blocks, "allocations", false,
		"remember in recorded runs where heap blocks are allocated that shared cache lines lie in (some 15 µs for each)")
	f.counting.define(flags)
	flags.DurationVar(&f.timeout, "timeout", 0, "longest time for one run (default: the budget)")
	flags.StringVar(&f.caseDir, "case", "", "directory to make (default: culprit-case- and the time)")
	newsFlag(flags, &f.news)
	flags.StringVar(&f.json, "json", "", "write the result as JSON to this file, - for standard output")
	flags.Int64Var(&f.seed, "seed", 0, "seed of the order of runs (default: a random one, printed)")
	flags.StringVar(&f.agentDir, "agent-dir", "", "folder of the agent whose windows agent:SERVICE@TIME names")
	f.load.define(flags)
	return command
}

// options resolves what was typed.
func (f investigateFlags) options(args []string, w world) (investigate.Options, error) {
	o := investigate.Options{A: shellCommand(f.a), B: shellCommand(f.b), Budget: f.budget, Timeout: f.timeout,
		Case: f.caseDir, Seed: f.seed, Prove: investigate.Prove(f.prove),
		Program: "culprit " + version, Counters: f.counting.events, CPI: f.counting.cpi}
	live, err := f.liveSides(&o, w)
	switch {
	case err != nil:
		return o, err
	case live && (f.pid != 0 || f.cgroup != "" || len(args) > 0):
		return o, fmt.Errorf("--a and --b name what runs already; leave -p, --cgroup and a command away")
	case live:
	case f.pid != 0 && f.cgroup != "":
		return o, fmt.Errorf("give only one of -p PID and --cgroup DIR")
	case f.pid != 0:
		o.Target = record.Target{Kind: "pid", Pid: f.pid}
		o.A += shellLine(args)
	case f.cgroup != "":
		o.Target = record.Target{Kind: "cgroup", Cgroup: f.cgroup}
		o.A += shellLine(args)
	case len(args) > 0 && (o.A != "" || o.B != ""):
		return o, fmt.Errorf("give either --a and --b, or one command after --, not both")
	case len(args) > 0:
		o.A = shellLine(args)
	case o.B == "" && o.A != "":
		return o, fmt.Errorf("no command B; give --b CMD, or put the only command after --")
	case o.A == "" && o.B != "":
		return o, fmt.Errorf("no command A; give --a CMD")
	}
	if f.json != "" && f.json != "-" {
		if err := checkOutput(f.json, true); err != nil {
			return o, err
		}
	}
	if o.Load, err = f.load.plan(); err != nil {
		return o, err
	}
	if o.Metric, err = investigate.ParseMetric(f.metric); err != nil {
		return o, err
	}
	if o.Smallest, err = try.ParsePart(f.smallest); err != nil {
		return o, fmt.Errorf("smallest difference %w", err)
	}
	if o.Case == "" {
		o.Case = "culprit-case-" + time.Now().Format("20060102-150405")
	}
	if o.Seed == 0 {
		o.Seed = randomSeed()
	}
	if isTerminal(w.stderr) {
		o.Ask = asker(w)
	}
	return o, nil
}

// shellLine makes one shell command of the words after --. A single word is
// taken as it is, so that quotes and pipes in it work.
func shellLine(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return shell.Join(words)
}

func randomSeed() int64 {
	var bytes [4]byte
	if _, err := rand.Read(bytes[:]); err != nil {
		return time.Now().UnixNano() & 0xffffffff
	}
	return int64(binary.LittleEndian.Uint32(bytes[:])) + 1
}

// asker puts a question on the terminal; anything but y is no.
func asker(w world) func(string) bool {
	file, ok := w.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return func(question string) bool {
		fmt.Fprintf(w.stderr, "\r\x1b[K%s [y/N] ", question)
		answer, _ := bufio.NewReader(file).ReadString('\n') // an end of input is no
		return strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y")
	}
}

func runInvestigate(ctx context.Context, w world, options investigate.Options, jsonPath string,
	tell *news) error {
	progress := newProgress(w, "investigating", options.Budget)
	tell.expects(options.Budget)
	options.Progress = func(stage string) {
		progress.describe(stage)
		tell.stage(stage)
	}
	options.Grown = func(budget time.Duration, why string) {
		tell.expects(budget)
		if progress.expect(budget) {
			progress.hide()
			fmt.Fprintf(w.stderr, "culprit: %s, so the answer takes about %v; --budget sets a limit\n", why,
				budget.Round(time.Second))
		}
	}
	options.Blind = func(why error) {
		progress.hide()
		fmt.Fprintf(w.stderr, "culprit: %s; trials and statistics go on without suspects\n", report.Line(why))
	}
	options.Write = writeCase
	if ask := options.Ask; ask != nil {
		options.Ask = func(question string) bool {
			progress.hide()
			return ask(question)
		}
	}
	c, err := investigate.Run(ctx, options)
	progress.end()
	if err != nil {
		return err
	}
	if err := show(w, c, jsonPath); err != nil {
		return err
	}
	if c.Outcome == investigate.Worse {
		return errWorse
	}
	return nil
}

// writeCase puts into a case's directory what people and machines read.
func writeCase(dir string, c *investigate.Case) error {
	toJSON := func(out io.Writer) error { return report.JSON(out, c) }
	if err := writeFile(filepath.Join(dir, "case.json"), toJSON); err != nil {
		return err
	}
	sides, err := requestSides(dir, c)
	if err != nil {
		return err
	}
	return report.HTMLWith(filepath.Join(dir, "report.html"), c, sides...)
}

// show prints the verdict, or the JSON where it was asked for on standard output.
func show(w world, c *investigate.Case, jsonPath string) error {
	if jsonPath != "" {
		if err := writeOut(w, jsonPath, func(out io.Writer) error { return report.JSON(out, c) }); err != nil {
			return err
		}
	}
	if jsonPath == "-" {
		return nil
	}
	if err := report.Text(w.stdout, c, textOptions(w)); err != nil {
		return err
	}
	return tellRequests(w, c)
}

// writeFile writes beside the name and renames, so that a file is whole or not there.
func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".culprit-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	err = write(file)
	if errChmod := file.Chmod(0o644); err == nil {
		err = errChmod
	}
	if errClose := file.Close(); err == nil {
		err = errClose
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // the first error is the one to tell
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
