package recording

import "strings"

// brokenBegins is how the name of a frame begins that marks where the unwinder had to stop.
const brokenBegins = "[broken stack: "

// BrokenStack is the outermost frame of a stack that could not be followed to its root.
func BrokenStack(why string) Frame {
	return Frame{Name: brokenBegins + why + "]", Kind: KindOther}
}

// Broken reports whether a frame is one that BrokenStack made, and why the unwinder stopped.
func (f *Frame) Broken() (why string, broken bool) {
	if f.Kind != KindOther {
		return "", false
	}
	why, broken = strings.CutPrefix(f.Name, brokenBegins)
	return strings.TrimSuffix(why, "]"), broken
}
