// Package code says whose code a frame of a stack is: the kernel's, a run time's, a library's, or
// the program's own, in every language by the same idea; and what the functions of kernels,
// libraries and run times are there for.
//
//	if at := code.Innermost(stack); at >= 0 {
//		place := stack[at].Name // the deepest function that whoever wrote the program can change
//	}
//
// It knows names and files only. What none of them tells is taken for the program's own.
package code

import (
	"slices"
	"strings"

	"culprit/recording"
)

// Owner is whose code a frame is.
type Owner uint8

// The owners. What only leads to a program's code (IsStartUp) and where it begins (IsEntry) are no
// owners of their own: main is the program's, runtime.main is the run time's.
const (
	Program  Owner = iota // written for the program that was recorded
	Kernel                // the kernel and the vDSO
	Runtime               // runs the program: an interpreter, a virtual machine, a scheduler
	Standard              // comes with a language, a compiler or the C library
	Package               // of others, and shared with other programs: installed or vendored
	Unnamed               // code of which no function is known: nobody's place
)

// Owners tells, frame by frame, whose code a stack is.
func Owners(frames []recording.Frame) []Owner { return ownersBy(ownerOf, frames) }

// byFrame is whose code a frame is within its surroundings: ownerOf, or what remembers its answers.
type byFrame func(*recording.Frame, surroundings) Owner

func ownersBy(ownerOf byFrame, frames []recording.Frame) []Owner {
	around := surroundingsOf(frames, ownerOf)
	owners := make([]Owner, len(frames))
	for i := range frames {
		owners[i] = ownerOf(&frames[i], around)
	}
	return owners
}

// surroundings is what the other frames of a stack tell of each.
type surroundings struct {
	managed bool // has functions in a managed language: native code is not the program's then
	node    bool // has functions of Node, V8 or libuv
	files   bool // names files of scripts for Node
	golang  bool // runs Go, also where a tool names its functions as native ones
	perl    bool // runs perl's interpreter, whose subs have a kind that says nothing
	// named: it has a function of the program's own with a name. Where all of them are known by
	// their address alone, those that a shared library exports are the nearest that say anything.
	named bool
}

func surroundingsOf(frames []recording.Frame, ownerOf byFrame) surroundings {
	var around surroundings
	libraries := false
	for i := range frames {
		switch frame := &frames[i]; frame.Kind {
		case recording.KindJVM, recording.KindPython, recording.KindRuby, recording.KindPHP:
			around.managed = true
		case recording.KindNode:
			around.managed, around.node = true, true
			around.files = around.files || frame.File != ""
		case recording.KindNative:
			around.perl = around.perl || RunsPerl(frame)
			around.node = around.node || beginsWithAny(frame.Name, showNode)
			around.golang = around.golang || strings.HasPrefix(frame.Name, "runtime.goexit")
			libraries = libraries || isVersioned(frame.Module)
		case recording.KindOther:
			around.managed = around.managed || around.perl && frame.File != ""
		}
	}
	for i := 0; libraries && !around.managed && !around.named && i < len(frames); i++ {
		frame := &frames[i]
		around.named = !isVersioned(frame.Module) && !ByAddress(*frame) && !IsEntry(*frame) &&
			ownerOf(frame, around) == Program
	}
	return around
}

// showNode begin the names of functions that nothing but Node, V8 and libuv have.
var showNode = []string{"v8::", "Builtins_", "uv__", "uv_run", "node::Start", "node::SpinEventLoop"}

// ownerOf takes what changed between the sides for the program's own: it is code that somebody
// chose to run in another version, and where the change is.
func ownerOf(frame *recording.Frame, around surroundings) Owner {
	owner := byName(frame, around)
	if frame.Changed != "" && (owner == Package || owner != Program && ofLibrary(frame)) {
		return Program
	}
	return owner
}

// byName is whose code a frame is wherever it runs.
func byName(frame *recording.Frame, around surroundings) Owner {
	switch frame.Kind {
	case recording.KindKernel, recording.KindVDSO:
		return Kernel
	case recording.KindGo:
		return goOwner(frame)
	case recording.KindJVM:
		return jvmOwner(frame.Name)
	case recording.KindPython:
		return pythonOwner(frame)
	case recording.KindNode:
		return nodeOwner(frame, around)
	case recording.KindRuby, recording.KindPHP:
		return scriptOwner(frame)
	case recording.KindNative:
		return nativeOwner(frame, around)
	}
	if around.perl {
		return perlOwner(frame)
	}
	return Unnamed
}

// OwnerOf tells whose code a frame is by itself, beside functions of the program's own.
func OwnerOf(frame recording.Frame) Owner {
	around := surroundingsOf([]recording.Frame{frame}, ownerOf)
	around.named, around.files = true, true
	return ownerOf(&frame, around)
}

// Own tells, frame by frame, which functions of a stack are the program's own.
func Own(frames []recording.Frame) []bool { return areProgram(Owners(frames)) }

func areProgram(owners []Owner) []bool {
	own := make([]bool, len(owners))
	for i, owner := range owners {
		own[i] = owner == Program
	}
	return own
}

// Innermost is the deepest frame of the program's own, −1 when there is none. The closure that Go's
// compiler makes of a defer statement is passed over: its caller is the place.
func Innermost(frames []recording.Frame) int { return innermostOf(frames, Own(frames)) }

// Above is the deepest frame of the program's own before a frame of a stack, as Innermost.
func Above(frames []recording.Frame, at int) int {
	return innermostOf(frames[:at], Own(frames))
}

func innermostOf(frames []recording.Frame, own []bool) int {
	for at := range slices.Backward(frames) {
		if own[at] && !deferred.MatchString(frames[at].Name) {
			return at
		}
	}
	return -1
}

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(text) {
		set[word] = true
	}
	return set
}

// words are those of texts with spaces between them.
func words(texts ...string) []string { return strings.Fields(strings.Join(texts, " ")) }

func containsAny(name string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

func beginsWithAny(name string, beginnings []string) bool {
	return slices.ContainsFunc(beginnings, func(begin string) bool {
		return strings.HasPrefix(name, begin)
	})
}
