package lines

import (
	"math/rand/v2"
	"testing"

	"culprit/internal/stat"
	"culprit/recording"
)

// scattered is a recording of two threads that touch many lines: pick says in which line and word a
// sample is.
func scattered(samples int, pick func(draw *rand.Rand, tid int32) (line uint64, offset int32)) *recording.Recording {
	draw := rand.New(rand.NewPCG(7, uint64(samples)))
	rec := &recording.Recording{}
	rec.Frames = []recording.Frame{{Name: "book", Kind: recording.KindNative}}
	rec.Stacks = []recording.Stack{{Frames: []int32{0}}}
	counts := map[recording.Line]int64{}
	for range samples {
		tid := 1 + draw.Int32N(2)
		line, offset := pick(draw, tid)
		counts[recording.Line{Line: line * 64, Pid: 9, Tid: tid, Offset: offset, Size: 8, Write: true}]++
	}
	for row, count := range counts {
		row.Count = count
		rec.Lines = append(rec.Lines, row)
	}
	return rec
}

const manyLines = 400

// byTurns gives each thread a half of each line, byHalves each thread half of the lines, anywhere
// all of both.
func byTurns(draw *rand.Rand, tid int32) (line uint64, offset int32) {
	return draw.Uint64N(manyLines), 32*(tid-1) + 8*draw.Int32N(2)
}

func byHalves(draw *rand.Rand, tid int32) (line uint64, offset int32) {
	return draw.Uint64N(manyLines/2) + manyLines/2*uint64(tid-1), 8 * draw.Int32N(8)
}

func anywhere(draw *rand.Rand, _ int32) (line uint64, offset int32) {
	return draw.Uint64N(manyLines), 8 * draw.Int32N(2)
}

// Many lines with a sample or two each are told as one, with all of their samples, by what happens
// where two meet.
func TestSpread(t *testing.T) {
	for _, test := range []struct {
		name  string
		pick  func(draw *rand.Rand, tid int32) (uint64, int32)
		lines int
		false bool
	}{{"a half of each line for each thread", byTurns, 1, true}, {"half of the lines for each thread", byHalves, 0, false},
		{"all lines for both", anywhere, 1, false}} {
		found := Find(nil, []*recording.Recording{scattered(300, test.pick), scattered(310, test.pick)}, []float64{1, 1})
		if len(found) != test.lines {
			t.Errorf("%s: %d lines: %+v", test.name, len(found), found)
			continue
		}
		if test.lines == 0 {
			continue
		}
		line := found[0]
		if samples := stat.Average(line.B); line.False != test.false || samples < 0.7*305 || samples > 305 ||
			line.Lines < 150 || line.Lines > manyLines || line.Threads != 2 || line.Confirmed {
			t.Errorf("%s: false %v, %v samples in %d lines", test.name, line.False, line.B, line.Lines)
		}
	}
}

// A side with few samples, of which hardly two meet, shares as the other one does; one that shows
// that its threads have lines of their own does not.
func TestSpreadOnBothSides(t *testing.T) {
	both := func(a, b *recording.Recording) (of, to float64) {
		for _, line := range Find([]*recording.Recording{a}, []*recording.Recording{b}, []float64{1, 1}) {
			of, to = of+stat.Average(line.A), to+stat.Average(line.B)
		}
		return of, to
	}
	if a, b := both(scattered(40, byTurns), scattered(400, byTurns)); a < 25 || b < 300 {
		t.Errorf("alike on both sides: %g to %g samples", a, b)
	}
	if a, b := both(scattered(400, byHalves), scattered(400, byTurns)); a > 40 || b < 300 {
		t.Errorf("shared on one side: %g to %g samples", a, b)
	}
}

// Lines that debug registers watched in vain in both threads go from one to the other: nobody
// fights for them. Hits in both show that they do.
func TestSpreadThatWasWatched(t *testing.T) {
	for hits, want := range []int{0, 1} {
		rec := scattered(300, byTurns)
		watched := map[uint64]bool{}
		for _, row := range rec.Lines {
			if watched[row.Line] = true; len(watched) == 4 {
				break
			}
		}
		for line := range watched {
			for tid := range int32(2) {
				rec.Lines = append(rec.Lines, recording.Line{Line: line, Pid: 9, Tid: tid + 1, Offset: 32 * tid, Size: 8,
					Write: true, WatchedNs: 5e6, Hits: int64(hits), Stack: recording.NoStack})
			}
		}
		found := Find(nil, []*recording.Recording{rec}, []float64{1})
		if len(found) != want || want > 0 && !found[0].Confirmed {
			t.Errorf("%d hits: %+v", hits, found)
		}
	}
}

