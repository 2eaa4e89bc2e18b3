package names

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"culprit/internal/code"
	"culprit/internal/symbol"
	"culprit/recording"
)

// Key is what makes two frames the same: normalised name and kind. An unnamed frame is known by its
// module only.
type Key struct {
	Name string
	Kind recording.FrameKind
}

// KeyOf is the key of a normalised frame.
func KeyOf(frame recording.Frame) Key { return Key{frame.Name, frame.Kind} }

// Compare puts keys into the order of their names.
func (k Key) Compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Name, other.Name), cmp.Compare(k.Kind, other.Kind))
}

// LastUser is the index of the last frame before the kernel, -1 when there is none.
func LastUser(frames []recording.Frame) int {
	for at := range slices.Backward(frames) {
		if frames[at].Kind != recording.KindKernel {
			return at
		}
	}
	return -1
}

// manyBuilds marks a module of which recordings have different builds, or none that is known.
const manyBuilds = "?"

// findBuilds notes each module's build: an address is the same function in the same build only.
func (p *Pool) findBuilds(recordings []*recording.Recording) {
	p.homes = code.HomesOf(recordings)
	for _, rec := range recordings {
		for i := range rec.Frames {
			frame := &rec.Frames[i]
			known, id := p.builds[frame.Module], frame.BuildID
			if id == "" || known != "" && known != id {
				id = manyBuilds
			}
			p.builds[frame.Module] = id
		}
	}
}

// named is what a frame is called after all renaming so far.
func (p *Pool) named(frame recording.Frame) Key {
	key := KeyOf(p.normal(frame))
	if other, known := p.renamed[key]; known {
		return other
	}
	return key
}

// normal is Normal of a frame; what is known by its address alone is its module unless all
// recordings have the same build of it.
func (p *Pool) normal(frame recording.Frame) recording.Frame {
	changed := frame.Changed
	frame.File = p.homes.Within(&frame)
	if code.ByAddress(frame) && p.builds[frame.Module] == manyBuilds {
		frame.Name = ""
	}
	frame = p.told(Normal(frame))
	frame.Changed = changed
	return frame
}

// Normal is a frame without what differs between builds and runs.
func Normal(frame recording.Frame) recording.Frame {
	name, module := frame.Name, path.Base(frame.Module)
	offset := frame.Module != "" && strings.HasPrefix(name, module+"+0x")
	if name == "" || offset && !code.ByAddress(frame) {
		name = module
	} else {
		name = symbol.Normalise(name)
		if name == module && frame.Kind == recording.KindNative {
			name += "()" // the bare name is that of all code of the module which has none
		}
	}
	if frame.Kind == recording.KindJVM ||
		strings.HasPrefix(name, "L") && strings.Contains(name, ";::") {
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

// methodName takes result and parameters off a Java method: "void a.B.run(int)" is "a.B.run".
func methodName(name string) string {
	if at := strings.IndexByte(name, '('); at > 0 && !strings.HasPrefix(name, "StubRoutines") {
		name = name[:at]
		name = name[strings.LastIndexByte(name, ' ')+1:]
	}
	return name
}

// javaName writes other tools' names of Java methods as culprit does: "Lcom/shop/Cart;::add" of a
// perf map and "com/shop/Cart.add" of async-profiler are com.shop.Cart.add.
func javaName(name string) string {
	if class, method, found := strings.Cut(name, ";::"); found && strings.HasPrefix(class, "L") {
		name = class[1:] + "." + method
	}
	if dot := strings.LastIndexByte(name, '.'); dot > 0 && strings.Contains(name[:dot], "/") &&
		!strings.ContainsAny(name, " ():<*[") && !strings.HasPrefix(name, "/") {
		return strings.ReplaceAll(name[:dot], "/", ".") + name[dot:]
	}
	return name
}

// broken reports whether a frame marks where the unwinder had to stop.
func broken(frame recording.Frame) bool {
	_, is := frame.Broken()
	return is
}
