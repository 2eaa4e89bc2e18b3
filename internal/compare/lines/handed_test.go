package lines

import (
	"testing"

	"culprit/recording"
)

// met is a recording of threads in common lines which were near each other so often, of so many
// times by chance.
func met(pick *recording.Recording, near, byChance float64) *recording.Recording {
	samples := int64(0)
	for i := range pick.Lines {
		samples += pick.Lines[i].Count
	}
	seen := 0.0
	for i := range pick.Lines {
		row := &pick.Lines[i]
		part := float64(row.Count) / float64(samples)
		row.NearByChance = byChance * part
		seen += near * part
		row.Near = int64(seen)
		seen -= float64(row.Near)
	}
	return pick
}

// Memory that two threads have one after the other is nobody's contention, in many lines or in one;
// threads that meet as often as chance has it, that hardly can meet, or of which nothing is known,
// share theirs.
func TestHandedOn(t *testing.T) {
	one := func() *recording.Recording { return shared(map[[2]int32]int64{{1, 0}: 150, {2, 0}: 150}) }
	many := func() *recording.Recording { return scattered(300, byTurns) }
	for _, test := range []struct {
		name           string
		near, byChance float64
		lines          int
	}{{"never together", 0, 30, 0}, {"seldom", 6, 30, 0}, {"as by chance", 29, 30, 1}, {"half as often", 15, 30, 1},
		{"too few to tell", 0, 8, 1}, {"not known", 0, 0, 1}} {
		for what, pick := range map[string]func() *recording.Recording{"a line": one, "many lines": many} {
			rec := met(pick(), test.near, test.byChance)
			if found := Find(nil, []*recording.Recording{rec}, []float64{1}); len(found) != test.lines {
				t.Errorf("%s, %s: %d lines", what, test.name, len(found))
			}
		}
	}
}

// A line costs nothing while one of its threads runs alone: the time of its code is that of the
// other samples, in one line and in many. What a hostile file says of more samples than there are
// costs nothing, too.
func TestAloneCostsNothing(t *testing.T) {
	one := func() *recording.Recording { return shared(map[[2]int32]int64{{1, 0}: 150, {2, 0}: 150}) }
	many := func() *recording.Recording { return scattered(300, byTurns) }
	for what, pick := range map[string]func() *recording.Recording{"a line": one, "many lines": many} {
		seconds := func(alone func(count int64) int64) (all float64) {
			rec := pick()
			rec.Samples = append(rec.Samples, recording.Sample{Signal: recording.SignalCPU, Target: true, Count: 1,
				ValueNs: 10e6, Stack: recording.NoStack})
			for i := range rec.Lines {
				rec.Lines[i].Alone = alone(rec.Lines[i].Count)
			}
			for _, line := range Find(nil, []*recording.Recording{rec}, []float64{1}) {
				for _, function := range line.Functions {
					all += function.B[0]
				}
			}
			return all
		}
		whole := seconds(func(int64) int64 { return 0 })
		for name, got := range map[string]float64{
			"all alone":     seconds(func(count int64) int64 { return count }),
			"more than all": seconds(func(count int64) int64 { return 3 * count }),
			"less than all": whole - seconds(func(int64) int64 { return -5 }),
		} {
			if whole <= 0 || got != 0 {
				t.Errorf("%s, %s: %g s of %g", what, name, got, whole)
			}
		}
	}
}

// Two runs together show what each alone does not, and one side that meets keeps the claim on both.
func TestHandedOnOverRuns(t *testing.T) {
	run := func(near, byChance float64) *recording.Recording { return met(scattered(300, byTurns), near, byChance) }
	find := func(a, b []*recording.Recording) int {
		return len(Find(a, b, []float64{1, 1}[:len(a)+len(b)]))
	}
	if got := find(nil, []*recording.Recording{run(0, 8), run(1, 8)}); got != 0 {
		t.Errorf("two runs together: %d lines", got)
	}
	if got := find([]*recording.Recording{run(0, 20)}, []*recording.Recording{run(20, 20)}); got != 1 {
		t.Errorf("handed on before, shared now: %d lines", got)
	}
}

// What a damaged recording says of meetings is not taken.
func TestHandedOnOfNonsense(t *testing.T) {
	rec := met(scattered(300, byTurns), 0, 30)
	for i := range rec.Lines {
		rec.Lines[i].NearByChance = 1e300
	}
	if found := Find(nil, []*recording.Recording{rec}, []float64{1}); len(found) != 1 {
		t.Errorf("%d lines", len(found))
	}
}
