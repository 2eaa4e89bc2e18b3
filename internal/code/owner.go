// Package code says whose code a frame of a stack is: the kernel's, a library's or run time's, or the program's own, in
// every language by the same idea; and what the functions of kernels, libraries and run times are there for.
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

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(text) {
		set[word] = true
	}
	return set
}

// IsApplication tells, frame by frame, which functions of a stack are the
// application's own: not the kernel's, a language runtime's, an interpreter's or a
// system library's. In a stack with frames of a managed language only those count.
func IsApplication(frames []recording.Frame) []bool {
	managed, files, perl := false, false, false
	for _, frame := range frames {
		perl = perl || InPerl(frame)
		switch frame.Kind {
		case recording.KindJVM, recording.KindPython, recording.KindNode, recording.KindRuby, recording.KindPHP:
			managed = true
			files = files || frame.Kind == recording.KindNode && frame.File != ""
		case recording.KindOther:
			managed = managed || perl && frame.File != ""
		}
	}
	own := make([]bool, len(frames))
	for i, frame := range frames {
		switch frame.Kind {
		case recording.KindGo:
			own[i] = goApplication(frame.Name)
		case recording.KindJVM:
			own[i] = jvmApplication(frame.Name)
		case recording.KindPython:
			own[i] = pythonApplication(frame)
		case recording.KindNode:
			own[i] = nodeApplication(frame, files)
		case recording.KindRuby, recording.KindPHP:
			own[i] = frame.File != "" && !scriptLibrary.MatchString(frame.File)
		case recording.KindOther:
			own[i] = perl && frame.File != "" && !perlLibrary.MatchString(frame.File)
		case recording.KindNative:
			own[i] = !managed && nativeApplication(frame)
		}
	}
	return own
}

// Innermost is the deepest frame of the application's own, −1 when there is none.
func Innermost(frames []recording.Frame) int {
	own := IsApplication(frames)
	for at := len(own) - 1; at >= 0; at-- {
		if own[at] && !IsDeferred(frames[at]) {
			return at
		}
	}
	return -1
}

func containsAny(name string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

func beginsWithAny(name string, beginnings []string) bool {
	return slices.ContainsFunc(beginnings, func(beginning string) bool { return strings.HasPrefix(name, beginning) })
}
