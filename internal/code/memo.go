package code

import "culprit/recording"

// Memo answers as Own and Innermost do, and remembers: the paths of a result share most of their
// stacks. A stack is known by where its frames are kept, which must not be changed. The zero value
// is ready.
type Memo struct{ known map[stack]*ownership }

type stack struct {
	root   *recording.Frame
	frames int
}

type ownership struct {
	own       []bool
	innermost int
}

// Own is what the function Own says of a stack. It must not be changed.
func (m *Memo) Own(frames []recording.Frame) []bool { return m.of(frames).own }

// Innermost is what the function Innermost says of a stack.
func (m *Memo) Innermost(frames []recording.Frame) int { return m.of(frames).innermost }

func (m *Memo) of(frames []recording.Frame) *ownership {
	if len(frames) == 0 {
		return &ownership{innermost: -1}
	}
	at := stack{&frames[0], len(frames)}
	if m.known[at] == nil {
		own := Own(frames)
		if m.known == nil {
			m.known = map[stack]*ownership{}
		}
		m.known[at] = &ownership{own, innermostOf(frames, own)}
	}
	return m.known[at]
}
