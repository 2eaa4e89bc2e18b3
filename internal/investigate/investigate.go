// Package investigate does the main job. Trials decide whether B is worse than A, and on which
// metric. Recordings of further trials show where the difference is. The catalogue names the causes
// that it looks like. Flipping a setting proves or refutes the first of them that has one.
//
//	c, err := investigate.Run(ctx, investigate.Options{A: "./old", B: "./new", Budget: time.Minute, …})
//	fmt.Println(c.Outcome, c.Suspects[0].Cause) // worse clock.slow-source
//
// It refuses commands that fail, and budgets that hold fewer than two pairs of trials.
//
// It publishes a case directory whole or not at all. Until it is complete the directory is called
// DIR.partial, and it keeps that name where DIR was made meanwhile.
package investigate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"culprit/internal/compare"
	"culprit/internal/compare/units"
	"culprit/internal/host"
	"culprit/internal/record"
	"culprit/internal/trial"
	"culprit/recording"
)

// investigation is the state of one Run.
type investigation struct {
	options  Options
	started  time.Time
	dir      string // the partial case directory
	runner   *trial.Runner
	journal  *trial.Journal
	plan     trial.Plan
	order    int
	runs     []trial.Run              // all, in order
	took     map[string]time.Duration // by the latest runs of a side
	runTimes []string                 // that were seen, for the recorder
	cannot   error                    // why nothing can be recorded; nil when it can
	lengths  map[int]time.Duration    // of runs by their order, with the start of a server
	scarce   scarcity                 // how little the budget holds
	grown    time.Duration            // what a budget that may grow has grown to, 0: not looked at
	grownFor string                   // how long the runs took then, in words
	c        *Case
	live     map[string]*liveSide             // sides that run already, by label
	window   time.Duration                    // of them
	windows  map[string]int                   // of each side that are recorded and count
	calls    map[*recording.Recording]float64 // read and write calls in recorded windows of live sides
	byCalls  *MetricResult                    // the CPU time of their requests, where windows without the recorder tell it
	looked   lastLook
	// oneSided are the disturbances that come with one side only: evidence, not noise.
	oneSided   []string
	costs      map[string]compare.Interval  // of operations on this host, by their names in bench
	latest     reading                      // of the recordings that were judged last
	facts      map[string]map[string]string // of each side's latest recording
	failedRuns int                          // made again because of failed requests
	comms      []string                     // of the suffering side's own processes
}

// Run investigates. The error is for people: one line that names the thing and the way out.
func Run(ctx context.Context, options Options) (*Case, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	if options.Progress == nil {
		options.Progress = func(string) {}
	}
	inv := &investigation{options: options, started: time.Now(), took: map[string]time.Duration{},
		lengths: map[int]time.Duration{}, plan: trial.Plan{Seed: options.Seed, Sides: options.sides()}}
	if err := inv.open(); err != nil {
		return nil, err
	}
	err := inv.steps(ctx)
	if errClose := inv.close(); err == nil {
		err = errClose
	}
	if err == nil {
		err = inv.write()
	}
	if err != nil {
		return nil, errors.Join(err, inv.clear())
	}
	if err := inv.publish(); err != nil {
		return nil, err // the results stay where they are
	}
	return inv.c, nil
}

