// Package rows makes the rows of a store out of a window: one for each service, its samples by
// stack, the stacks and frames that they refer to, and the host's facts.
//
// Ids of frames and stacks are hashes of what they are, made here and not by agents: the store
// keeps a frame once for all windows, and nobody can give it another meaning. Samples are scaled to
// the exact CPU time of their service, so that hosts that sample at other rates or lose samples
// weigh alike.
//
//	of := rows.Make(w, recording)
//
// It refuses nothing: what it gets was checked when it was read. More rows than MaxSamples are
// added up under a stack that says so.
package rows

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"culprit/internal/fleet/window"
	"culprit/recording"
)

// Limits of what one window becomes in a store; the raw file keeps all of it.
const (
	MaxSamples = 20000
	MaxFacts   = 4000
	maxText    = 500 // bytes of a fact's value or of a frame's name
)

// Service is what one service of a window was.
type Service struct {
	window.Service
	Labels  map[string]string // the host's, with the service's own before them
	Samples int64             // CPU samples in the recording
	Stacks  int64             // rows in Samples of Rows
}

// Sample is an amount of one signal at one stack of one service, in ns.
type Sample struct {
	Service string
	Signal  string
	Stack   int64
	ValueNs int64
	Count   int64
}

// Frame is a function with its id: lines are in the window's file.
type Frame struct {
	ID                 int64
	Name, Kind, Module string
}

// Stack lists the frames of a stack, root first, each once: a function that calls itself is not
// twice in a total.
type Stack struct {
	ID     int64
	Frames []int64
	Leaf   int64
}

// Rows are all of a window.
type Rows struct {
	Window   *window.Window
	CPUs     int
	Kernel   string
	Services []Service
	Samples  []Sample
	Stacks   []Stack
	Frames   []Frame
	Facts    []recording.Fact
	// Beyond is the time of samples that did not fit, Nobodys that of processes of no service.
	Beyond, Nobodys int64
}

// Make turns a window into rows.
func Make(w *window.Window, r *recording.Recording) *Rows {
	made := &Rows{Window: w, Kernel: brief(r.Manifest.Kernel), Facts: facts(r.Facts)}
	of, all := owners(w.Services)
	sums := map[key]sum{}
	sampled := make([]int64, len(w.Services))
	counts := make([]int64, len(w.Services))
	for i := range r.Samples {
		sample := &r.Samples[i]
		owner, known := of[sample.Pid]
		if !known {
			if owner = all; all < 0 || !sample.Target {
				made.Nobodys += max(sample.ValueNs, 0)
				continue
			}
		}
		if sample.Signal == recording.SignalCPU {
			sampled[owner] += max(sample.ValueNs, 0)
			counts[owner] += max(sample.Count, 0)
		}
		at := key{owner, sample.Signal, sample.Stack}
		soFar := sums[at]
		sums[at] = sum{soFar.value + max(sample.ValueNs, 0), soFar.count + max(sample.Count, 0)}
	}
	for i, service := range w.Services {
		labels := map[string]string{}
		for name, value := range w.Labels {
			labels[name] = value
		}
		for name, value := range service.Labels {
			labels[name] = value
		}
		made.Services = append(made.Services, Service{Service: service, Labels: labels, Samples: counts[i]})
	}
	made.addSamples(r, sums, sampled)
	return made
}

type key struct {
	owner  int
	signal string
	stack  int32
}

type sum struct{ value, count int64 }

// owners says which service each process is of; all is the one that has every other process of the
// target, or -1.
func owners(services []window.Service) (of map[int32]int, all int) {
	of, all = map[int32]int{}, -1
	for i, service := range services {
		for _, pid := range service.Pids {
			of[pid] = i
		}
		if len(service.Pids) == 0 && all < 0 {
			all = i
		}
	}
	return of, all
}

