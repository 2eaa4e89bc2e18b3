// Command requests holds what culprit sees of the requests of real servers to what the sockets of
// their clients saw, and measures what watching them costs.
//
//	go run ./benchmark/requests
//	go run ./benchmark/requests -only postgres
//	go run ./benchmark/requests -cost -rounds 7 -only '^redis$'
//	go run ./benchmark/requests -cost -rounds 21 -requests 10000 -only "^(redis|nginx|node|go)\$" -watch "empty|record"
//
// The clients are its own: each takes the time of an answer from its socket, when the kernel got
// it. Load generators print percentiles that they computed, some of them wrong. Servers that are
// not installed are left out. It judges culprit from outside, by its command line.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"

	"culprit/benchmark/peers"
)

// options say what is measured.
type options struct {
	culprit     string
	only        *regexp.Regexp
	connections int
	requests    int
	think       time.Duration
	rounds      int
	watch       *regexp.Regexp
}

func main() {
	o := options{}
	flag.StringVar(&o.culprit, "culprit", "bin/culprit", "the culprit to judge")
	only := flag.String("only", ".", "servers whose name this regular expression matches")
	cost := flag.Bool("cost", false, "measure what watching costs the server, and not whether it is right")
	flag.IntVar(&o.connections, "connections", 8, "connections")
	flag.IntVar(&o.requests, "requests", 20_000, "requests of all connections together")
	flag.DurationVar(&o.think, "think", 0, "mean of the pauses between an answer and the next request")
	flag.IntVar(&o.rounds, "rounds", 5, "interleaved rounds, with -cost; 0: only the kernel's account of the programs")
	watch := flag.String("watch", ".", "with -cost: ways to watch whose name this regular expression matches")
	flag.Parse()
	if err := o.run(os.Stdout, *only, *watch, *cost); err != nil {
		fmt.Fprintln(os.Stderr, "requests:", err)
		os.Exit(2)
	}
}

func (o options) run(out io.Writer, only, watch string, cost bool) (err error) {
	if o.watch, err = regexp.Compile(watch); err != nil {
		return fmt.Errorf("parse -watch %q: %w", watch, err)
	}
	if o.only, err = regexp.Compile(only); err != nil {
		return fmt.Errorf("parse -only %q: %w", only, err)
	}
	if o.connections < 1 || o.requests < o.connections || o.rounds < 0 {
		return errors.New("give one connection at least, a request for each, and no rounds below 0")
	}
	if _, err := os.Stat(o.culprit); err != nil {
		return fmt.Errorf("find culprit: %w; run make build, or give -culprit FILE", err)
	}
	folder, err := os.MkdirTemp("", "culprit-requests")
	if err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	defer os.RemoveAll(folder)
	if err := os.Chmod(folder, 0o755); err != nil { // servers that run as another user look into it
		return fmt.Errorf("make folder: %w", err)
	}
	fmt.Fprintf(out, "%s, load %s, %d connections\n\n", time.Now().UTC().Format("2006-01-02 15:04"), peers.HostLoad(),
		o.connections)
	if cost {
		return o.costs(out, folder)
	}
	return o.agreement(out, folder)
}
