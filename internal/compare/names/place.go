package names

import (
	"culprit/internal/code"
	"culprit/recording"
)

// All chosen: no verdict of the corpus changes a quarter below or above.
const (
	// placeRounds bounds how far a match of one function helps to match its neighbours.
	placeRounds = 4
	// passesOn is the part of its time that a function's callees must have before they tell which
	// it is.
	passesOn = 0.8
	// sameCallers and sameCallees are the parts of the time that came through common neighbours.
	sameCallers = 0.8
	sameCallees = 0.5
)

// placed is a function that one side alone has, with its neighbours, by number of samples.
type placed struct {
	key      Key
	all, on  float64 // samples in it; in its callees
	callers  map[Key]float64
	callees  map[Key]float64
	ownBelow map[Key]bool // callees that are the application's own
}

// matchByPlace finds functions that changed their names altogether (a script whose file is called
// otherwise, a compiler's shim): one that only A has and one that only B has, called by the same
// functions, which hardly do more than to call mostly the same functions of the application's own.
// Where two could be meant, none is taken. What has work of its own may as well be another
// function, and stays one. B's name is shown.
func (p *Pool) matchByPlace(a, b []*recording.Recording) {
	for range placeRounds {
		onlyA, onlyB := map[Key]*placed{}, map[Key]*placed{}
		for key, side := range p.seen(a, b) {
			switch {
			case !side.b:
				onlyA[key] = newPlaced(key)
			case !side.a:
				onlyB[key] = newPlaced(key)
			}
		}
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

func newPlaced(key Key) *placed {
	return &placed{key: key, callers: map[Key]float64{}, callees: map[Key]float64{},
		ownBelow: map[Key]bool{}}
}

// neighbours fills in callers and callees, out of the samples of CPU time.
func (p *Pool) neighbours(group []*recording.Recording, of map[Key]*placed) {
	for _, rec := range group {
		weight := make([]float64, len(rec.Stacks))
		for i := range rec.Samples {
			sample := &rec.Samples[i]
			if sample.Signal == recording.SignalCPU && sample.Stack >= 0 && int(sample.Stack) < len(weight) {
				weight[sample.Stack] += float64(sample.Count)
			}
		}
		names := make([]Key, len(rec.Frames))
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

// walk adds one stack, root first, to its functions; one that calls itself counts once.
func walk(rec *recording.Recording, stack []int32, names []Key, weight float64,
	of map[Key]*placed) {
	caller, seen := Key{}, map[Key]bool{}
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
func pairs(onlyA, onlyB map[Key]*placed) map[Key]Key {
	found, taken := map[Key]Key{}, map[Key]int{}
	for _, x := range onlyA {
		var match []Key
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

// samePlace reports whether two functions stand between the same others and do hardly anything.
func samePlace(x, y *placed) bool {
	if x.key.Kind != y.key.Kind || x.all == 0 || y.all == 0 ||
		x.on < passesOn*x.all || y.on < passesOn*y.all {
		return false
	}
	own := false
	for name := range x.callees {
		own = own || x.ownBelow[name] && y.ownBelow[name]
	}
	return own && common(x.callers, y.callers) >= sameCallers &&
		common(x.callees, y.callees) >= sameCallees
}

// common is the part of the weight of two sets that lies on members of both: the smaller one.
func common(x, y map[Key]float64) float64 {
	part := func(of, in map[Key]float64) float64 {
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
