package record

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"culprit/recording"
)

// Code that a program made itself is named by the map that it writes, and its callers are there
// too, once the process was looked at.
func TestMadeCode(t *testing.T) {
	recorder := standing.get(t)
	program := programs.compile(t, "made.c")
	eventually(t, func() []string { return madeProblems(t, watchCommand(t, recorder, program, "1.5")) })
}

func madeProblems(t *testing.T, got seen) (problems []string) {
	truth := numbers(t, got.output)
	much, little, broken, whole := 0.0, 0.0, 0, 0
	slices.SortStableFunc(got.Samples, func(a, b recording.Sample) int { return int(a.TimeNs - b.TimeNs) })
	for _, sample := range got.Samples {
		stack := got.StackNames(sample.Stack)
		if sample.Signal != recording.SignalCPU || !sample.Target || len(stack) == 0 {
			continue
		}
		if _, is := got.StackFrames(sample.Stack)[0].Broken(); is {
			if whole > 0 {
				broken++
			}
			continue
		}
		at := slices.Index(stack, "dispatch")
		if at < 1 || at+1 >= len(stack) || !slices.Contains(stack[:at], "main") {
			continue
		}
		whole++
		switch stack[at+1] {
		case "spin_much":
			much++
		case "spin_little":
			little++
		}
	}
	wrong := func(format string, values ...any) { problems = append(problems, fmt.Sprintf(format, values...)) }
	if much+little < 100 || much+little < 0.95*float64(whole) {
		wrong("%.0f samples are named, %d are below dispatch", much+little, whole)
	}
	if broken > whole/20 {
		wrong("%d stacks are broken after the first of %d whole ones", broken, whole)
	}
	want := truth["spin_much"] / (truth["spin_much"] + truth["spin_little"])
	if share := much / (much + little); !(math.Abs(share-want) < 0.07) {
		wrong("share of the function with more: %.3f, the truth is %.3f", share, want)
	}
	return problems
}
