package cause

import (
	"slices"
	"strings"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/recording"
)

// route writes a stack for people: the application's own frames and the last one, without what
// every stack of its kind begins with. "main;poll_loop;syscall". Of callers that have no name but
// an address only the innermost is told: the others tell nobody anything.
func route(frames []recording.Frame) string {
	own := code.Own(frames)
	var names []string
	nameless := ""
	for i, frame := range frames {
		if !own[i] && i != len(frames)-1 {
			continue
		}
		module := ""
		if code.ByAddress(frame) {
			module = frame.Module
		}
		switch {
		case len(names) > 0 && names[len(names)-1] == frame.Name: // recursion is named once
		case module != "" && module == nameless:
			names[len(names)-1] = frame.Name
		default:
			names = append(names, frame.Name)
		}
		nameless = module
	}
	return strings.Join(names, ";")
}

// locate finds the function of the program that a claim goes through most and
// puts it first in where, followed by what it calls there.
func (s *scene) locate(c *claim, call string) {
	member := inList(c.members)
	calling := func(i int) bool { return s.traits[i].call == call }
	widened := call == "" || !s.mostly(c, calling)
	if widened {
		calling = func(int) bool { return true } // else it is whoever makes the call
	}
	blamed := s.tree.Find(func(i int) bool { return member(i) && s.traits[i].place >= 0 && calling(i) })
	if blamed == nil {
		blamed = s.tree.Find(member)
	}
	if blamed == nil {
		return
	}
	c.place = blamed.Stack
	where := route(blamed.Stack)
	if last := *lastFrame(blamed.Stack); code.IsStartUp(last) || code.IsEntry(last) {
		entry := where
		if code.IsStartUp(last) {
			entry = ""
		}
		where = s.below(slices.DeleteFunc(slices.Clone(c.members), func(i int) bool { return !calling(i) }), entry)
		if widened { // what stands below main makes a call of its own, which may be another
			call = ""
		}
	}
	if call != "" && where != call && !strings.HasSuffix(where, ";"+call) {
		where += ";" + call
	}
	c.at(inCode(where))
}

// depthOf is where a stack first comes to the function of a frame, -1 where it does not.
func depthOf(function recording.Frame, stack []recording.Frame) int {
	return slices.IndexFunc(stack, func(f recording.Frame) bool {
		return f.Name == function.Name && f.Kind == function.Kind
	})
}

func lastFrame(frames []recording.Frame) *recording.Frame { return &frames[len(frames)-1] }

// mostBelow bounds the library frames that stand in for a place in the program.
const mostBelow = 4

// below tells where under an entry function such as main a claim's time is, when
// no function of the program's own is on the stack: an event loop, a runtime. It
// gives the innermost functions in user space of the path that grew most.
func (s *scene) below(members []int, entry string) string {
	best := -1
	for _, i := range members {
		if len(s.paths[i].Frames) > 0 && (best < 0 || s.grown(i) > s.grown(best)) {
			best = i
		}
	}
	if best < 0 {
		return entry
	}
	var names []string
	for _, frame := range s.paths[best].Frames {
		if frame.Kind != recording.KindKernel && !code.IsStartUp(frame) &&
			(len(names) == 0 || names[len(names)-1] != frame.Name) {
			names = append(names, frame.Name)
		}
	}
	if len(names) > mostBelow {
		names = names[len(names)-mostBelow:]
	}
	for i := len(names) - 1; i >= 0; i-- {
		if names[i] == entry { // what leads to the entry is the same in every program
			names = names[i:]
			break
		}
	}
	inner := strings.Join(names, ";")
	if inner == "" {
		inner = s.paths[best].Syscall
	}
	switch {
	case entry == "":
		return inner
	case inner == "" || inner == entry:
		return entry
	}
	return entry + ";" + strings.TrimPrefix(inner, entry+";")
}

// locateProcess names the process and the call where no stack says more.
func (s *scene) locateProcess(c *claim) {
	c.atFirst(Place{Kind: InProcess, Name: first(byValue(s.tally(c.members, func(i int) string {
		if call := s.paths[i].Syscall; call != "" {
			return s.paths[i].Process + ";" + call
		}
		return s.paths[i].Process
	})))})
}

// callsOf are the system calls of a claim's members by growth, largest first.
func (s *scene) callsOf(c *claim) []string {
	return byValue(s.tally(c.members, func(i int) string { return s.traits[i].call }))
}

// callerInKernel is callerOf for functions of the kernel.
func callerInKernel(paths []compare.Path, names ...string) string {
	return callerOf(paths, func(frame recording.Frame) bool {
		return code.InKernel([]recording.Frame{frame}, names...)
	})
}

// callerOf finds, among paths with a frame that name accepts, the function of
// the application's own nearest above it that grew most. "" when there is none.
func callerOf(paths []compare.Path, accept func(recording.Frame) bool) string {
	grown := map[string]float64{}
	for i := range paths {
		frames := paths[i].Frames
		at := slices.IndexFunc(frames, accept)
		if at < 0 {
			continue
		}
		if above := code.Above(frames, at); above >= 0 {
			grown[route(frames[:above+1])] += means(paths[i].A, paths[i].B).more()
		}
	}
	return longest(grown)
}
