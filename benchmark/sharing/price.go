package main

import (
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"culprit/internal/stat"
)

// runOf is how long a run of an investigation takes about.
const runOf = 800 * time.Millisecond

// pricedRounds are the rounds before an investigation, and as many behind it.
const pricedRounds = 5

// priced holds the gain that culprit predicts, from trials on one CPU, to what the twin gains in
// the same minute.
func (o options) priced(out io.Writer, folder string, languages []*language) error {
	if o.price == 0 {
		return nil
	}
	fmt.Fprintf(out, "\nPrice, two threads: the gain without sharing that culprit predicts, with its interval, "+
		"and that of the twin, median of %d rounds, with the middle half of them; before the investigation and "+
		"behind it\n\n| language | sharing | predicted | measured | before, behind | off by | verdict |\n"+
		"|---|---|---|---|---|---|---|\n", 2*pricedRounds)
	var held holds
	for run := range o.price {
		for _, one := range languages {
			for _, pair := range [][2]string{{sharesLine, padded}, {sharesWord, ownWords}} {
				dir := filepath.Join(folder, fmt.Sprint("case-", run, one.name, pair[0]))
				err := o.priceOne(out, dir, one, pair, &held)
				if o.stopped() {
					break
				} else if err != nil {
					return err
				}
			}
		}
	}
	fmt.Fprintf(out, "\nwithin 25 %%: %d of %d; of the %d whose measured gain kept within 25 %% itself: %d\n"+
		"the measured gain in the interval of the predicted one: %d; the middle half of the measured gains meets it: %d\n",
		held.near, held.all, held.steady, held.steadyNear, held.inside, held.meets)
	return nil
}

// holds counts what became of predictions. Steady are those which the host let be measured: it
// places virtual CPUs as it likes, and two rounds of one program can differ more than a prediction
// may.
type holds struct{ all, near, steady, steadyNear, inside, meets int }

// near tells whether two gains are within a quarter of each other.
func near(predicted, measured float64) bool { return math.Abs(predicted/measured-1) <= 0.25 }

// priceOne prints one row.
func (o options) priceOne(out io.Writer, dir string, of *language, pair [2]string, held *holds) error {
	shared, err := of.costsFree(of.command(pair[0], 2, runOf, unbounded))
	if err != nil {
		return err
	}
	operations := int64(2 * float64(runOf.Nanoseconds()) / shared)
	var gains []float64
	measure := func() error {
		for range pricedRounds {
			shared, err := of.costsFree(of.command(pair[0], 2, time.Minute, operations))
			if err != nil {
				return err
			}
			free, err := of.costsFree(of.command(pair[1], 2, time.Minute, operations))
			if err != nil {
				return err
			}
			gains = append(gains, shared/free)
		}
		return nil
	}
	if err := measure(); err != nil {
		return err
	}
	command := append([]string{"investigate", "--case", dir, "--prove", "auto", "--metric", "cpu", "--json", "-", "--"},
		of.command(pair[0], 2, time.Minute, operations)...)
	investigate := exec.Command(o.culprit, command...)
	investigate.Dir = of.folder
	var told answer
	if err := culpritSays(&told, investigate); err != nil {
		return err
	}
	if err := measure(); err != nil {
		return err
	}
	before, behind := stat.Middle(gains[:pricedRounds]), stat.Middle(gains[pricedRounds:])
	slices.Sort(gains)
	measured, low, high := stat.Middle(gains), gains[len(gains)/4], gains[len(gains)*3/4]
	held.all++
	line, _ := told.sharedLine()
	if line == nil || line.Price == nil {
		fmt.Fprintf(out, "| %s | %s | none | × %.2f (%.2f to %.2f) | × %.2f, %.2f | | |\n",
			of.name, pair[0], measured, low, high, before, behind)
		return nil
	}
	gain := line.Price.Gain
	steady := near(before, behind) && near(low, measured) && near(high, measured)
	if steady {
		held.steady++
	}
	if near(gain.Ratio, measured) {
		held.near++
		if steady {
			held.steadyNear++
		}
	}
	if gain.Low <= measured && measured <= gain.High {
		held.inside++
	}
	if gain.Low <= high && low <= gain.High {
		held.meets++
	}
	fmt.Fprintf(out, "| %s | %s | × %.2f (%.2f to %.2f) | × %.2f (%.2f to %.2f) | × %.2f, %.2f | %+.0f %% | %s |\n",
		of.name, pair[0], gain.Ratio, gain.Low, gain.High, measured, low, high, before, behind,
		100*(gain.Ratio/measured-1), line.Price.Verdict)
	return nil
}
