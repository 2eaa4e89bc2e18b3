package lines

import (
	"maps"
	"regexp"
	"slices"

	"culprit/internal/compare/names"
	"culprit/recording"
)

// Threads may contend for many lines at once: an array with a small struct for each thread's turn,
// many objects of one class. Each line has a sample or two then, which tell nothing. All lines that
// the same code touches at the same field do: how often two samples of one line are of different
// threads.

const (
	// sparseAtMost is how many samples a line has that does not tell by itself who shares it.
	sparseAtMost = 8
	// fewestConflicts is how many samples, over all runs, must have met another of the same line by
	// another thread, one of the two writing.
	fewestConflicts = 10
	// leastShared is the part of the meetings that are of different threads, by what there would be
	// if each thread used all lines: memory that each thread has a part of has none.
	leastShared = 0.5
	// watchedVainly is how many of the lines debug registers may watch, two threads each, without
	// seeing both: then memory goes from thread to thread, and is not fought for.
	watchedVainly = 3
)

// spreadKey is the code that touches lines and the field of them that it touches.
type spreadKey struct {
	function recording.Frame
	field    string
}

// spread is what the sparse lines of one key show, in the runs of one side.
type spread struct {
	mass      []float64 // samples by run
	fought    []float64 // of those, while others ran that touch the lines
	lines     []float64
	users     map[spreadUser]float64
	meetings  float64 // of a sample with another one of its line
	foreign   float64 // of those, with one by another user
	conflicts float64 // of those, where one of the two writes
	sameWord  float64 // meetings in one word
	mixedWord float64 // of those, with one by another user
	part      float64 // of the lines that is shared
	isApart   bool    // the threads use different words
	isHanded  bool    // the threads have the lines one after the other
	uses      []*use
	windows   []*window // of the uses
}

// spreadUser is a thread in one run.
type spreadUser struct {
	run int
	tid int32
}

// spreads are those of each side whose lines are shared, by key.
func spreads(sides [2][]*window, runs int, handed map[recording.Frame]bool) (found [2]map[spreadKey]*spread) {
	shared, told, nameless := map[spreadKey]bool{}, map[spreadKey]bool{}, namelessIn(sides)
	for i, side := range sides {
		found[i] = map[spreadKey]*spread{}
		for _, w := range side {
			for _, use := range w.uses {
				if use.sparse() && !use.moving(w.unmaps) {
					use.nameless = nameless
					use.spreadInto(found[i], w, runs)
				}
			}
		}
		for key, one := range found[i] {
			one.isHanded = handed[key.function]
			shared[key] = shared[key] || one.isShared() && one.meets(side)
			told[key] = told[key] || one.isNone()
		}
	}
	for i := range found {
		maps.DeleteFunc(found[i], func(key spreadKey, _ *spread) bool { return !shared[key] && !told[key] })
	}
	alike(found)
	return found
}

// fewestMeetings is how many a side must have to tell by itself what part of its lines is shared.
const fewestMeetings = 10

// alike settles what both sides are told by. Meetings grow with the square of the samples: a
// shorter side that has none shares as the other does, until it shows that it does not.
func alike(sides [2]map[spreadKey]*spread) {
	for i, side := range sides {
		for key, one := range side {
			other := sides[1-i][key]
			one.part = one.shared()
			if other != nil && one.meetings < fewestMeetings {
				one.part = other.shared()
			}
			if one.isNone() {
				one.part = 0
			}
			one.isApart = one.apart()
			if other != nil {
				both := spread{mixedWord: one.mixedWord + other.mixedWord, sameWord: one.sameWord + other.sameWord}
				one.isApart = both.apart()
			}
		}
	}
}

func (u *use) sparse() bool { return u.count <= sparseAtMost }

// keyOf is the key of a row by its number; not ok without a stack.
func (u *use) keyOf(row int) (key spreadKey, ok bool) {
	key.function = u.leaves[row]
	if !u.nameless[key.function] {
		key.field = fieldOf(u.rows[row])
	}
	return key, key.function.Name != ""
}

// namelessIn are the functions that touch a word without a name: their fields do not tell lines
// apart.
func namelessIn(sides [2][]*window) map[recording.Frame]bool {
	found := map[recording.Frame]bool{}
	for _, side := range sides {
		for _, w := range side {
			for _, use := range w.uses {
				for i, row := range use.rows {
					if row.Count > 0 && row.Name == "" && use.sparse() {
						found[use.leaves[i]] = true
					}
				}
			}
		}
	}
	return found
}

var element = regexp.MustCompile(`\[[0-9]+\]`)

