package lines

import (
	"fmt"
	"maps"
	"slices"

	"culprit/internal/compare/perrun"
	"culprit/recording"
)

// Where memory lies differs between processes of one program: the kernel puts stacks and heaps
// somewhere else each time, and what was allocated before moves what comes after it. Words that
// share a line in one process lie in two lines of another. There the same code works on lines that
// threads have each for itself.

// Layout is what tells that the words of a line lie elsewhere in other runs.
type Layout struct {
	// A and B are samples per run of the line's code in lines that threads have each for itself.
	A, B []float64
	// Shifted says that no word that has a name on both sides lies at the same place of its line.
	Shifted bool
}

// fewestOwners is how many threads must have lines of their own for these to be what others share.
const fewestOwners = 2

// isOwn reports whether one thread has a line for itself. That it writes there need not show: of a
// word that is read and written back, nearly all samples are at the reading.
func (u *use) isOwn() bool { return !u.sparse() && u.oneUser() }

// owner is whose line it is.
func (u *use) owner() string {
	if u.byTask() {
		return fmt.Sprint("task ", usual(u.tasks))
	}
	return fmt.Sprint("thread ", usual(u.words))
}

// usual is who touches a line most.
func usual[K int32 | uint64](of users[K]) (who K) {
	all, _ := of.each()
	most := 0.0
	for _, one := range slices.Sorted(maps.Keys(all)) {
		if all[one] > most {
			who, most = one, all[one]
		}
	}
	return who
}

// secondsAt is how long each function was at lines that threads share or have each for themselves,
// by run, while others ran and while none did; of functions that are at lines of the second kind.
func secondsAt(windows [2][]*window, runs int) map[recording.Frame][]float64 {
	found, own := map[recording.Frame][]float64{}, map[recording.Frame]bool{}
	for _, side := range windows {
		for _, w := range side {
			for _, use := range w.uses {
				if !use.isOwn() && !w.shares(use) {
					continue
				}
				for function, samples := range use.functions {
					if found[function] == nil {
						found[function] = make([]float64, runs)
					}
					found[function][w.at] += samples * w.seconds
					own[function] = own[function] || use.isOwn()
				}
			}
		}
	}
	maps.DeleteFunc(found, func(function recording.Frame, _ []float64) bool { return !own[function] })
	return found
}

// layOut tells of a line how its words lie in all runs.
func (m *merged) layOut(windows [2][]*window, sides perrun.Sides) {
	samples := sides.Amounts()
	places := [2]map[string]map[int32]bool{{}, {}}
	for i, side := range windows {
		for _, w := range side {
			owners, count := map[string]bool{}, 0.0
			for _, use := range w.uses {
				if !m.touchedBy(use) {
					continue
				}
				use.placesInto(places[i])
				if use.isOwn() {
					owners[use.owner()] = true
					count += use.count
				}
			}
			if len(owners) >= fewestOwners {
				samples[w.at] = count
			}
		}
	}
	m.Layout.A, m.Layout.B = sides.Split(samples)
	m.Layout.Shifted = shifted(places)
}

// touchedBy reports whether most of another line's samples are of the same code.
func (m *merged) touchedBy(use *use) bool {
	common, all := 0.0, 0.0
	for function, samples := range use.functions {
		all += samples
		if m.touches[function] > 0 {
			common += samples
		}
	}
	return common > 0 && common >= mostlyHeld*all
}

// placesInto enters where in the line each word lies that has a name.
func (u *use) placesInto(places map[string]map[int32]bool) {
	for _, row := range u.rows {
		if row.Name == "" {
			continue
		}
		name := row.Name + row.Field
		if places[name] == nil {
			places[name] = map[int32]bool{}
		}
		places[name][row.Offset] = true
	}
}

// shifted reports whether words of the same name lie at other places of a line on each side, all of
// them.
func shifted(places [2]map[string]map[int32]bool) bool {
	common := 0
	for name, inA := range places[0] {
		inB := places[1][name]
		if inB == nil {
			continue
		}
		common++
		for offset := range inA {
			if inB[offset] {
				return false
			}
		}
	}
	return common > 0
}
