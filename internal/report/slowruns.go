package report

import (
	"fmt"

	"culprit/internal/investigate"
)

// slowRuns says how many runs of each side are slow ones.
func slowRuns(kinds *investigate.RunKinds) string {
	more, less, many, few := "B", "A", kinds.SlowB, kinds.SlowA
	if kinds.SlowA > kinds.SlowB {
		more, less, many, few = "A", "B", kinds.SlowA, kinds.SlowB
	}
	text := fmt.Sprintf("%d of %s of %s take %s as long as the others, %d of %s", many, plural(kinds.Pairs, "run"), more,
		times(kinds.Slow/kinds.Usual), few, less)
	if !kinds.Decides {
		text += ": too few to tell from chance"
	}
	return text
}