// Lines that are touched by mostly the same code are one suspect; other objects, and other code,
// are another.
func TestGathered(t *testing.T) {
	rec := shared(map[[2]int32]int64{{1, 0}: 50, {2, 8}: 50})
	rec.Frames = append(rec.Frames, recording.Frame{Name: "drop", Kind: recording.KindNative},
		recording.Frame{Name: "other", Kind: recording.KindNative})
	rec.Stacks = append(rec.Stacks, recording.Stack{Frames: []int32{1}}, recording.Stack{Frames: []int32{2}})
	add := func(line uint64, stack int32, name string, count int64) {
		for tid := range int32(2) {
			rec.Lines = append(rec.Lines, recording.Line{Line: line, Pid: 9, Tid: tid + 1, Offset: 8 * tid, Size: 8, Write: true,
				Count: count, Stack: stack, Name: name})
		}
	}
	add(0x1000, 1, "", 20)       // the first line, in drop
	add(0x2000, 0, "", 30)       // another, in count alone
	add(0x3000, 1, "", 9)        // in drop alone
	add(0x4000, 2, "", 15)       // other code
	add(0x5000, 0, "Order", 10)  // may be the same: the others have no name
	add(0x6000, 2, "Order", 12)  // other code
	add(0x7000, 2, "Ticket", 11) // the same code and more, and another object
	add(0x7000, 1, "Ticket", 5)
	found := Find(nil, []*recording.Recording{rec}, []float64{1})
	if len(found) != 3 || found[0].Lines != 4 || found[0].B[0] != 140+60+18+20 || found[1].Lines != 2 ||
		found[2].Name != "Ticket" {
		t.Errorf("%d lines: %+v", len(found), found)
	}
}

// named gives the lines of a recording to one class: half of the words to one function, the rest to
// another, each with a field of its own.
func named(rec *recording.Recording, class, first, second string) *recording.Recording {
	at := int32(len(rec.Frames))
	rec.Frames = append(rec.Frames, recording.Frame{Name: first, Kind: recording.KindNative},
		recording.Frame{Name: second, Kind: recording.KindNative})
	stack := int32(len(rec.Stacks))
	rec.Stacks = append(rec.Stacks, recording.Stack{Frames: []int32{at}}, recording.Stack{Frames: []int32{at + 1}})
	for i := range rec.Lines {
		row := &rec.Lines[i]
		row.Name, row.Field, row.Stack = class, ".orders", stack
		if row.Offset%16 != 0 {
			row.Field, row.Stack = ".volume", stack+1
		}
	}
	return rec
}

// beside adds the lines of another recording, which lie elsewhere and are of other code.
func beside(rec, other *recording.Recording) *recording.Recording {
	frames, stacks := int32(len(rec.Frames)), int32(len(rec.Stacks))
	rec.Frames = append(rec.Frames, other.Frames...)
	for _, stack := range other.Stacks {
		moved := recording.Stack{}
		for _, frame := range stack.Frames {
			moved.Frames = append(moved.Frames, frame+frames)
		}
		rec.Stacks = append(rec.Stacks, moved)
	}
	for _, row := range other.Lines {
		row.Line += 1 << 40
		row.Stack += stacks
		rec.Lines = append(rec.Lines, row)
	}
	return rec
}

// Objects of one class are one suspect, whichever of its functions touch them at which field; those
// of another class, and those of code that names none, are another.
func TestOneClassIsOneSuspect(t *testing.T) {
	class := func(name, first, second string) *recording.Recording {
		return named(scattered(600, byTurns), name, first, second)
	}
	for _, test := range []struct {
		what  string
		other *recording.Recording
		lines int
	}{{"the same class in other functions", class("Account", "refund", "close"), 1},
		{"another class", class("Ticket", "sell", "punch"), 2},
		{"no class: each function for itself", class("", "sell", "punch"), 3}} {
		found := Find(nil, []*recording.Recording{beside(class("Account", "book", "count"), test.other)}, []float64{1})
		if len(found) != test.lines {
			t.Errorf("%s: %d suspects: %+v", test.what, len(found), found)
			continue
		}
		functions, samples := 0, 0.0
		for _, line := range found {
			functions, samples = functions+len(line.Functions), samples+line.B[0]
		}
		if functions != 4 || samples < 0.6*1200 || samples > 1200 {
			t.Errorf("%s: %d functions, %g samples", test.what, functions, samples)
		}
	}
}
