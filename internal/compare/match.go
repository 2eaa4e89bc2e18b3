package compare

import (
	"regexp"
	"sort"
	"strings"

	"culprit/recording"
)

// position are the parts of a name that say where in the source something without a name of its own stands, or in
// which order a compiler met it. They move when anything is added before.
var position = regexp.MustCompile(`(func|deferwrap|gowrap|-range|lambda|closure|anonymous|\$|#|:|@|\.)[0-9]+`)

var (
	// arguments are those of a template or a generic type: vector<int>; the innermost, so that it takes several passes.
	arguments = regexp.MustCompile(`(\w)(?:::)?<[^<>]*>`)
	// inherent is a type before its own method, in Rust's newer names: <shop::Cart>::total.
	inherent = regexp.MustCompile(`^<([^<> ]+)>::`)
	// tags stand in brackets: Go's type arguments, the hash of a crate in Rust's newer names, the ABI tags of C++.
	tags = regexp.MustCompile(`(\w)\[[^\[\]]+\]`)
	// lambda of C++: numbered by its parameters in symbols, without a number in GCC's DWARF, clang's own $_0.
	lambda = regexp.MustCompile(`\{lambda(\([^{}]*\))?(#[0-9]+)?\}|<lambda\([^<>]*\)>|\$_[0-9]+`)
	// release stands in the name of a script's file: a version, or the hash of what a bundler made.
	release = regexp.MustCompile(`[.-][0-9A-Za-z_]*[0-9][0-9A-Za-z_]*`)
	// inlinedClosure is a closure of Go that went along when its function was inlined (since Go 1.21): that of serve
	// is main.serve.func1, and main.main.serve.func1 where main has serve inlined. Methods are left alone.
	inlinedClosure = regexp.MustCompile(`^((?:[^()]*/)?[^./()]+)\.(?:[^.()]+\.)*` +
		`([A-Za-z_][^.()]*\.(?:func|gowrap|deferwrap)[0-9.]+)$`)
)

// skeleton is a name without positions, parameters and the arguments of types.
func skeleton(frame frameKey) string {
	name := withoutParameters(strings.ReplaceAll(frame.name, "{{closure}}", "{closure#0}"))
	name = lambda.ReplaceAllString(name, "{lambda}")
	for next := ""; next != name; {
		next, name = name, tags.ReplaceAllString(arguments.ReplaceAllString(name, "$1"), "$1")
	}
	name = inherent.ReplaceAllString(name, "$1::")
	if strings.HasPrefix(name, "<") && scripted(frame.kind) {
		name = release.ReplaceAllString(name, "")
	}
	if frame.kind == recording.KindGo {
		name = inlinedClosure.ReplaceAllString(name, "$1.$2")
	}
	return position.ReplaceAllString(name, "$1")
}

// scripted tells the languages whose functions without a name are told apart by their files.
func scripted(kind recording.FrameKind) bool {
	return kind == recording.KindNode || kind == recording.KindPython || kind == recording.KindPHP ||
		kind == recording.KindRuby
}

// specific matches a name that tells one of a function's closures or instances from the others. Rust's older names and
// GCC's DWARF do not: theirs stand for all.
var specific = regexp.MustCompile(`::<|\{closure#|\{lambda[^{}]*#|\$_[0-9]`)

// withoutParameters takes the parameters off the name of a function in C++ and Java: what the last parenthesis closes.
func withoutParameters(name string) string {
	head := strings.TrimSuffix(name, " const")
	if !strings.HasSuffix(head, ")") {
		return name
	}
	open := 0
	for i := len(head) - 1; i > 0; i-- {
		switch head[i] {
		case ')':
			open++
		case '(':
			open--
		}
		if open == 0 {
			return head[:i] + "()"
		}
	}
	return name
}

// sideSeen is in which of two groups of recordings a function was seen.
type sideSeen struct{ a, b bool }

// matchRenamed finds functions of B that are functions of A under another generated name: a closure or lambda that
// was numbered anew, a script's line that moved, a changed parameter; or another kind of code, on which tools disagree.
// Only names that one side alone has are matched, and only where as many are left on both sides, or where one name
// stands for all; what is not sure stays two functions.
func (p *pool) matchRenamed(a, b []*recording.Recording) {
	if len(b) == 0 {
		return
	}
	groups := map[string]*lookalikes{}
	for key, side := range p.sidesOf(a, b) {
		if key.kind == recording.KindKernel {
			continue
		}
		name := skeleton(key)
		if groups[name] == nil {
			groups[name] = &lookalikes{}
		}
		groups[name].add(key, side)
	}
	for _, group := range groups {
		group.match(p.renamed)
	}
}

// sidesOf is every function with where it was seen.
func (p *pool) sidesOf(a, b []*recording.Recording) map[frameKey]sideSeen {
	seen := map[frameKey]sideSeen{}
	for _, rec := range a {
		for _, frame := range rec.Frames {
			key := keyOf(p.normal(frame))
			seen[key] = sideSeen{true, seen[key].b}
		}
	}
	for _, rec := range b {
		for _, frame := range rec.Frames {
			key := keyOf(p.normal(frame))
			seen[key] = sideSeen{seen[key].a, true}
		}
	}
	return seen
}

// lookalikes are the functions whose names have one skeleton.
type lookalikes struct {
	onlyA, onlyB []frameKey
	whole        []frameKey // not specific: one alone stands for all others
}

func (l *lookalikes) add(key frameKey, side sideSeen) {
	if !specific.MatchString(key.name) {
		l.whole = append(l.whole, key)
	}
	switch {
	case side.a && !side.b:
		l.onlyA = append(l.onlyA, key)
	case side.b && !side.a:
		l.onlyB = append(l.onlyB, key)
	}
}

func (l *lookalikes) match(renamed map[frameKey]frameKey) {
	inOrder(l.onlyA)
	inOrder(l.onlyB)
	switch {
	case len(l.onlyA) == len(l.onlyB):
		for i := range l.onlyA {
			renamed[l.onlyB[i]] = l.onlyA[i]
		}
	case len(l.whole) == 1:
		for _, key := range append(l.onlyA, l.onlyB...) {
			if key != l.whole[0] {
				renamed[key] = l.whole[0]
			}
		}
	}
}

// inOrder sorts names as their numbers count: func2 before func10.
func inOrder(keys []frameKey) {
	sort.Slice(keys, func(i, j int) bool {
		if len(keys[i].name) != len(keys[j].name) {
			return len(keys[i].name) < len(keys[j].name)
		}
		return keys[i].name < keys[j].name
	})
}

// keyOf is what makes a normalised frame the same as another.
func keyOf(frame recording.Frame) frameKey { return frameKey{frame.Name, frame.Kind} }

// javaName writes the names that other tools give to Java methods as culprit does: "Lcom/shop/Cart;::add" of a perf
// map and "com/shop/Cart.add" of async-profiler are com.shop.Cart.add.
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