// open makes the partial case directory and what the trials need.
func (inv *investigation) open() error {
	if _, err := os.Lstat(inv.options.Case); err == nil {
		return fmt.Errorf("case directory %s exists; give another --case DIR", inv.options.Case)
	}
	dir, err := filepath.Abs(inv.options.partial())
	if err != nil {
		return fmt.Errorf("find folder of case %s: %w", inv.options.Case, err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		if errors.Is(err, os.ErrExist) {
			return fmt.Errorf("%s is left of an earlier investigation; rename or remove it, or give another --case DIR", dir)
		}
		return fmt.Errorf("make case directory: %w", err)
	}
	inv.dir = dir
	if inv.journal, err = trial.CreateJournal(dir); err == nil {
		inv.runner, err = trial.NewRunner("/")
	}
	if err != nil {
		return errors.Join(err, inv.close(), inv.clear())
	}
	inv.cannot = record.Permitted()
	inv.c = &Case{Schema: CaseSchema, Per: units.PerRun,
		Smallest: inv.options.Smallest, Seed: inv.options.Seed, Dir: inv.options.Case,
		A: SideSummary{Command: inv.options.A}, Host: describe(host.Summarize("/"))}
	inv.nameSides()
	return nil
}

// nameSides says what the sides of the case are called.
func (inv *investigation) nameSides() {
	target, other, earlier := inv.options.Target, inv.options.TargetB, inv.options.Earlier
	if target.Kind != "" {
		inv.c.A.Command = target.String()
	}
	switch {
	case earlier != nil && earlier.Side == sideA:
		inv.c.A, inv.c.B = SideSummary{Command: earlier.Name, Earlier: true}, &SideSummary{Command: target.String()}
	case earlier != nil:
		inv.c.B = &SideSummary{Command: earlier.Name, Earlier: true}
	case other.Kind != "":
		inv.c.B = &SideSummary{Command: other.String()}
	case inv.options.B != "":
		inv.c.B = &SideSummary{Command: inv.options.B}
	}
}

func describe(s host.Summary) Host {
	return Host{Name: s.Name, Kernel: s.Kernel, CPU: s.CPU, CPUs: s.CPUs, MemoryBytes: s.MemoryBytes,
		Hypervisor: s.Hypervisor, ClockSource: s.ClockSource}
}

// steps are the investigation, from top to bottom.
func (inv *investigation) steps(ctx context.Context) error {
	if inv.options.Target.Kind != "" {
		watch := inv.watchService
		switch {
		case inv.options.bothLive():
			watch = inv.watchTwo
		case inv.options.Earlier != nil:
			watch = inv.watchAgainst
		}
		err := watch(ctx)
		inv.finish()
		return err
	}
	if err := inv.warmUp(ctx); err != nil {
		return err
	}
	inv.tellBlind()
	explain, err := inv.measure(ctx)
	if err != nil {
		return err
	}
	inv.summarise()
	inv.watchLoad()
	if explain {
		if err := inv.explain(ctx); err != nil {
			return err
		}
	}
	inv.finish()
	return nil
}

// tellBlind says why there will be no suspects, once what was asked for is known to be possible.
func (inv *investigation) tellBlind() {
	if inv.cannot != nil && inv.options.Blind != nil {
		inv.options.Blind(inv.cannot)
	}
}

// explain records evidence, names suspects and proves what it can. A host that
// cannot record keeps its verdict and says what is missing.
func (inv *investigation) explain(ctx context.Context) error {
	if inv.cannot != nil {
		return nil
	}
	evidence, err := inv.gather(ctx)
	if err != nil {
		if ctx.Err() != nil || !errors.Is(err, record.ErrNotSupported) || inv.scarce == noPair {
			return err
		}
		inv.cannot = err
		return nil
	}
	if evidence == nil {
		return nil
	}
	if inv.scarce == noPair {
		if err := inv.tellScarce(); err != nil {
			return err
		}
		inv.summarise()
	}
	if inv.contradicted(evidence) {
		if explain, err := inv.decideAgain(ctx); err != nil || !explain {
			return err
		}
	}
	if err := inv.reason(ctx, inv.judgedBy(ctx, evidence)); err != nil {
		return err
	}
	if err := inv.recordingCost(); err != nil {
		return err
	}
	return inv.prove(ctx)
}

// finish fills in what is known only at the end; empty lists stay lists in JSON.
func (inv *investigation) finish() {
	c := inv.c
	if inv.cannot != nil {
		nothing := recording.BlindSpot{Kind: recording.BlindNothing, Why: inv.cannot.Error()}
		c.Unseen = append([]recording.BlindSpot{nothing}, c.Unseen...)
	}
	inv.tellGrown()
	c.see(inv.runner.BlindSpots()...)
	c.Warnings = unique(c.Warnings)
	c.Trials = inv.runs
	if c.NeedTrials > 0 && c.B != nil {
		c.NeedBudgetS = inv.suggestMore(c.NeedTrials).Seconds()
	}
	c.ElapsedS = time.Since(inv.started).Seconds()
	if len(c.Facts) == 0 {
		c.Facts = host.Facts("/")
	}
}

// write writes the report into the partial case directory.
func (inv *investigation) write() error {
	if inv.options.Write == nil {
		return nil
	}
	return inv.options.Write(inv.dir, inv.c)
}

// tellFound passes on what the case holds by now.
func (inv *investigation) tellFound() {
	if inv.options.Found != nil {
		inv.options.Found(inv.c, inv.validPairs())
	}
}

// publish gives the case directory its name. Where somebody made one of that name meanwhile, the
// finished case keeps the name that it has.
func (inv *investigation) publish() error {
	const kept = "the finished case is kept: culprit report %s --text prints it"
	partial := inv.options.partial()
	_, err := os.Lstat(inv.options.Case) // Rename would replace an empty directory
	if err == nil {
		err = fmt.Errorf("case directory %s exists by now; "+kept, inv.options.Case, partial)
	} else if err = os.Rename(inv.dir, inv.options.Case); err != nil {
		err = fmt.Errorf("name case directory: %w; "+kept, err, partial)
	}
	if err == nil {
		return nil
	}
	inv.c.Dir = partial
	return errors.Join(err, inv.write()) // again, for the name in it
}

func (inv *investigation) close() error {
	var err error
	if inv.runner != nil {
		err = inv.runner.Close()
	}
	if inv.journal != nil {
		err = errors.Join(err, inv.journal.Close())
	}
	return err
}

// clear removes what a failed investigation wrote.
func (inv *investigation) clear() error {
	if err := os.RemoveAll(inv.dir); err != nil {
		return fmt.Errorf("remove unfinished case: %w", err)
	}
	return nil
}
