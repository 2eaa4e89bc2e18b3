package names

import (
	"path"
	"slices"
	"strings"

	"culprit/internal/code"
	"culprit/recording"
)

// namesakes tells of a name in one language which functions have it.
type namesakes struct {
	program, others bool // one of the program's own; another
	several         bool // several of the program's own, in different files
}

// findNamesakes notes the names that more than one function has: main of two scripts, run of the
// program and of threading.py, compare of the program and of a library.
func (p *Pool) findNamesakes(sides ...[]*recording.Recording) {
	found := map[Key]namesakes{}
	for _, side := range sides {
		homes := map[Key]string{} // of the program's own
		for _, rec := range side {
			for _, frame := range rec.Frames {
				if !hasNamesakes(frame.Kind) {
					continue
				}
				frame = p.normal(frame)
				key := KeyOf(frame)
				all := found[key]
				if home := homeOf(&frame, true); code.OwnerOf(frame) != code.Program {
					all.others = true
				} else if all.program = true; home != "" {
					all.several = all.several || homes[key] != "" && homes[key] != home
					homes[key] = home
				}
				found[key] = all
			}
		}
	}
	p.alike = found
}

// hasNamesakes tells the languages whose names do not say which file they are of.
func hasNamesakes(kind recording.FrameKind) bool {
	return scripted(kind) || kind == recording.KindNative || kind == recording.KindOther
}

// homeOf is what tells a function from another of the same name: the file of a script without its
// release, the library that native code is in. "" where that is not known, and for the program's
// own native code: a function that a program and its plug-ins have is one.
func homeOf(frame *recording.Frame, own bool) string {
	switch {
	case frame.Kind == recording.KindNative && (own || frame.Module == ""):
		return ""
	case frame.Kind == recording.KindNative:
		return path.Base(frame.Module)
	case frame.File == "" || frame.File[0] == '<', own && !strings.Contains(frame.File, "/"):
		return "" // a script that was started without its folder, and what CPython names without one
	}
	home := release.ReplaceAllString(path.Base(frame.File), "")
	if slices.Contains(sameFiles, home) {
		home = path.Base(path.Dir(frame.File)) + "/" + home
	}
	return home
}

// sameFiles are called alike in every folder.
var sameFiles = []string{"__init__.py", "__main__.py", "index.js", "index.mjs", "index.php"}

// told adds to a frame's name where it is at home, if others have the name too: those of libraries
// where the program has it, those of the program where several of its files have it.
func (p *Pool) told(frame recording.Frame) recording.Frame {
	all := p.alike[KeyOf(frame)]
	if !all.program || !all.others && !all.several {
		return frame
	}
	own := code.OwnerOf(frame) == code.Program
	if home := homeOf(&frame, own); home != "" && (!own || all.several) {
		frame.Name += " " + home
	}
	return frame
}