// fieldOf is the field of a row in any element of its array.
func fieldOf(row *recording.Line) string { return element.ReplaceAllString(row.Name+row.Field, "[]") }

// spreadInto adds the samples of a line to those of their keys.
func (u *use) spreadInto(all map[spreadKey]*spread, w *window, runs int) {
	seen := map[spreadKey]bool{}
	for i, row := range u.rows {
		key, known := u.keyOf(i)
		if !known || row.Count <= 0 {
			continue
		}
		into := all[key]
		if into == nil {
			into = &spread{mass: make([]float64, runs), fought: make([]float64, runs), lines: make([]float64, runs),
				users: map[spreadUser]float64{}}
			all[key] = into
		}
		if !seen[key] {
			seen[key] = true
			into.lines[w.at]++
			into.uses, into.windows = append(into.uses, u), append(into.windows, w)
		}
		into.mass[w.at] += float64(row.Count)
		into.fought[w.at] += foughtFor(row)
		into.users[spreadUser{w.at, row.Tid}] += float64(row.Count)
		into.meet(row, row, float64(row.Count)*float64(row.Count-1))
		for j, other := range u.rows {
			if i != j && other.Count > 0 {
				into.meet(row, other, float64(row.Count)*float64(other.Count))
			}
		}
	}
}

// meet counts meetings of a row's samples with those of another.
func (s *spread) meet(row, other *recording.Line, times float64) {
	foreign := row.Tid != other.Tid && (row.Task == 0 || row.Task != other.Task)
	s.meetings += times
	if row.Offset == other.Offset {
		s.sameWord += times
	}
	if !foreign {
		return
	}
	s.foreign += times
	if row.Offset == other.Offset {
		s.mixedWord += times
	}
	if row.Write || other.Write {
		s.conflicts += times
	}
}

// shared is the part of the lines that all threads use, of 1.
func (s *spread) shared() float64 {
	alike, all := 0.0, 0.0
	byRun := map[int]float64{}
	for user, count := range s.users {
		byRun[user.run] += count
	}
	for user, count := range s.users {
		alike += count * count / byRun[user.run]
		all += count
	}
	if s.meetings == 0 || all <= alike {
		return 0
	}
	return min(s.foreign/s.meetings/(1-alike/all), 1)
}

// isShared reports whether threads contend for the lines.
func (s *spread) isShared() bool {
	return s.conflicts >= fewestConflicts && s.shared() >= leastShared && !s.isNone()
}

// isNone reports whether nobody fights for the lines.
func (s *spread) isNone() bool { return s.isHanded || s.isVain() }

// isVain reports whether debug registers watched lines in vain: these are not shared.
func (s *spread) isVain() bool {
	confirmed, vain := 0, 0
	for _, use := range s.uses {
		if use.confirmed() {
			confirmed++
		} else if use.watchedThreads() > 1 {
			vain++
		}
	}
	return confirmed == 0 && vain >= watchedVainly
}

// apart reports whether the threads use different words of the lines.
func (s *spread) apart() bool { return s.mixedWord <= movedAtMost*s.sameWord }

// meets reports whether its threads ran at the same time in one of the runs.
func (s *spread) meets(side []*window) bool {
	return slices.ContainsFunc(side, func(w *window) bool {
		pids, threads := map[int32]bool{}, map[int32]bool{}
		for user := range s.users {
			if user.run == w.at {
				threads[user.tid] = true
			}
		}
		for _, use := range w.uses {
			for pid := range use.pids {
				pids[pid] = true
			}
		}
		return len(threads) > 1 && w.seats.meet(pids, threads)
	})
}

// told reports whether all that a sparse line shows is told by spreads.
func (u *use) told(by map[spreadKey]*spread) bool {
	if !u.sparse() || len(by) == 0 {
		return false
	}
	for i, row := range u.rows {
		if key, known := u.keyOf(i); row.Count > 0 && (!known || by[key] == nil) {
			return false
		}
	}
	return true
}

// watchedThreads is how many threads debug registers watched at the line while they ran.
func (u *use) watchedThreads() int {
	threads := map[int32]bool{}
	for _, row := range u.rows {
		if row.WatchedNs > 0 {
			threads[row.Tid] = true
		}
	}
	return len(threads)
}

// inOrderOfKeys lists spreads by their keys.
func inOrderOfKeys(all map[spreadKey]*spread) []spreadKey {
	return slices.SortedFunc(maps.Keys(all), func(x, y spreadKey) int {
		if by := names.KeyOf(x.function).Compare(names.KeyOf(y.function)); by != 0 {
			return by
		}
		if x.field < y.field {
			return -1
		}
		return 1
	})
}
