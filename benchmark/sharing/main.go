// Command sharing holds what culprit says of shared cache lines to programs whose truth is known,
// in C, C++, Go, Rust and Java, with two to eight threads, and to their padded twins; and measures
// what the probe and a confirmation cost.
//
//	make build && go run ./benchmark/sharing -runs 20
//	go run ./benchmark/sharing -runs 0 -price 4 -cost 10 -confirmations 60 -only 'C\+\+|Go'
//
// Each program counts its own operations and CPU time. On a busy host threads seldom run at the
// same time and sharing costs little: runs that it cost at least -paid of their CPU time are
// counted apart, too. It judges culprit from outside, by its command line. Languages that are not
// installed are left out. Each run is printed when it has ended; Ctrl-C ends it after the run under
// way, with the sums of what it has.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"

	"culprit/benchmark/peers"
)

// options say what is measured.
type options struct {
	culprit       string
	only          *regexp.Regexp
	runs          int // with sharing, of all languages together; as many without
	lasts         time.Duration
	paid          float64
	price         int
	cost          int
	confirmations int
	stop          context.Context // ends the measurements with what they have
}

func main() {
	o := options{}
	flag.StringVar(&o.culprit, "culprit", "bin/culprit", "the culprit to judge")
	only := flag.String("only", ".", "languages whose name this regular expression matches")
	flag.IntVar(&o.runs, "runs", 20, "recorded runs of false sharing, of true sharing, and of the twin of each")
	flag.DurationVar(&o.lasts, "d", 6*time.Second, "how long a recorded run lasts")
	flag.Float64Var(&o.paid, "paid", 0.25, "part of its CPU time that sharing must have cost a run to be counted as such")
	flag.IntVar(&o.price, "price", 0, "investigations of each program, between rounds that measure the gain they predict")
	flag.IntVar(&o.cost, "cost", 0, "interleaved pairs of each language with and without the recorder")
	flag.IntVar(&o.confirmations, "confirmations", 0, "interleaved pairs of a thread with and without a confirmation")
	flag.Parse()
	ctx, again := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, again) // a second interrupt ends it at once
	o.stop = ctx
	if err := o.run(os.Stdout, *only); err != nil {
		fmt.Fprintln(os.Stderr, "sharing:", err)
		os.Exit(2)
	}
}

// stopped reports whether somebody wants no more runs.
func (o options) stopped() bool { return o.stop.Err() != nil }

func (o options) run(out io.Writer, only string) (err error) {
	if o.only, err = regexp.Compile(only); err != nil {
		return fmt.Errorf("parse -only %q: %w", only, err)
	}
	if min(o.runs, o.price, o.cost, o.confirmations) < 0 || o.lasts < time.Second || !(o.paid >= 0 && o.paid < 1) {
		return errors.New("give no numbers below 0, -d of a second or more, and -paid from 0 to below 1")
	}
	if o.culprit, err = filepath.Abs(o.culprit); err != nil {
		return err
	}
	if _, err := os.Stat(o.culprit); err != nil {
		return fmt.Errorf("find culprit: %w; run make build, or give -culprit FILE", err)
	}
	folder, err := os.MkdirTemp("", "culprit-sharing")
	if err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	languages, err := o.build(out, folder)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s, load %s\n\n", time.Now().UTC().Format("2006-01-02 15:04"), peers.HostLoad())
	for _, part := range []func() error{
		func() error { return o.recognised(out, folder, languages) },
		func() error { return o.priced(out, folder, languages) },
		func() error { return o.recorderCosts(out, folder, languages) },
		func() error { return o.confirmationCosts(out, folder) },
	} {
		if err := part(); err != nil && !o.stopped() { // what runs is interrupted, too
			return err
		}
	}
	if o.stopped() {
		fmt.Fprint(out, "\nstopped before all runs were made\n")
	}
	fmt.Fprintf(out, "\nat the end load %s\n", peers.HostLoad())
	return nil
}
