package compare

import (
	"encoding/binary"
	"path"
	"strings"

	"culprit/internal/code"
	"culprit/internal/symbol"
	"culprit/recording"
)

// pool keeps each frame and each stack once, under names that match between
// builds, so that runs of both sides can be merged by small numbers.
type pool struct {
	frames   []recording.Frame
	frameIDs map[frameKey]int32
	stacks   [][]int32
	stackIDs map[string]int32
	// tracing tells, for the stacks seen so far, whether they are the recorder's own cost;
	// foreignTracers keeps all, because they may be somebody else's.
	tracing        []bool
	own            []int              // innermost frame of the program's own, by stack; see application
	locks          map[int32]lockTold // by stack
	foreignTracers bool
	renamed        map[frameKey]frameKey // functions of B that are one of A; see matchRenamed
	namesakes      map[frameKey]namesakes
	homes          code.Homes        // packages that the programs are
	builds         map[string]string // of each module the build of all recordings; see findBuilds
}

// frameKey is what makes two frames the same: normalised name and kind. An
// unnamed frame is known by its module only.
type frameKey struct {
	name string
	kind recording.FrameKind
}

func newPool() *pool {
	return &pool{frameIDs: map[frameKey]int32{}, stackIDs: map[string]int32{}, renamed: map[frameKey]frameKey{},
		builds: map[string]string{}, locks: map[int32]lockTold{}}
}

// normalFrame is a frame without what differs between builds and runs.
func normalFrame(frame recording.Frame) recording.Frame {
	name, module := frame.Name, path.Base(frame.Module)
	if name == "" || frame.Module != "" && strings.HasPrefix(name, module+"+0x") && !code.ByAddress(frame) {
		name = module
	} else {
		name = symbol.Normalise(name)
		if name == module && frame.Kind == recording.KindNative {
			name += "()" // the bare name is that of all code of the module which has none
		}
	}
	if frame.Kind == recording.KindJVM || strings.HasPrefix(name, "L") && strings.Contains(name, ";::") {
		name = javaName(methodName(name))
	}
	if name == "" || name == "." {
		name = "[unknown]"
	}
	if code.Nameless[name] && frame.File != "" && !strings.HasPrefix(frame.File, "<") {
		name += " " + path.Base(frame.File) // else all of a program would be one function
	}
	// The line is that of the place in the function, which differs from sample to sample.
	return recording.Frame{Name: name, Kind: frame.Kind, Module: frame.Module, File: frame.File}
}

// methodName takes the result and the parameters from a Java method: "void a.B.run(int)" is "a.B.run".
func methodName(name string) string {
	if at := strings.IndexByte(name, '('); at > 0 && !strings.HasPrefix(name, "StubRoutines") {
		name = name[:at]
		name = name[strings.LastIndexByte(name, ' ')+1:]
	}
	return name
}

// broken reports whether a frame marks where the unwinder had to stop.
func broken(frame recording.Frame) bool {
	return frame.Kind == recording.KindOther && strings.HasPrefix(frame.Name, "[broken")
}

func (p *pool) frame(frame recording.Frame) int32 {
	frame = p.normal(frame)
	key := keyOf(frame)
	if old, known := p.renamed[key]; known {
		key, frame.Name, frame.Kind = old, old.name, old.kind
	}
	if id, known := p.frameIDs[key]; known {
		return id
	}
	id := int32(len(p.frames))
	p.frames = append(p.frames, frame)
	p.frameIDs[key] = id
	return id
}

func (p *pool) stack(frames []int32) int32 {
	if len(frames) == 0 {
		return recording.NoStack
	}
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

// translate gives, for each stack of a recording, its number in the pool.
func (p *pool) translate(rec *recording.Recording) []int32 {
	frames := make([]int32, len(rec.Frames))
	for i, frame := range rec.Frames {
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

// module is a frame below its callers: of the functions that V8 has no name for, the one that Node compiles a module
// into is the module's own.
func (p *pool) module(callers []int32, id int32) int32 {
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

// framesOf returns the frames of a stack, nil for NoStack.
func (p *pool) framesOf(stack int32) []recording.Frame {
	if stack < 0 || int(stack) >= len(p.stacks) {
		return nil
	}
	frames := make([]recording.Frame, len(p.stacks[stack]))
	for i, frame := range p.stacks[stack] {
		frames[i] = p.frames[frame]
	}
	return frames
}
