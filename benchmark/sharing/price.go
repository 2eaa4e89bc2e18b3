package main

import (
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"time"

	"culprit/internal/stat"
)

// runOf is how long a run of an investigation takes about.
const runOf = 800 * time.Millisecond

// priced holds the gain that culprit predicts, from trials on one CPU, to what the twin gains.
func (o options) priced(out io.Writer, folder string, languages []*language) error {
	if o.price == 0 {
		return nil
	}
	fmt.Fprintf(out, "\nPrice, two threads: the gain without sharing that culprit predicts, and that of the twin, "+
		"measured before and after\n\n| language | sharing | predicted | measured | off by | verdict |\n"+
		"|---|---|---|---|---|---|\n")
	within, all := 0, 0
	for run := range o.price {
		for _, one := range languages {
			for _, pair := range [][2]string{{sharesLine, padded}, {sharesWord, ownWords}} {
				off, err := o.priceOne(out, filepath.Join(folder, fmt.Sprint("case-", run, one.name, pair[0])), one, pair)
				if o.stopped() {
					break
				} else if err != nil {
					return err
				}
				all++
				if math.Abs(off) <= 0.25 {
					within++
				}
			}
		}
	}
	fmt.Fprintf(out, "\nwithin 25 %%: %d of %d\n", within, all)
	return nil
}

// priceOne prints one row and returns by which part the prediction is off; infinite where there is none.
func (o options) priceOne(out io.Writer, dir string, of *language, pair [2]string) (off float64, err error) {
	shared, err := of.costs(of.command(pair[0], 2, runOf, unbounded))
	if err != nil {
		return 0, err
	}
	operations := int64(2 * float64(runOf.Nanoseconds()) / shared)
	var gains []float64
	measure := func() error {
		for range 5 {
			shared, err := of.costs(of.command(pair[0], 2, time.Minute, operations))
			if err != nil {
				return err
			}
			free, err := of.costs(of.command(pair[1], 2, time.Minute, operations))
			if err != nil {
				return err
			}
			gains = append(gains, shared/free)
		}
		return nil
	}
	if err := measure(); err != nil {
		return 0, err
	}
	command := append([]string{"investigate", "--case", dir, "--prove", "auto", "--metric", "cpu", "--json", "-", "--"},
		of.command(pair[0], 2, time.Minute, operations)...)
	investigate := exec.Command(o.culprit, command...)
	investigate.Dir = of.folder
	var told answer
	if err := culpritSays(&told, investigate); err != nil {
		return 0, err
	}
	if err := measure(); err != nil {
		return 0, err
	}
	measured := stat.Middle(gains)
	line, _ := told.sharedLine()
	if line == nil || line.Price == nil {
		fmt.Fprintf(out, "| %s | %s | none | × %.2f | | |\n", of.name, pair[0], measured)
		return math.Inf(1), nil
	}
	gain := line.Price.Gain
	off = gain.Ratio/measured - 1
	fmt.Fprintf(out, "| %s | %s | × %.2f (%.2f to %.2f) | × %.2f | %+.0f %% | %s |\n", of.name, pair[0], gain.Ratio,
		gain.Low, gain.High, measured, 100*off, line.Price.Verdict)
	return off, nil
}
