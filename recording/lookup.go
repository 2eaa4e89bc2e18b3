package recording

import (
	"path"
	"strings"
)

// StackFrames returns the frames of a stack, root first; nil for NoStack or an id out of range.
func (r *Recording) StackFrames(id int32) []Frame {
	if id < 0 || int(id) >= len(r.Stacks) {
		return nil
	}
	frames := make([]Frame, 0, len(r.Stacks[id].Frames))
	for _, f := range r.Stacks[id].Frames {
		if f >= 0 && int(f) < len(r.Frames) {
			frames = append(frames, r.Frames[f])
		}
	}
	return frames
}

// StackNames returns the names of a stack's frames, root first.
func (r *Recording) StackNames(id int32) []string {
	var names []string
	for _, frame := range r.StackFrames(id) {
		names = append(names, frame.Name)
	}
	return names
}

// Cgroups are the last parts of the paths of the target's cgroups, as Block.ThrottledBy has them;
// the root is none.
func (r *Recording) Cgroups() map[string]bool {
	groups := map[string]bool{}
	for _, fact := range r.Facts {
		if strings.HasPrefix(fact.Name, "target.cgroup.path") && fact.Value != "/" {
			groups[path.Base(fact.Value)] = true
		}
	}
	return groups
}

// Fact returns the value of a fact, "" when it was not read.
func (r *Recording) Fact(name string) string {
	for _, f := range r.Facts {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// ImportFact is where an import says which format and files it came from: "folded of a.txt".
const ImportFact = "import.source"

// Imported says which format of another tool became the recording, "" for culprit's own.
func (r *Recording) Imported() string {
	if r.Manifest.Format == "" {
		return ""
	}
	return "an import of " + r.Manifest.Format
}
