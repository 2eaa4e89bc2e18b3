package compare

import (
	"culprit/internal/code"
	"culprit/recording"
)

const (
	// placeRounds bounds how far a match of one function helps to match its neighbours.
	placeRounds = 4
	// passesOn is the part of a function's time that its callees must have before they tell which function it is.
	passesOn = 0.8
	// sameCallers and sameCallees are the parts of a function's time that came through common neighbours.
	sameCallers = 0.8
	sameCallees = 0.5
)

// placed is one function that one side alone has, with whom it was seen between, by number of samples.
type placed struct {
	key      frameKey
	all, on  float64 // samples in it; in its callees
	callers  map[frameKey]float64
	callees  map[frameKey]float64
	ownBelow map[frameKey]bool // callees that are the application's own
}

// matchByPlace finds functions that changed their names altogether: one that only A has and one that only B has,
// called by the same functions, which hardly do more than to call mostly the same functions of the application's own (a
// script whose file is called otherwise, a compiler's shim under another way to write names). Where two could be meant,
// none is taken. What has work of its own may as well be another function, and stays one. B's name is shown.
func (p *pool) matchByPlace(a, b []*recording.Recording) {
	if len(b) == 0 {
		return
	}
	for range placeRounds {
		onlyA, onlyB := p.onlyOn(a, b), p.onlyOn(b, a)
		if len(onlyA) == 0 || len(onlyB) == 0 {
			return
		}
		p.neighbours(a, onlyA)
		p.neighbours(b, onlyB)
		found := pairs(onlyA, onlyB)
		if len(found) == 0 {
			return
		}
		for old, now := range found {
			for name, stands := range p.renamed {
				if stands == old {
					p.renamed[name] = now
				}
			}
			p.renamed[old] = now
		}
	}
}

// named is what a frame is called after all renaming so far.
func (p *pool) named(frame recording.Frame) frameKey {
	key := keyOf(p.normal(frame))
	if other, known := p.renamed[key]; known {
		return other
	}
	return key
}

// onlyOn are the functions of one group that the other does not have.
func (p *pool) onlyOn(group, other []*recording.Recording) map[frameKey]*placed {
	only := map[frameKey]*placed{}
	for _, rec := range group {
		for _, frame := range rec.Frames {
			if key := p.named(frame); frame.Kind != recording.KindKernel && !broken(frame) {
				only[key] = &placed{key: key, callers: map[frameKey]float64{}, callees: map[frameKey]float64{},
					ownBelow: map[frameKey]bool{}}
			}
		}
	}
	for _, rec := range other {
		for _, frame := range rec.Frames {
			delete(only, p.named(frame))
		}
	}
	return only
}

// neighbours fills in whom functions were called by and what they called, in the samples of CPU time.
func (p *pool) neighbours(group []*recording.Recording, of map[frameKey]*placed) {
	for _, rec := range group {
		weight := make([]float64, len(rec.Stacks))
		for i := range rec.Samples {
			sample := &rec.Samples[i]
			if sample.Signal == recording.SignalCPU && sample.Stack >= 0 && int(sample.Stack) < len(weight) {
				weight[sample.Stack] += float64(sample.Count)
			}
		}
		names := make([]frameKey, len(rec.Frames))
		for i, frame := range rec.Frames {
			names[i] = p.named(frame)
		}
		for i, stack := range rec.Stacks {
			if weight[i] > 0 {
				walk(rec, stack.Frames, names, weight[i], of)
			}
		}
	}
}

// walk adds one stack, root first, to the functions on it; a function that calls itself counts once.
func walk(rec *recording.Recording, stack []int32, names []frameKey, weight float64, of map[frameKey]*placed) {
	caller, seen := frameKey{}, map[frameKey]bool{}
	for _, id := range stack {
		if id < 0 || int(id) >= len(names) || broken(rec.Frames[id]) {
			continue
		}
		name := names[id]
		if above := of[caller]; above != nil && caller != name {
			above.callees[name] += weight
			above.on += weight
			above.ownBelow[name] = above.ownBelow[name] || code.Own([]recording.Frame{rec.Frames[id]})[0]
		}
		if one := of[name]; one != nil && !seen[name] {
			seen[name] = true
			one.all += weight
			one.callers[caller] += weight
		}
		caller = name
	}
}

// pairs gives, for functions of A, the one of B that has the same place; none where two have.
func pairs(onlyA, onlyB map[frameKey]*placed) map[frameKey]frameKey {
	found, taken := map[frameKey]frameKey{}, map[frameKey]int{}
	for _, x := range onlyA {
		var match []frameKey
		for _, y := range onlyB {
			if samePlace(x, y) {
				match = append(match, y.key)
				taken[y.key]++
			}
		}
		if len(match) == 1 {
			found[x.key] = match[0]
		}
	}
	for old, now := range found {
		if taken[now] > 1 {
			delete(found, old)
		}
	}
	return found
}

// samePlace reports whether two functions stand between the same others and hardly do anything themselves.
func samePlace(x, y *placed) bool {
	if x.key.kind != y.key.kind || x.all == 0 || y.all == 0 || x.on < passesOn*x.all || y.on < passesOn*y.all {
		return false
	}
	own := false
	for name := range x.callees {
		own = own || x.ownBelow[name] && y.ownBelow[name]
	}
	return own && common(x.callers, y.callers) >= sameCallers && common(x.callees, y.callees) >= sameCallees
}

// common is the part of the weight of two sets that lies on members of both: the smaller of the two parts.
func common(x, y map[frameKey]float64) float64 {
	part := func(of, in map[frameKey]float64) float64 {
		all, shared := 0.0, 0.0
		for name, weight := range of {
			all += weight
			if _, both := in[name]; both {
				shared += weight
			}
		}
		return shared / max(all, 1)
	}
	return min(part(x, y), part(y, x))
}
