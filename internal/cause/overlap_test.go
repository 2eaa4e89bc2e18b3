package cause_test

import (
	"fmt"
	"os"
	"testing"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/corpus"
)

// cases are all inputs that the tests of the model look at: the made-up situations and the corpus, by both metrics.
func cases(t *testing.T) []cause.Case {
	all := cause.MadeUp(t)
	files, err := corpus.List(corpusFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		pair, err := corpus.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, cause.Case{Name: pair.Name, Input: pair.Input})
		for _, result := range []*compare.Result{pair.Input.CPU, pair.Input.Wall} {
			if result != nil && result != pair.Input.Result {
				in := pair.Input
				in.Result, in.MeasuredChangeKnown = result, false
				all = append(all, cause.Case{Name: pair.Name + " by " + result.Metric, Input: in})
			}
		}
	}
	return all
}

func TestDumpOverlaps(t *testing.T) {
	fmt.Println(cause.DumpStated())
	if os.Getenv("ONLY") != "" {
		return
	}
	out, _ := os.Create("/tmp/overlaps.raw")
	for _, one := range cases(t) {
		for _, o := range cause.Overlaps(one.Input) {
			fmt.Fprintf(out, "%s\t%s\t%g\t%g\t%g\t%g\t%s\t%s\t%v\t%v\n", o.First, o.Then, o.Seconds, o.Growth, o.Held, o.Wanted, one.Name, o.Path, o.Direct, o.Way)
		}
	}
	out.Close()
}
