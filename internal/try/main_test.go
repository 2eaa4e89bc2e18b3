package try

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"culprit/internal/knob"
	"culprit/internal/record"
)

// The words under which the tests start this file again.
const (
	wordHold = "hold" // the host, until standard input ends
	wordRun  = "run"  // a long experiment in a directory
)

func TestMain(m *testing.M) {
	word := ""
	if len(os.Args) > 1 {
		word = os.Args[1]
	}
	var err error
	switch word {
	case knob.GuardianVerb: // the guardian is this same file, started again under a hidden word
		err = knob.RunGuardian(os.Args[2:])
	case record.Verb: // and so is the recorder
		err = record.Serve(context.Background(), os.Args[2], os.Stdin, os.Stdout)
	case wordHold:
		err = hold()
	case wordRun:
		_, err = Run(context.Background(), longExperiment(), Options{Dir: os.Args[2]})
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func hold() error {
	change, err := knob.Begin(context.Background())
	if err != nil {
		return err
	}
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, change.Restore())
}

// longExperiment flips the harmless setting for as long as it is let.
func longExperiment() Experiment {
	return Experiment{Command: Command{Shell: "cat /proc/sys/kernel/printk_ratelimit_burst; sleep 0.02"},
		Design: Blocks, Budget: 20 * time.Second, Seed: 1, Smallest: UsualSmallest, Trials: 30,
		Metrics: []Metric{{Name: "v", Pattern: `(\d+)`}},
		Factors: []Factor{{Name: harmless, Kind: KindKnob, Levels: []Level{{"1001", "1001"}, {"1002", "1002"}}}}}
}

// holdHost has another process hold the host, and returns what lets it go.
func holdHost(t *testing.T) (release func()) {
	t.Helper()
	other := exec.Command("/proc/self/exe", wordHold)
	stdin, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	other.Stderr = os.Stderr
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "held\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return func() {
		if err := errors.Join(stdin.Close(), other.Wait()); err != nil {
			t.Error(err)
		}
	}
}
