package record

import (
	"fmt"
	"testing"

	"culprit/recording"
)

// Two threads that write neighbouring words share a line falsely, in one word truly; memory of their own is no row.
func TestSharedLines(t *testing.T) {
	program := programs.compile(t, "lines.c")
	for _, mode := range []struct {
		name  string
		words int // of the line
	}{{"apart", 0}, {"near", 2}, {"same", 1}} {
		t.Run(mode.name, func(t *testing.T) {
			recorder := standing.get(t)
			eventually(t, func() []string { return checkLine(watchCommand(t, recorder, program, "0.7", mode.name), mode.words) })
		})
	}
}

// checkLine looks at the line in which the function count_up of both threads writes.
func checkLine(got seen, want int) (problems []string) {
	words, threads := map[int32]bool{}, map[int32]bool{}
	var line uint64
	for _, row := range got.Lines {
		frames := got.StackFrames(row.Stack)
		if len(frames) == 0 || frames[len(frames)-1].Name != "count_up" || !row.Write {
			continue
		}
		if line != 0 && row.Line != line {
			problems = append(problems, fmt.Sprintf("count_up writes in the lines %#x and %#x", line, row.Line))
		}
		line = row.Line
		words[row.Offset], threads[row.Tid] = true, true
		if row.Pid != got.pid || row.Size != 8 || row.Count <= 0 || row.Line%64 != 0 {
			problems = append(problems, fmt.Sprintf("%+v", row))
		}
	}
	if len(words) != want || want > 0 && len(threads) != 2 {
		problems = append(problems, fmt.Sprintf("%d words by %d threads, want %d words; %d samples on the CPU", len(words),
			len(threads), want, countOf(got, recording.SignalCPU)))
	}
	return problems
}

func countOf(got seen, signal string) (count int64) {
	for _, sample := range got.Samples {
		if sample.Signal == signal && sample.Target {
			count += sample.Count
		}
	}
	return count
}
