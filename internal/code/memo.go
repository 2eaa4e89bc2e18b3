package code

import "culprit/recording"

// Memo answers as Own, Innermost and CompilerAt do, and what needs these, and remembers: the paths
// of a result share most of their stacks. A stack is known by where its frames are kept, which must
// not be changed. The zero value is ready.
type Memo struct {
	known  map[stack]*ownership
	frames map[placed]Owner // one by one: stacks share most of their frames
	roles  map[recording.Frame]compiling
}

// placed is a frame with what the rest of its stack tells of it.
type placed struct {
	frame  recording.Frame
	around surroundings
}

type stack struct {
	root   *recording.Frame
	frames int
}

type ownership struct {
	own       []bool
	innermost int
	compiler  int
}

// Own is what the function Own says of a stack. It must not be changed.
func (m *Memo) Own(frames []recording.Frame) []bool { return m.of(frames).own }

// Innermost is what the function Innermost says of a stack.
func (m *Memo) Innermost(frames []recording.Frame) int { return m.of(frames).innermost }

// CompilerAt is what the function CompilerAt says of a stack.
func (m *Memo) CompilerAt(frames []recording.Frame) int { return m.of(frames).compiler }

func (m *Memo) of(frames []recording.Frame) *ownership {
	if len(frames) == 0 {
		return &ownership{innermost: -1, compiler: -1}
	}
	at := stack{&frames[0], len(frames)}
	if m.known[at] == nil {
		if m.known == nil {
			m.known, m.frames = map[stack]*ownership{}, map[placed]Owner{}
			m.roles = map[recording.Frame]compiling{}
		}
		own := areProgram(ownersBy(m.ownerOf, frames))
		m.known[at] = &ownership{own, innermostOf(frames, own), compilerAt(frames, m.compilingOf)}
	}
	return m.known[at]
}

func (m *Memo) ownerOf(frame *recording.Frame, around surroundings) Owner {
	at := placed{*frame, around}
	owner, seen := m.frames[at]
	if !seen {
		owner = ownerOf(frame, around)
		m.frames[at] = owner
	}
	return owner
}

func (m *Memo) compilingOf(frame *recording.Frame) compiling {
	if frame.Kind != recording.KindNative {
		return notCompiling
	}
	role, seen := m.roles[*frame]
	if !seen {
		role = compilingOf(frame)
		m.roles[*frame] = role
	}
	return role
}
