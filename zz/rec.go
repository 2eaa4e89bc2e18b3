package main

import (
	"fmt"

	"culprit/internal/cause"
	"culprit/internal/corpus"
)

func rec(name string) {
	pair, err := corpus.Open("internal/cause/testdata/corpus/" + name + corpus.Extension)
	if err != nil {
		panic(err)
	}
	rs, err := corpus.OpenRecordings("internal/compare/testdata/pairs/" + name + corpus.RecordingsExtension)
	if err != nil {
		panic(err)
	}
	if err := pair.Compare(rs); err != nil {
		panic(err)
	}
	j := cause.Judge(pair.Input)
	for _, e := range j.Why.Entries {
		fmt.Printf("  %-22s %-9s %-20s %8.4f %s %v\n", e.Rule, e.Action, e.Cause, e.Seconds, e.Because, e.From)
	}
	for _, s := range j.Suspects {
		fmt.Printf("  suspect %s %.2f (%.2f %.2f) %v\n", s.Cause, s.Share.Value, s.Share.Low, s.Share.High, s.Where)
		for _, e := range s.Evidence {
			fmt.Println("      ", e)
		}
	}
}
