// Command culprit names what made a Linux service slower, and proves it.
//
// main.go holds the table of verbs and the exit status; each verb is a file:
// its flags, an options value, one call.
//
//	culprit investigate --a './server-old --bench' --b './server-new --bench'
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"culprit/internal/report"
)

// version is set by the Makefile from git.
var version = "devel"

// The exit status of every verb, as docs/reference promises.
const (
	exitDone  = 0 // done, and nothing is worse
	exitWorse = 1 // the answer is "worse"
	exitError = 2 // bad usage, bad input, not permitted: one line on standard error
)

// errWorse is how a verb says that its answer is "worse": an exit status, not a message.
var errWorse = errors.New("worse")

// exitStatus is how a verb passes on another program's exit status.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// world is what a verb may touch of the process it runs in.
type world struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

func main() {
	ctx, stop := untilSignal(context.Background())
	status := run(ctx, world{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}, os.Args[1:])
	stop()
	os.Exit(status)
}

// run executes one command line and returns its exit status. Tests call it too.
func run(ctx context.Context, w world, args []string) int {
	root := newRoot(w)
	root.SetArgs(spreadGroups(args))
	root.SetIn(w.stdin)
	root.SetOut(w.stdout)
	root.SetErr(w.stderr)
	err := offerCompletions(root)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	var status exitStatus
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errWorse):
		return exitWorse
	case errors.As(err, &status):
		return int(status)
	}
	if by, ok := interruption(ctx); ok && errors.Is(err, context.Canceled) {
		err = by
	}
	fmt.Fprintf(w.stderr, "culprit: %s\n", report.Line(err))
	return exitError
}

// newRoot is the table of verbs.
func newRoot(w world) *cobra.Command {
	root := &cobra.Command{
		Use:   "culprit",
		Short: "Names what made a Linux service slower, and proves it",
		Long: `culprit records evidence at a cost that it measures, compares two sides in one unit,
names suspects out of a catalogue of causes, then flips the one thing it suspects in
randomised trials, puts everything back, and says proven, refuted or undecided.

Exit status: 0 done and nothing worse, 1 the answer is "worse", 2 error.`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          knownVerb,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SuggestionsMinimumDistance = 2 // letters that may be wrong
	root.SetVersionTemplate("culprit {{.Version}}\n")
	root.SetFlagErrorFunc(badFlag)
	root.AddCommand(
		investigateVerb(w),
		recordVerb(w),
		agentVerb(w),
		tailVerb(w),
		topVerb(w),
		compareVerb(w),
		tryVerb(w),
		bisectVerb(w),
		ciVerb(w),
		overheadVerb(w),
		countVerb(w),
		worthVerb(w),
		fleetVerb(w),
		explainVerb(w),
		benchVerb(w),
		importVerb(w),
		exportVerb(w),
		reportVerb(w),
		serveVerb(w),
		mcpVerb(w),
		doctorVerb(w),
		restoreVerb(w),
		manVerb(w),
		recorderVerb(w),
		guardianVerb(w),
		monitoredVerb(w),
	)
	return root
}
