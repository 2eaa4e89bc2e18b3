package lines

import (
	"testing"

	"culprit/recording"
)

// A drawing tells who writes and who reads each word, and where padding keeps threads apart.
func TestDrawing(t *testing.T) {
	rec := shared(map[[2]int32]int64{{1, 0}: 50, {1, 8}: 20, {2, 16}: 60},
		recording.Line{Tid: 2, Offset: 16, Write: true, Hits: 4, WatchedNs: 1},
		recording.Line{Tid: 1, Offset: 0, Write: true, Hits: 4, WatchedNs: 1})
	rec.Lines[0].Comm = "parse"
	for i := range rec.Lines {
		rec.Lines[i].Comm = "parse"
		if rec.Lines[i].Offset == 16 {
			rec.Lines[i].Name, rec.Lines[i].Field = "counts", ".seen"
		}
	}
	rec.Lines = append(rec.Lines, recording.Line{Line: 0x1000, Pid: 9, Tid: 1, Comm: "parse", Offset: 8, Size: 8, Count: 5,
		Stack: recording.NoStack})
	rec.Threads = []recording.Thread{{Tid: 2, Comm: "second"}}
	found := Find([]*recording.Recording{rec}, nil, []float64{1})
	if len(found) != 1 || found[0].Drawing == nil || len(found[0].Drawing.Words) != 3 {
		t.Fatalf("%+v", found)
	}
	words := found[0].Drawing.Words
	if user := words[0].Users[0]; user != (User{Name: "parse/1", Writes: 50, Hits: 4}) {
		t.Errorf("%+v", user)
	}
	if user := words[1].Users[0]; user != (User{Name: "parse/1", Writes: 20, Reads: 5}) {
		t.Errorf("%+v", user)
	}
	if user := words[2].Users[0]; user != (User{Name: "second/2", Writes: 60, Hits: 4}) || words[2].Name != "counts.seen" {
		t.Errorf("%+v", words[2])
	}
	if words[0].Apart || words[1].Apart || !words[2].Apart {
		t.Errorf("padding belongs before the third word alone: %+v", words)
	}
	if got := found[0].Languages; len(got) != 1 || got[0] != "C" {
		t.Errorf("languages %q", got)
	}
}

// What a hostile recording tells does not leave the line, and users are bounded.
func TestDrawingOfAnything(t *testing.T) {
	samples := map[[2]int32]int64{{1, -8}: 9, {1, 64}: 9}
	for tid := range int32(20) {
		samples[[2]int32{tid, 8}] = 10
	}
	found := Find([]*recording.Recording{shared(samples)}, nil, []float64{1})
	if len(found) != 1 || len(found[0].Drawing.Words) != 1 || len(found[0].Drawing.Words[0].Users) != mostUsers ||
		found[0].Drawing.Words[0].More != 20-mostUsers || found[0].Drawing.Words[0].Apart {
		t.Errorf("%+v", found[0].Drawing)
	}
}
