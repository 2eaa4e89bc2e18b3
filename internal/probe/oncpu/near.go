package oncpu

import (
	"cmp"
	"slices"
)

// Threads that fight for memory are there at the same time. Threads that hand it on (a queue of
// buffers, parts of an array that whoever is free takes next) touch the same lines, too, but are
// never near each other at one instant, though each is there for a hundred microseconds and more.
// The clocks of all CPUs tick together, so that one tick shows where two threads are.

const (
	// besideNs is how far two samples lie apart that show two threads at the same time. The clocks
	// of two CPUs begin together: of 276 such samples 266 were within 20 µs and all within 80, the
	// next ones a period away (load 12 to 26). A period later the other thread may have followed on
	// the same CPU, with what it was just given: at 999 a second such pairs hid that two threads
	// never met.
	besideNs = 100_000
	// Within the shortest reach is near in which chance would bring two threads together so often,
	// or in so large a part of the pairs: a longer one may lead to what another thread has. A short
	// run has few pairs, and tells with others.
	fewestByChance = 10.0
	leastByChance  = 1.0 / 8
	longestReach   = 1 << 20 // bytes: of larger buffers too few lines are sampled twice to look shared
)

// moment is a word with when it was touched.
type moment struct {
	time int64
	word
}

// nearness is how many samples of a word had another thread near, and how many would have by
// chance.
type nearness struct {
	seen     int64
	byChance float64
}

// pair is a sample with one of another thread at the same time.
type pair struct{ one, other *word }

// nearOf tells for each word how often another thread was near it at the same time.
func nearOf(moments []moment, leaves map[int32]string) map[word]nearness {
	found, pairs := map[word]nearness{}, map[string][]pair{}
	slices.SortStableFunc(moments, func(a, b moment) int { return cmp.Compare(a.time, b.time) })
	for i := range moments {
		function := leaves[moments[i].stack]
		if other := beside(moments, i); other != nil && function != "" {
			pairs[function] = append(pairs[function], pair{&moments[i].word, other})
		}
	}
	for _, of := range pairs {
		addNear(found, of)
	}
	return found
}

// beside is what another thread touches at the same time as one does; nil where none was sampled.
func beside(moments []moment, at int) (other *word) {
	one, nearest := &moments[at], int64(besideNs)
	look := func(i int) bool {
		apart := max(moments[i].time-one.time, one.time-moments[i].time)
		if apart < nearest && moments[i].tid != one.tid {
			other, nearest = &moments[i].word, apart
		}
		return apart < nearest
	}
	for i := at - 1; i >= 0 && look(i); i-- {
	}
	for i := at + 1; i < len(moments) && look(i); i++ {
	}
	return other
}

// addNear adds what the pairs of one function show within the shortest reach that tells something.
func addNear(to map[word]nearness, pairs []pair) {
	others := map[lineOf][]uint64{} // lines that the other threads touched, by memory
	for _, one := range pairs {
		in := one.other.in.memoryOf()
		others[in] = append(others[in], one.other.in.line)
	}
	for _, lines := range others {
		slices.Sort(lines)
	}
	chances := make([]float64, len(pairs))
	for reach := uint64(lineBytes); reach <= longestReach; reach *= 2 {
		all := 0.0
		for i, one := range pairs {
			chances[i] = float64(within(others[one.one.in.memoryOf()], one.one.in.line, reach)) / float64(len(pairs))
			all += chances[i]
		}
		if all < min(fewestByChance, leastByChance*float64(len(pairs))) {
			continue
		}
		for i, one := range pairs {
			near := to[*one.one]
			near.byChance += chances[i]
			if isNear(one.one.in, one.other.in, reach) {
				near.seen++
			}
			to[*one.one] = near
		}
		return
	}
}

// memoryOf is the memory that a line lies in: of a process, or what processes share.
func (l lineOf) memoryOf() lineOf { return lineOf{pid: l.pid, memory: l.memory} }

func isNear(a, b lineOf, reach uint64) bool {
	return a.memoryOf() == b.memoryOf() && max(a.line, b.line)-min(a.line, b.line) < reach
}

// within counts the lines of a sorted list that are less than reach away from one.
func within(lines []uint64, line, reach uint64) int {
	first, _ := slices.BinarySearch(lines, line-min(line, reach-1))
	after, _ := slices.BinarySearch(lines, line+reach)
	return after - first
}
