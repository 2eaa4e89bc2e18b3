package record

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"culprit/recording"
)

// Two threads that write neighbouring words share a line falsely, in one word truly; nobody shares
// memory of their own.
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

// Debug registers confirm what samples show: neighbouring words by one thread each, one word by
// both.
func TestSharedLinesConfirmed(t *testing.T) {
	needs(t)
	recorder, err := Start(t.Context(), Options{Hz: 499, Confirm: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(recorder.Close)
	program := programs.compile(t, "lines.c")
	for _, mode := range []struct {
		name  string
		words int
	}{{"near", 2}, {"same", 1}} {
		t.Run(mode.name, func(t *testing.T) {
			eventually(t, func() []string { return checkHits(watchCommand(t, recorder, program, "1.2", mode.name), mode.words) })
		})
	}
	processes := programs.compile(t, "processes.c")
	t.Run("near in two processes", func(t *testing.T) {
		eventually(t, func() (problems []string) {
			words, hits := map[[2]int32]bool{}, int64(0) // a process that never ran while it was watched has no hits
			for _, row := range watchCommand(t, recorder, processes, "1.2", "near", "memfd").Lines {
				if hits += row.Hits; row.Hits > 0 && row.Memory != "" {
					words[[2]int32{row.Pid, row.Offset}] = true
				}
			}
			if hits == 0 || len(words) > 2 {
				problems = append(problems, fmt.Sprintf("%d hits, by process and word %v", hits, words))
			}
			return problems
		})
	})
}

// A thread's own variable, which another one reaches by a pointer, is shared as any other memory.
// Own memory that goes from thread to thread, with the stack, is not.
func TestSharedLinesOfOwnMemory(t *testing.T) {
	program := programs.compile(t, "threadlocal.c")
	for _, mode := range []struct {
		name  string
		words int // of the line
	}{{"apart", 0}, {"turns", 0}, {"near", 2}} {
		t.Run(mode.name, func(t *testing.T) {
			recorder := standing.get(t)
			eventually(t, func() []string {
				got := watchCommand(t, recorder, program, "0.7", mode.name)
				problems := checkLine(got, mode.words)
				for _, row := range got.Lines {
					if row.Count > 0 && row.Name != "" && row.Name != "own" {
						problems = append(problems, fmt.Sprintf("word %d is called %q", row.Offset, row.Name))
					}
				}
				return problems
			})
		})
	}
}

// checkHits looks at the words that threads were seen at.
func checkHits(got seen, words int) (problems []string) {
	by := map[int32]map[int32]bool{}
	for _, row := range got.Lines {
		if row.Hits > 0 && row.Write && row.WatchedNs <= 0 {
			problems = append(problems, fmt.Sprintf("hit, and not watched: %+v", row))
		}
		if row.Hits > 0 && by[row.Offset] == nil {
			by[row.Offset] = map[int32]bool{}
		}
		if row.Hits > 0 {
			by[row.Offset][row.Tid] = true
		}
	}
	for _, row := range got.Lines {
		if row.Count > 0 && row.Name != "shared" && row.Name != "" { // gcc may give the struct no symbol of its own
			problems = append(problems, fmt.Sprintf("word %d is called %q", row.Offset, row.Name))
		}
	}
	for offset, threads := range by {
		if len(threads) != 2/words {
			problems = append(problems, fmt.Sprintf("%d threads at word %d", len(threads), offset))
		}
	}
	if len(by) != words {
		problems = append(problems, fmt.Sprintf("hits in %d words, want %d: %v", len(by), words, by))
	}
	return problems
}

// countersOfLines are the functions that count in what threads share.
var countersOfLines = []string{"count_up", "count_own", "count_foreign"}

// sharedRows are those of lines that several threads touched: lines that one has for itself are
// kept as well, to be compared with another process of the same program.
func sharedRows(rows []recording.Line) (shared []recording.Line) {
	type place struct {
		memory string
		pid    int32
		line   uint64
	}
	placeOf := func(row *recording.Line) place {
		if row.Memory != "" {
			return place{memory: row.Memory, line: uint64(row.MemoryOffset)}
		}
		return place{pid: row.Pid, line: row.Line}
	}
	threads := map[place]map[int32]bool{}
	for i := range rows {
		at := placeOf(&rows[i])
		if threads[at] == nil {
			threads[at] = map[int32]bool{}
		}
		threads[at][rows[i].Tid] = true
	}
	return slices.DeleteFunc(slices.Clone(rows), func(row recording.Line) bool { return len(threads[placeOf(&row)]) < 2 })
}

// checkLine looks at the line in which these functions of both threads write.
func checkLine(got seen, want int) (problems []string) {
	words, threads := map[int32]bool{}, map[int32]bool{}
	var line uint64
	for _, row := range sharedRows(got.Lines) {
		frames := got.StackFrames(row.Stack)
		if len(frames) == 0 || !slices.Contains(countersOfLines, frames[len(frames)-1].Name) || !row.Write {
			continue
		}
		if line != 0 && row.Line != line {
			problems = append(problems, fmt.Sprintf("they write in the lines %#x and %#x", line, row.Line))
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

// Processes share a line of what both have mapped as threads do, wherever it lies in each of them.
// What lies at one address and is each one's own is not shared.
func TestSharedLinesOfProcesses(t *testing.T) {
	program := programs.compile(t, "processes.c")
	for _, mode := range []struct {
		name, memory string
		words        int // of the line
		path         string
	}{{"near", "memfd", 2, "/memfd:board"}, {"near", "segment", 2, "/SYSV"}, {"same", "shared", 1, "/dev/zero"},
		{"apart", "file", 0, ""}, {"near", "private", 0, ""}} {
		t.Run(mode.name+" "+mode.memory, func(t *testing.T) {
			recorder := standing.get(t)
			eventually(t, func() []string {
				got := watchCommand(t, recorder, program, "0.8", mode.name, mode.memory)
				return checkShared(got, mode.words, mode.path)
			})
		})
	}
}

// checkShared looks at the line in which count_up of both processes writes.
func checkShared(got seen, want int, path string) (problems []string) {
	words, processes, offsets := map[int32]bool{}, map[int32]bool{}, map[uint64]bool{}
	for _, row := range sharedRows(got.Lines) {
		frames := got.StackFrames(row.Stack)
		if len(frames) == 0 || frames[len(frames)-1].Name != "count_up" || !row.Write {
			continue
		}
		words[row.Offset], processes[row.Pid], offsets[row.MemoryOffset] = true, true, true
		if !strings.Contains(row.Memory, " "+path) || row.MemoryOffset != 4096 || row.Tid != row.Pid {
			problems = append(problems, fmt.Sprintf("%+v", row))
		}
	}
	if len(words) != want || want > 0 && len(processes) != 2 || len(offsets) > 1 {
		problems = append(problems, fmt.Sprintf("%d words of lines %v by %d processes, want %d words; %d samples on the CPU",
			len(words), offsets, len(processes), want, countOf(got, recording.SignalCPU)))
	}
	return problems
}
