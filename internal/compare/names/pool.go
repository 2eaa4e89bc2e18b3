// Package names gives the frames and stacks of all recordings one number each, under names that are
// the same in both versions of a program: without addresses, positions in the source and arguments
// of types, and with functions found again that are called otherwise in B.
//
// It refuses to guess: of functions of which two could be meant each stays one of its own.
//
//	pool := names.New(a, b, nil)
//	for _, stack := range pool.Translate(a[0]) {
//		fmt.Println(pool.Frames(stack)) // root first
//	}
package names

import (
	"encoding/binary"
	"iter"
	"slices"
	"strings"

	"culprit/internal/code"
	"culprit/recording"
)

// Pool keeps each frame and each stack once, so that runs are merged by small numbers.
type Pool struct {
	frames   []recording.Frame
	frameIDs map[Key]int32
	stacks   [][]int32 // number None is no stack, and has no frames
	stackIDs map[string]int32
	renamed  map[Key]Key       // functions of one side that are one of the other under another name
	builds   map[string]string // of each module the build of all recordings; see findBuilds
	homes    code.Homes        // packages that the programs are
	alike    map[Key]namesakes // names that more than one function has
	// changed gives, frame by frame, the dependency that differs between the sides; see New.
	changed func(*recording.Recording) []string
	// ForeignTracers: the sides ran beside different tracers. No stack is then the recorder's.
	ForeignTracers bool
	// What the functions of a stack tell, for the stacks that were asked for.
	written   map[int32][]recording.Frame
	own       map[int32]int
	locks     map[int32]Locks
	recorders map[int32]bool
}

// None is the number of no stack.
const None int32 = 0

// New makes the pool of two groups of recordings. Without any of B nothing is found again. changed
// gives for each frame of a recording what its field Changed is to be; nil: none.
func New(a, b []*recording.Recording, changed func(*recording.Recording) []string) *Pool {
	p := &Pool{changed: changed, frameIDs: map[Key]int32{}, stacks: [][]int32{nil}, stackIDs: map[string]int32{"": None},
		renamed: map[Key]Key{}, builds: map[string]string{},
		written: map[int32][]recording.Frame{}, own: map[int32]int{}, locks: map[int32]Locks{}, recorders: map[int32]bool{}}
	p.findBuilds(slices.Concat(a, b))
	p.findNamesakes(a, b)
	if len(b) > 0 {
		p.matchGenerated(a, b)
		p.matchByPlace(a, b)
	}
	return p
}

func (p *Pool) frame(frame recording.Frame) int32 {
	frame = p.normal(frame)
	key := KeyOf(frame)
	if old, known := p.renamed[key]; known {
		key, frame.Name, frame.Kind = old, old.Name, old.Kind
	}
	if id, known := p.frameIDs[key]; known {
		return id
	}
	id := int32(len(p.frames))
	p.frames = append(p.frames, frame)
	p.frameIDs[key] = id
	return id
}

func (p *Pool) stack(frames []int32) int32 {
	key := make([]byte, 0, 4*len(frames))
	for _, frame := range frames {
		key = binary.LittleEndian.AppendUint32(key, uint32(frame))
	}
	if id, known := p.stackIDs[string(key)]; known {
		return id
	}
	id := int32(len(p.stacks))
	p.stacks = append(p.stacks, frames)
	p.stackIDs[string(key)] = id
	return id
}

// Translate gives, for each stack of a recording, its number in the pool.
func (p *Pool) Translate(rec *recording.Recording) []int32 {
	frames := make([]int32, len(rec.Frames))
	var changed []string
	if p.changed != nil {
		changed = p.changed(rec)
	}
	for i, frame := range rec.Frames {
		if changed != nil {
			frame.Changed = changed[i]
		}
		frames[i] = p.frame(frame)
	}
	stacks := make([]int32, len(rec.Stacks))
	for i, stack := range rec.Stacks {
		var own []int32
		for _, frame := range stack.Frames {
			// What is left of a broken stack is matched by function; nothing left is a lost stack.
			if frame >= 0 && int(frame) < len(frames) && !broken(rec.Frames[frame]) {
				own = append(own, p.module(own, frames[frame]))
			}
		}
		stacks[i] = p.stack(own)
	}
	return stacks
}

// module is a frame below its callers: of the functions that V8 has no name for, the one that Node
// compiles a module into is the module's own.
func (p *Pool) module(callers []int32, id int32) int32 {
	if len(callers) == 0 || p.frames[callers[len(callers)-1]].Name != "Module._compile" {
		return id
	}
	frame := p.frames[id]
	name, found := strings.CutPrefix(frame.Name, "<anonymous>")
	if !found {
		return id
	}
	frame.Name = "<module>" + name
	return p.frame(frame)
}

// Frames are the frames of a stack, root first; nil for None. They must not be changed: a stack has
// them only once.
func (p *Pool) Frames(stack int32) []recording.Frame {
	if stack == None {
		return nil
	}
	return once(p.written, stack, func() []recording.Frame {
		frames := make([]recording.Frame, len(p.stacks[stack]))
		for i, frame := range p.stacks[stack] {
			frames[i] = p.frames[frame]
		}
		return frames
	})
}

// Up goes through the frames of a stack, the innermost first; at counts from the root.
func (p *Pool) Up(stack int32) iter.Seq2[int, *recording.Frame] {
	return func(yield func(int, *recording.Frame) bool) {
		for at, frame := range slices.Backward(p.stacks[stack]) {
			if !yield(at, &p.frames[frame]) {
				return
			}
		}
	}
}

// Outer is the stack of the first so many frames of another.
func (p *Pool) Outer(stack int32, frames int) int32 { return p.stack(p.stacks[stack][:frames]) }

// Common is how many frames two stacks have in common, from the root on.
func (p *Pool) Common(x, y int32) (common int) {
	a, b := p.stacks[x], p.stacks[y]
	for common < min(len(a), len(b)) && a[common] == b[common] {
		common++
	}
	return common
}

// Locks is what the names of a stack's functions tell of locks.
type Locks struct {
	Waits    code.Waiting
	Retries  bool // looks again for a lock whenever a timer wakes it
	Database bool // waits for a lock of a database
	GIL      bool // waits for the lock of CPython's interpreter
}

// Locks tells what a stack waits for.
func (p *Pool) Locks(stack int32) Locks {
	return once(p.locks, stack, func() Locks {
		frames := p.Frames(stack)
		return Locks{code.WaitsFor(frames), code.RetriesLock(frames), code.AtDatabaseLock(frames),
			code.AwaitsGIL(frames)}
	})
}

// Own is the place of a stack's innermost frame of the program's own, from the root; -1 for none.
func (p *Pool) Own(stack int32) int {
	return once(p.own, stack, func() int { return code.Innermost(p.Frames(stack)) })
}

// once works out what is told of a stack when it is asked for the first time.
func once[T any](known map[int32]T, stack int32, of func() T) T {
	told, found := known[stack]
	if !found {
		told = of()
		known[stack] = told
	}
	return told
}
