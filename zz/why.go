package main

import (
	"fmt"
	"os"

	"culprit/internal/cause"
	"culprit/internal/corpus"
)

func why(name string) {
	pair, err := corpus.Open("internal/cause/testdata/corpus/" + name + corpus.Extension)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	j := cause.Judge(pair.Input)
	fmt.Printf("%s: growth %.3g, nobody %.3g, opposed %v, runs A %v B %v\n", name, j.Why.Growth, j.Why.Nobody, cause.Opposed(pair.Input), pair.Input.Result.A, pair.Input.Result.B)
	for _, e := range j.Why.Entries {
		fmt.Printf("  %-22s %-9s %-20s %8.4f %s %v\n", e.Rule, e.Action, e.Cause, e.Seconds, e.Because, e.From)
	}
	for _, m := range j.Why.Moves {
		fmt.Printf("  move %s: %s before %s\n", m.Rule, m.First, m.Before)
	}
	if j.Why.Second != nil {
		fmt.Println("  second", *j.Why.Second)
	}
	for _, s := range j.Suspects {
		fmt.Printf("  suspect %s %.2f (%.2f %.2f) %v\n", s.Cause, s.Share.Value, s.Share.Low, s.Share.High, s.Where)
	}
}
