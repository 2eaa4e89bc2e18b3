package main

import (
	"fmt"
	"io"
	"time"
)

// tally is what became of the runs of one kind.
type tally struct {
	runs      int
	first     int // the line was the first suspect
	told      int // of those, false and true sharing told apart
	confirmed int // of those, by debug registers
	named     int // of those, the fields
	raised    int // a line was told at all
	paid      int // runs that sharing cost enough
	paidFirst int // of those, the line was the first suspect
}

// recognised records programs that share and their twins, in rounds, and prints what culprit says.
func (o options) recognised(out io.Writer, folder string, languages []*language) error {
	if o.runs == 0 || len(languages) == 0 {
		return nil
	}
	kinds := []string{sharesLine, padded, sharesWord, ownWords}
	tallies := map[string][]tally{}
	for _, kind := range kinds {
		tallies[kind] = make([]tally, len(languages))
	}
	for run := range o.runs {
		number := run % len(languages)
		threads := 2 + run/len(languages)%7
		for _, kind := range kinds {
			if err := o.judge(out, folder, languages[number], kind, threads, &tallies[kind][number]); err != nil {
				return err
			}
		}
	}
	for _, kind := range kinds {
		printTallies(out, kind, languages, tallies[kind])
	}
	return nil
}

// judge records one run and judges what culprit says.
func (o options) judge(out io.Writer, folder string, of *language, kind string, threads int, t *tally) error {
	told, err := o.record(out, folder, of, kind, threads)
	if err != nil {
		return err
	}
	paid := false
	if kind == sharesLine || kind == sharesWord {
		free, err := of.costs(of.command(padded, threads, time.Second, unbounded))
		if err != nil {
			return err
		}
		paid = 1-free/told.ns >= o.paid
	}
	t.add(of, kind, &told.answer, paid)
	return nil
}

func (t *tally) add(of *language, kind string, told *answer, paid bool) {
	t.runs++
	if paid {
		t.paid++
	}
	line, at := told.sharedLine()
	if line == nil {
		return
	}
	t.raised++
	if at > 0 || !line.isOf(of.place) {
		return
	}
	t.first++
	if paid {
		t.paidFirst++
	}
	if line.Cause == "line."+kind+"-sharing" {
		t.told++
	}
	if line.confirmed() {
		t.confirmed++
	}
	if line.namesFields() {
		t.named++
	}
}

func printTallies(out io.Writer, kind string, languages []*language, tallies []tally) {
	if kind == padded || kind == ownWords {
		fmt.Fprintf(out, "\n%s: twins that share nothing\n\n| language | runs | a line was told |\n|---|---|---|\n", kind)
		for i, one := range languages {
			fmt.Fprintf(out, "| %s | %d | %d |\n", one.name, tallies[i].runs, tallies[i].raised)
		}
		return
	}
	fmt.Fprintf(out, "\n%s sharing\n\n| language | runs | first | of those: kind right | confirmed | fields named "+
		"| runs that sharing cost | of those: first |\n|---|---|---|---|---|---|---|---|\n", kind)
	for i, one := range languages {
		t, named := tallies[i], "no debug information"
		if one.fields {
			named = fmt.Sprint(tallies[i].named)
		}
		fmt.Fprintf(out, "| %s | %d | %d | %d | %d | %s | %d | %d |\n", one.name, t.runs, t.first, t.told, t.confirmed, named,
			t.paid, t.paidFirst)
	}
}
