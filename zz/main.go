package main

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"culprit/internal/corpus"
)

func main() {
	if len(os.Args) > 3 {
		rec(os.Args[2])
		return
	}
	if len(os.Args) > 2 {
		why(os.Args[2])
		return
	}
	files, err := corpus.List("internal/cause/testdata/corpus")
	if err != nil {
		panic(err)
	}
	out := make([]string, len(files))
	var wg sync.WaitGroup
	for i, file := range files {
		if len(os.Args) > 1 && !strings.Contains(file, os.Args[1]) {
			continue
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			pair, err := corpus.Open(file)
			if err != nil {
				panic(err)
			}
			a := pair.Answer()
			var b strings.Builder
			fmt.Fprintf(&b, "%s: %s %s\n", pair.Name, a.Outcome, a.Metric)
			for _, s := range a.Suspects {
				place := "nowhere"
				if len(s.Where) > 0 {
					place = s.Where[0]
				}
				fmt.Fprintf(&b, "  %s %.0f %% %s at %s\n", s.Cause, 100*s.Share.Value, s.Level, place)
			}
			out[i] = b.String()
		}()
	}
	wg.Wait()
	fmt.Print(strings.Join(out, ""))
}
