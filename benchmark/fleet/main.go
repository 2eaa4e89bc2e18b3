// Command fleet measures how often the questions over a fleet are wrong, on simulated services.
//
//	go run ./benchmark/fleet -fleets 200 bands
//	go run ./benchmark/fleet -fleets 160 changes
//
// The questions are bands, compare, facts, changes, rollout; none: all of them, one after the
// other. It refuses questions that it does not know. Results stand in benchmark/RESULTS.md.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"
)

// questions in the order in which they are measured.
var questions = []struct {
	name    string
	measure func(fleets int, seed uint64) error
}{
	{"bands", measureBands},
	{"compare", measureCompare},
	{"facts", measureFacts},
	{"changes", measureChanges},
	{"rollout", measureRollout},
}

func main() {
	fleets := flag.Int("fleets", 200, "simulated fleets for each line")
	seed := flag.Uint64("seed", 1, "other fleets with another number")
	flag.Parse()
	if err := run(flag.Arg(0), *fleets, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "benchmark/fleet:", err)
		os.Exit(2)
	}
}

func run(only string, fleets int, seed uint64) error {
	known := false
	for _, question := range questions {
		if only != "" && only != question.name {
			continue
		}
		known = true
		start := time.Now()
		if err := question.measure(fleets, seed); err != nil {
			return fmt.Errorf("%s: %w", question.name, err)
		}
		fmt.Printf("%s: %d fleets a line, %.0f s\n\n", question.name, fleets, time.Since(start).Seconds())
	}
	if !known {
		return errors.New("no question " + only + ": bands, compare, facts, changes or rollout")
	}
	return nil
}
