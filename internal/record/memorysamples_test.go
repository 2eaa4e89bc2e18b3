package record

import (
	"fmt"
	"testing"

	"culprit/recording"
)

// Where the processor samples memory, its samples confirm who shares a line, and the recording says
// by what. No machine of CI has such events: page faults stand for them, whose samples have an
// address as well. Not beside other tests: each of its threads is to have a CPU.
func TestMemorySamples(t *testing.T) {
	needs(t)
	recorder, err := Start(t.Context(), Options{Hz: 499, MemoryBy: "page-faults"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(recorder.Close)
	program, seconds := programs.compile(t, "refault.c"), 0.35
	eventually(t, func() (problems []string) {
		seconds *= 2 // on a busy host the threads run at once for little of it
		rec := watchCommand(t, recorder, program, fmt.Sprint(seconds))
		threads, clock := map[int32]bool{}, int64(0)
		for _, row := range rec.Lines {
			if clock += row.Count; row.Hits > 0 && row.Offset < 16 {
				threads[row.Tid] = true
			}
		}
		if len(threads) != 2 || clock == 0 {
			problems = append(problems, fmt.Sprintf("threads %v were seen, %d samples of the clock", threads, clock))
		}
		by := ""
		for _, fact := range rec.Facts {
			if fact.Name == recording.FactMemorySamples {
				by = fact.Value
			}
		}
		if by != "a test (page-faults)" {
			problems = append(problems, fmt.Sprintf("memory was sampled by %q", by))
		}
		return problems
	})
}
