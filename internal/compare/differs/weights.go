package differs

import (
	"slices"

	"culprit/internal/dependency"
	"culprit/recording"
)

// Weights say how the time of stacks is counted.
type Weights struct {
	Metric string    // "cpu" or "wall"
	A, B   []float64 // units of work of each recording; nil: one each
	Change float64   // of the metric, B − A per unit
}

// grownPart is the part of the metric's change from which on stacks have grown. Chosen: less is
// told from the noise of samples only in large recordings.
const grownPart = 0.05

// through finds for each dependency by how much the stacks through it grew.
func (w *Weights) through(list []Difference, a, b *side) {
	wanted := map[key]int{}
	for i := range list {
		if list[i].Kind == Dependency || list[i].Kind == Binary {
			for _, name := range namesOf(&list[i]) {
				wanted[key{list[i].Of, name}] = i
			}
		}
	}
	if len(wanted) == 0 {
		return
	}
	before := w.seconds(a, wanted, w.A, len(list))
	after := w.seconds(b, wanted, w.B, len(list))
	broughtBy(list, a, b, wanted)
	for i := range list {
		list[i].Through = after[i] - before[i]
		growth := list[i].Through
		if w.Change < 0 {
			growth = -growth
		}
		change := max(w.Change, -w.Change)
		list[i].Grown = growth > 0 && growth >= grownPart*change
	}
}

// seconds are those of the stacks through each of the wanted, on average over the recordings of a
// side.
func (w *Weights) seconds(s *side, wanted map[key]int, work []float64, length int) []float64 {
	sums := make([]float64, length)
	for at, rec := range s.recordings {
		units := 1.0
		if at < len(work) && work[at] > 0 {
			units = work[at]
		}
		stacks := stacksThrough(rec, wanted)
		for i := range rec.Samples {
			sample := &rec.Samples[i]
			counts := sample.Signal == recording.SignalCPU ||
				sample.Signal == recording.SignalOffCPU && w.Metric == recording.MetricWall
			if !counts || !sample.Target || sample.Stack < 0 {
				continue
			}
			for _, one := range stacks[sample.Stack] {
				sums[one] += float64(sample.ValueNs) / 1e9 / units
			}
		}
	}
	for i := range sums {
		sums[i] /= float64(len(s.recordings))
	}
	return sums
}

// stacksThrough lists for each stack which of the wanted it goes through.
func stacksThrough(rec *recording.Recording, wanted map[key]int) [][]int {
	index, frames := dependency.NewIndex(rec.Dependencies), make([]int, len(rec.Frames))
	for i := range rec.Frames {
		frames[i] = -1
		if row := index.Of(&rec.Frames[i]); row != nil {
			if one, is := wanted[keyOf(row)]; is {
				frames[i] = one
			}
		}
	}
	stacks := make([][]int, len(rec.Stacks))
	for id, stack := range rec.Stacks {
		for _, frame := range stack.Frames {
			one := frames[frame]
			if one >= 0 && !slices.Contains(stacks[id], one) {
				stacks[id] = append(stacks[id], one)
			}
		}
	}
	return stacks
}

// Runs gives what tells whether a frame runs code of a difference's dependency, by what either side
// ran on.
func Runs(a, b []*recording.Recording, list []Difference, of *Difference) func(*recording.Frame) bool {
	wanted := map[key]int{}
	for _, name := range namesOf(of) {
		wanted[key{of.Of, name}] = 0
	}
	for i := range list {
		// Of a program without names only the program itself is seen to run.
		if one := &list[i]; one.Kind == Binary && one.Follows == of.Name && of.Evidence == recording.SeenBuiltIn {
			wanted[key{one.Of, one.Name}] = i
		}
	}
	var indexes []*dependency.Index
	for _, group := range [][]*recording.Recording{a, b} {
		var rows []recording.Dependency
		for _, rec := range group {
			rows = append(rows, rec.Dependencies...)
		}
		indexes = append(indexes, dependency.NewIndex(rows))
	}
	return func(frame *recording.Frame) bool {
		return slices.ContainsFunc(indexes, func(index *dependency.Index) bool {
			row := index.Of(frame)
			if row == nil {
				return false
			}
			_, is := wanted[keyOf(row)]
			return is
		})
	}
}

// broughtPart of the time of a dependency that only one side ran must be below another one that
// changed for it to have come with that. Chosen.
const broughtPart = 0.5

// broughtBy marks dependencies that one side alone ran, and that are called by another one of which
// the sides have different versions: the new version asks for them.
func broughtBy(list []Difference, a, b *side, wanted map[key]int) {
	all, below := make([]float64, len(list)), make([]map[int]float64, len(list))
	for _, rec := range slices.Concat(a.recordings, b.recordings) {
		stacks := stacksThrough(rec, wanted)
		for i := range rec.Samples {
			sample := &rec.Samples[i]
			if sample.Signal != recording.SignalCPU || !sample.Target || sample.Stack < 0 {
				continue
			}
			for at, one := range stacks[sample.Stack] {
				if !list[one].alone() {
					continue
				}
				all[one] += float64(sample.ValueNs)
				for _, above := range stacks[sample.Stack][:at] {
					if below[one] == nil {
						below[one] = map[int]float64{}
					}
					below[one][above] += float64(sample.ValueNs)
				}
			}
		}
	}
	for i := range list {
		for above := range list {
			other := &list[above]
			if list[i].Kind == Dependency && other.Kind == Dependency && other.A != "" && other.B != "" &&
				other.Seen() && below[i][above] >= broughtPart*all[i] && all[i] > 0 {
				list[i].Follows = other.Name
				break
			}
		}
	}
}

// alone tells a dependency that only one side ran.
func (d *Difference) alone() bool {
	return d.Kind == Dependency && (d.A == "" || d.B == "") ||
		d.Kind == Binary && (d.PlaceA == "" || d.PlaceB == "")
}
