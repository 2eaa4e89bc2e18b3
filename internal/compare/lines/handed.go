package lines

import "culprit/recording"

// Memory that threads have one after the other (buffers in a queue, parts of an array that whoever
// is free takes) is touched by all of them, and fought for by none: each line changes its owner
// once for all that is done in it. Such threads are never near each other at the same instant;
// those that fight for memory are as often as chance has it.

const (
	// fewestMet is how often chance must have brought threads together, over all runs, for their
	// never meeting to tell something: ten expected and two or fewer seen comes up by chance in 3
	// of 1,000.
	fewestMet = 10
	// mostMet is the part of the meetings by chance up to which threads avoid each other. Blocks
	// that go round between two had 1 of 17, threads with objects in common lines 14 of 11 and 5 of
	// 9 (load 12 to 26).
	mostMet = 0.25
)

// handedOn are the functions whose threads have the memory that they touch one after the other, by
// all recordings: where one side alone does so, it is not known which of both the other one's
// samples show.
func handedOn(sides [2][]*window) map[recording.Frame]bool {
	met, byChance := map[recording.Frame]float64{}, map[recording.Frame]float64{}
	for _, side := range sides {
		for _, w := range side {
			for _, use := range w.uses {
				for i, row := range use.rows {
					if chance := row.NearByChance; chance > 0 && chance <= float64(row.Count) && row.Near >= 0 {
						met[use.leaves[i]] += float64(row.Near)
						byChance[use.leaves[i]] += chance
					}
				}
			}
		}
	}
	handed := map[recording.Frame]bool{}
	for function, expected := range byChance {
		if function.Name != "" && expected >= fewestMet && met[function] <= mostMet*expected {
			handed[function] = true
		}
	}
	return handed
}

// handedBy reports whether all code that touches a line hands its memory on.
func (u *use) handedBy(handed map[recording.Frame]bool) bool {
	for function := range u.functions {
		if !handed[function] {
			return false
		}
	}
	return len(u.functions) > 0
}