// addSamples adds the largest first, so that those beyond the limit are the smallest.
func (made *Rows) addSamples(r *recording.Recording, sums map[key]sum, sampled []int64) {
	type entry struct {
		key
		sum
	}
	entries := make([]entry, 0, len(sums))
	for at, of := range sums {
		entries = append(entries, entry{at, of})
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if a.value != b.value {
			return cmp.Compare(b.value, a.value)
		}
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.owner, b.owner), cmp.Compare(a.signal, b.signal),
			cmp.Compare(a.key.stack, b.key.stack))
	})
	ids := newIdentifier(r)
	merged := make(map[Sample]int, min(len(entries), MaxSamples))
	for i, at := range entries {
		value, count := at.value, at.count
		if i >= MaxSamples {
			made.Beyond += value
			continue
		}
		if service := &made.Services[at.owner]; at.signal == recording.SignalCPU && sampled[at.owner] > 0 {
			value = int64(float64(value) * float64(service.CPUNs) / float64(sampled[at.owner]))
		}
		// Two stacks of a recording may be the same frames: one row.
		row := Sample{Service: made.Services[at.owner].Name, Signal: at.signal, Stack: ids.stack(at.stack)}
		if j, there := merged[row]; there {
			made.Samples[j].ValueNs += value
			made.Samples[j].Count += count
			continue
		}
		merged[row] = len(made.Samples)
		row.ValueNs, row.Count = value, count
		made.Samples = append(made.Samples, row)
		made.Services[at.owner].Stacks++
	}
	made.Frames, made.Stacks = ids.frames, ids.stacks
}

// identifier gives ids to what is used of a recording.
type identifier struct {
	from     *recording.Recording
	frameIDs []int64 // by frame of the recording; 0: not yet
	stackIDs []int64
	known    map[int64]bool
	frames   []Frame
	stacks   []Stack
	text     []byte // what is hashed; used again
}

func newIdentifier(r *recording.Recording) *identifier {
	return &identifier{from: r, frameIDs: make([]int64, len(r.Frames)), stackIDs: make([]int64, len(r.Stacks)),
		known: map[int64]bool{}}
}

// NoStack is the id of samples whose stack is not known; it has no frames.
const NoStack int64 = 0

func (ids *identifier) stack(number int32) int64 {
	if number < 0 || int(number) >= len(ids.stackIDs) {
		return NoStack
	}
	if id := ids.stackIDs[number]; id != 0 {
		return id
	}
	numbers := ids.from.Stacks[number].Frames
	stack := Stack{Frames: make([]int64, 0, len(numbers))}
	for _, frame := range numbers {
		ids.frame(frame) // uses the text as well
	}
	text := ids.text[:0]
	for _, frame := range numbers {
		id := ids.frameIDs[frame]
		text = binary.BigEndian.AppendUint64(text, uint64(id))
		if stack.Leaf = id; !slices.Contains(stack.Frames, id) { // stacks are too short for a map to pay
			stack.Frames = append(stack.Frames, id)
		}
	}
	stack.ID, ids.text = hash(text), text
	ids.stackIDs[number] = stack.ID
	if !ids.known[stack.ID] {
		ids.known[stack.ID] = true
		ids.stacks = append(ids.stacks, stack)
	}
	return stack.ID
}

func (ids *identifier) frame(number int32) int64 {
	if id := ids.frameIDs[number]; id != 0 {
		return id
	}
	from := &ids.from.Frames[number]
	frame := Frame{Name: brief(from.Name), Kind: brief(string(from.Kind)), Module: brief(from.Module)}
	text := ids.text[:0]
	for _, part := range []string{frame.Name, frame.Kind, frame.Module} {
		text = append(binary.BigEndian.AppendUint32(text, uint32(len(part))), part...)
	}
	frame.ID, ids.text = hash(text), text
	ids.frameIDs[number] = frame.ID
	if !ids.known[frame.ID] {
		ids.known[frame.ID] = true
		ids.frames = append(ids.frames, frame)
	}
	return frame.ID
}

// hash is above 0 and fits the signed integers that every engine has.
func hash(text []byte) int64 {
	sum := sha256.Sum256(text)
	return int64(binary.BigEndian.Uint64(sum[:8])>>1) | 1
}

func facts(all []recording.Fact) []recording.Fact {
	kept := make([]recording.Fact, 0, min(len(all), MaxFacts))
	for _, fact := range all {
		if len(kept) == MaxFacts {
			break
		}
		kept = append(kept, recording.Fact{Name: brief(fact.Name), Value: brief(fact.Value), Source: brief(fact.Source)})
	}
	return kept
}
