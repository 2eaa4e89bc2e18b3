package main

import (
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// runOf is how long a run of an investigation takes about.
const runOf = 800 * time.Millisecond

// pricedRounds are the rounds before each investigation of a program, and as many behind the last.
const pricedRounds = 5

// priced holds the gain that culprit predicts, from trials on one CPU, to what the twin gains in
// the same minutes. The host places virtual CPUs as it likes, and two rounds of one program differ
// by more than a prediction may: so investigations and rounds take turns, and a program's
// predictions as a whole (geometric mean) are held to its rounds as a whole. Each investigation is
// told as well.
func (o options) priced(out io.Writer, folder string, languages []*language) error {
	if o.price == 0 {
		return nil
	}
	fmt.Fprintf(out, "\nPrice, two threads: the gain without sharing that culprit predicts, with its interval, and that "+
		"of the twin in the %d rounds before and the %d behind, geometric mean and middle half\n\n"+
		"| language | sharing | predicted | measured | off by | verdict |\n|---|---|---|---|---|---|\n",
		pricedRounds, pricedRounds)
	var programs []*pricedProgram
	for _, one := range languages {
		programs = append(programs, &pricedProgram{of: one, kind: sharesLine, twin: padded},
			&pricedProgram{of: one, kind: sharesWord, twin: ownWords})
	}
	for _, program := range programs {
		if err := o.priceProgram(out, folder, program); err != nil && !o.stopped() {
			return err
		}
		if o.stopped() {
			break
		}
	}
	tellPrograms(out, programs)
	return nil
}

// pricedProgram is what was predicted of one program and measured of it.
type pricedProgram struct {
	of         *language
	kind, twin string
	operations int64     // of a run of about runOf
	gains      []float64 // measured, in rounds
	predicted  []*gain   // one for each investigation; nil: no line was told
}

// near tells whether two gains are within a quarter of each other.
func near(predicted, measured float64) bool { return math.Abs(predicted/measured-1) <= 0.25 }

// priceProgram has rounds and investigations take turns, and prints a row for each of these.
func (o options) priceProgram(out io.Writer, folder string, program *pricedProgram) error {
	shared, err := program.of.costsFree(program.of.command(program.kind, 2, runOf, unbounded))
	if err != nil {
		return err
	}
	program.operations = int64(2 * float64(runOf.Nanoseconds()) / shared)
	if err := program.measure(); err != nil {
		return err
	}
	for run := range o.price {
		dir := filepath.Join(folder, fmt.Sprint("case-", run, program.of.name, program.kind))
		line, err := o.investigated(dir, program)
		if err != nil {
			return err
		}
		if err := program.measure(); err != nil {
			return err
		}
		program.tellOne(out, line)
		if o.stopped() {
			return nil
		}
	}
	return nil
}

// measure adds rounds: what an operation takes beside what it takes in the twin.
func (p *pricedProgram) measure() error {
	for range pricedRounds {
		shared, err := p.of.costsFree(p.of.command(p.kind, 2, time.Minute, p.operations))
		if err != nil {
			return err
		}
		free, err := p.of.costsFree(p.of.command(p.twin, 2, time.Minute, p.operations))
		if err != nil {
			return err
		}
		p.gains = append(p.gains, shared/free)
	}
	return nil
}

// investigated is the shared line that an investigation tells; nil: none.
func (o options) investigated(dir string, program *pricedProgram) (*suspect, error) {
	command := append([]string{"investigate", "--case", dir, "--prove", "auto", "--metric", "cpu", "--json", "-", "--"},
		program.of.command(program.kind, 2, time.Minute, program.operations)...)
	investigate := exec.Command(o.culprit, command...)
	investigate.Dir = program.of.folder
	var told answer
	if err := culpritSays(&told, investigate); err != nil {
		return nil, err
	}
	line, _ := told.sharedLine()
	return line, nil
}

// tellOne prints one investigation beside the rounds around it.
func (p *pricedProgram) tellOne(out io.Writer, line *suspect) {
	around := slices.Sorted(slices.Values(p.gains[len(p.gains)-2*pricedRounds:]))
	mean := geometric(around)
	measured := fmt.Sprintf("× %.2f (%.2f to %.2f)", mean, around[len(around)/4], around[len(around)*3/4])
	if line == nil || line.Price == nil {
		p.predicted = append(p.predicted, nil)
		fmt.Fprintf(out, "| %s | %s | none | %s | | |\n", p.of.name, p.kind, measured)
		return
	}
	told := line.Price.Gain
	p.predicted = append(p.predicted, &told)
	fmt.Fprintf(out, "| %s | %s | × %.2f (%.2f to %.2f) | %s | %+.0f %% | %s |\n", p.of.name, p.kind, told.Ratio, told.Low,
		told.High, measured, 100*(told.Ratio/mean-1), line.Price.Verdict)
}

// tellPrograms prints each program as a whole, and how many of them, and of the investigations, are
// within a quarter.
func tellPrograms(out io.Writer, programs []*pricedProgram) {
	fmt.Fprintf(out, "\n| language | sharing | investigations | predicted | measured, rounds | off by |\n"+
		"|---|---|---|---|---|---|\n")
	var all, within, one, oneWithin, inside int
	for _, program := range programs {
		if len(program.predicted) == 0 {
			continue // stopped before its first
		}
		all++
		measured, ratios := geometric(program.gains), []float64(nil)
		for i, told := range program.predicted {
			one++
			if told == nil {
				continue
			}
			ratios = append(ratios, told.Ratio)
			around := geometric(program.gains[i*pricedRounds : (i+2)*pricedRounds])
			if near(told.Ratio, around) {
				oneWithin++
			}
			if told.Low <= around && around <= told.High {
				inside++
			}
		}
		if len(ratios) == 0 {
			continue
		}
		predicted := geometric(ratios)
		if near(predicted, measured) {
			within++
		}
		fmt.Fprintf(out, "| %s | %s | %d | × %.2f | × %.2f, %d | %+.0f %% |\n", program.of.name, program.kind, len(ratios),
			predicted, measured, len(program.gains), 100*(predicted/measured-1))
	}
	fmt.Fprintf(out, "\nwithin 25 %%: %d of %d programs, %d of %d single investigations (to the mean of the rounds "+
		"around it); that mean in the predicted interval: %d\n", within, all, oneWithin, one, inside)
}

func geometric(of []float64) float64 {
	sum := 0.0
	for _, one := range of {
		sum += math.Log(one)
	}
	return math.Exp(sum / float64(len(of)))
}
