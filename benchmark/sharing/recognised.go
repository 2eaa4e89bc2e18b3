package main

import (
	"fmt"
	"io"
	"strings"
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

// recognised records programs that share and their twins, in rounds, prints what culprit says of
// each run when it has ended, and sums up at the end, or when it is stopped.
func (o options) recognised(out io.Writer, folder string, languages []*language) error {
	if o.runs == 0 || len(languages) == 0 {
		return nil
	}
	fmt.Fprint(out, "| run | language | sharing | threads | CPU time of an operation | the line | told |\n"+
		"|---|---|---|---|---|---|---|\n")
	kinds := []string{sharesLine, padded, sharesWord, ownWords}
	tallies := map[string][]tally{}
	for _, kind := range kinds {
		tallies[kind] = make([]tally, len(languages))
	}
	for at := range o.runs * len(kinds) {
		number, kind := at/len(kinds), kinds[at%len(kinds)]
		of := number % len(languages)
		one := &judged{number: number + 1, of: languages[of], kind: kind, threads: 2 + number/len(languages)%7}
		if err := o.judge(folder, one); o.stopped() {
			break // what it interrupted is not counted
		} else if err != nil {
			return err
		}
		one.print(out)
		tallies[kind][of].add(one)
	}
	for _, kind := range kinds {
		printTallies(out, kind, languages, tallies[kind])
	}
	return nil
}

// judged is one run and what culprit said of it.
type judged struct {
	number, threads int
	of              *language
	kind            string
	told            *recorded
	paid            bool // sharing cost it enough
}

// judge records one run.
func (o options) judge(folder string, one *judged) (err error) {
	if one.told, err = o.record(folder, one.of, one.kind, one.threads); err != nil || !shares(one.kind) {
		return err
	}
	free, err := one.of.costs(one.of.command(padded, one.threads, time.Second, unbounded))
	one.paid = 1-free/one.told.ns >= o.paid
	return err
}

func shares(kind string) bool { return kind == sharesLine || kind == sharesWord }

// found is the suspect that is the line which the run shares, and whether that is the first one;
// nil for none.
func (j *judged) found() (line *suspect, first bool) {
	line, at := j.told.answer.sharedLine()
	return line, line != nil && at == 0 && line.isOf(j.of.place)
}

// verdict is what became of the run in few words.
func (j *judged) verdict() string {
	line, first := j.found()
	switch {
	case line == nil && shares(j.kind):
		return "not told"
	case line == nil:
		return "none, rightly"
	case !shares(j.kind):
		return "**told, wrongly**"
	case !first:
		return "not first"
	}
	text := "first"
	if line.Cause != j.cause() {
		text += ", **the other kind**"
	}
	if line.confirmed() {
		text += ", confirmed"
	}
	if j.of.fields && !line.namesFields() {
		text += ", **without its fields**"
	}
	return text
}

// cause is the suspect that a run is to end in.
func (j *judged) cause() string { return "line." + j.kind + "-sharing" }

// print tells the run, when it has ended.
func (j *judged) print(out io.Writer) {
	cost := fmt.Sprintf("%.1f ns", j.told.ns)
	if j.paid {
		cost += ", sharing cost it"
	}
	var told []string
	for _, one := range j.told.answer.Suspects {
		told = append(told, fmt.Sprint(one.Cause, " ", one.Where))
	}
	fmt.Fprintf(out, "| %d | %s | %s | %d | %s | %s | %s |\n", j.number, j.of.name, j.kind, j.threads, cost, j.verdict(),
		strings.Join(told, "; "))
}

func (t *tally) add(one *judged) {
	t.runs++
	if one.paid {
		t.paid++
	}
	line, first := one.found()
	if line == nil {
		return
	}
	t.raised++
	if !first {
		return
	}
	t.first++
	if one.paid {
		t.paidFirst++
	}
	if line.Cause == one.cause() {
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
	if !shares(kind) {
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
