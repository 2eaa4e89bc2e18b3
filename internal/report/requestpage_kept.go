package report

import (
	"cmp"
	"math"
	"slices"

	"culprit/internal/tail"
	"culprit/recording"
)

// stackDepthMax bounds the frames of a stack that a page holds: the outermost of a deeper one are
// left out.
const stackDepthMax = 200

// kept puts the requests in full into columns: where they are too many the slowest stay, and of the
// ordinary ones every so many.
func (b *requestBuilder) kept(rec *recording.Recording, all []tail.Kept) {
	chosen := chooseKept(all)
	b.side.KeptLeft = len(all) - len(chosen)
	k := &b.side.Kept
	for i := range chosen {
		request := &chosen[i]
		place, known := b.at[kindKey(recording.SideServer, request.Service, request.Protocol, request.Kind)]
		if !known {
			b.side.KeptLeft++
			continue
		}
		k.Kind, k.Weight = append(k.Kind, place), append(k.Weight, request.Weight)
		k.Start, k.Seconds = append(k.Start, toNs(request.Started)), append(k.Seconds, toNs(request.Seconds))
		k.Slow, k.Status = append(k.Slow, bit(request.Slow)), append(k.Status, request.Status)
		k.Parts = append(k.Parts, len(request.Parts))
		for _, part := range request.Parts {
			k.Class = append(k.Class, b.text(visible(part.Class, 40)))
			k.At, k.Long = append(k.At, toNs(part.At)), append(k.Long, toNs(part.Seconds))
			k.Before = append(k.Before, bit(part.Before))
			k.Where = append(k.Where, b.text(visible(part.Where, nameRunesMax)))
			k.HeldBy = append(k.HeldBy, b.text(visible(part.HeldBy, nameRunesMax)))
			k.Stack = append(k.Stack, b.stack(rec, part.Stack))
			k.Holder = append(k.Holder, b.stack(rec, part.HolderStack))
		}
	}
}

// toNs rounds seconds to what a recording tells.
func toNs(seconds float64) float64 { return math.Round(seconds*1e9) / 1e9 }

func bit(set bool) int {
	if set {
		return 1
	}
	return 0
}

// chooseKept keeps the limits of a page: the slow ones first, the slowest of them first, then
// ordinary ones, taken evenly over time, which then stand for as many more.
func chooseKept(all []tail.Kept) []tail.Kept {
	parts := 0
	for i := range all {
		parts += len(all[i].Parts)
	}
	if len(all) <= pageKeptMax && parts <= pagePartsMax {
		return all
	}
	var slow, ordinary []tail.Kept
	for i := range all {
		if all[i].Slow {
			slow = append(slow, all[i])
		} else {
			ordinary = append(ordinary, all[i])
		}
	}
	slices.SortStableFunc(slow, func(x, y tail.Kept) int { return cmp.Compare(y.Seconds, x.Seconds) })
	chosen := within(slow, pageKeptMax/2, pagePartsMax/2)
	perRequest := max(1, (parts+len(all)-1)/len(all))
	room := min(pageKeptMax-len(chosen), pagePartsMax/2/perRequest)
	chosen = append(chosen, within(thinned(ordinary, room), room, pagePartsMax/2)...)
	slices.SortStableFunc(chosen, func(x, y tail.Kept) int { return cmp.Compare(x.Started, y.Started) })
	return chosen
}

// within takes the first requests that keep both limits.
func within(requests []tail.Kept, most, partsMost int) []tail.Kept {
	parts := 0
	for i := range requests {
		if parts += len(requests[i].Parts); i == most || parts > partsMost {
			return requests[:i]
		}
	}
	return requests
}

// thinned takes so many of the requests, each of which stands for the ones left out beside it.
func thinned(requests []tail.Kept, most int) []tail.Kept {
	step := (len(requests) + max(1, most) - 1) / max(1, most)
	if step <= 1 {
		return requests
	}
	var taken []tail.Kept
	for i := 0; i < len(requests); i += step {
		one := requests[i]
		one.Weight *= int64(step)
		taken = append(taken, one)
	}
	return taken
}

// stack returns the innermost frame of a stack in the tree, -1 for none.
func (b *requestBuilder) stack(rec *recording.Recording, id int32) int {
	if id < 0 || int(id) >= len(rec.Stacks) {
		return -1
	}
	if at, known := b.leaf[id]; known {
		return at
	}
	at := -1
	frames := rec.Stacks[id].Frames
	for _, frame := range frames[max(0, len(frames)-stackDepthMax):] {
		f := &rec.Frames[frame]
		s := &b.side.Stacks
		key := stackKey{at, index(b.names, &s.Names, f.Name), index(b.kinds, &s.Kinds, string(f.Kind))}
		node, known := b.nodes[key]
		if !known {
			node = len(s.Parent)
			b.nodes[key] = node
			s.Parent, s.Name, s.Kind = append(s.Parent, at), append(s.Name, key.name), append(s.Kind, key.kind)
		}
		at = node
	}
	b.leaf[id] = at
	return at
}
