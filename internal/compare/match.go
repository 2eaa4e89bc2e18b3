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
	arguments = regexp.MustCompile(`(\w)<[^<>]+>`)
	// tags stand in brackets: Go's type arguments, the hash of a crate in Rust's newer names, the ABI tags of C++.
	tags = regexp.MustCompile(`(\w)\[[^\[\]]+\]`)
	// inlinedClosure is a closure of Go that went along when its function was inlined (since Go 1.21): that of serve
	// is main.serve.func1, and main.main.serve.func1 where main has serve inlined. Methods are left alone.
	inlinedClosure = regexp.MustCompile(`^((?:[^()]*/)?[^./()]+)\.(?:[^.()]+\.)*` +
		`([A-Za-z_][^.()]*\.(?:func|gowrap|deferwrap)[0-9.]+)$`)
)

// skeleton is a name without positions, parameters and the arguments of types.
func skeleton(frame frameKey) string {
	name := withoutParameters(strings.ReplaceAll(frame.name, "{{closure}}", "{closure#0}"))
	for next := ""; next != name; {
		next, name = name, tags.ReplaceAllString(arguments.ReplaceAllString(name, "$1"), "$1")
	}
	if frame.kind == recording.KindGo {
		name = inlinedClosure.ReplaceAllString(name, "$1.$2")
	}
	return position.ReplaceAllString(name, "$1")
}

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
// Only names that one side alone has are matched, and only where as many are left on both sides; what is not sure
// stays two functions.
func (p *pool) matchRenamed(a, b []*recording.Recording) {
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
	onlyA, onlyB := map[string][]frameKey{}, map[string][]frameKey{}
	for key, side := range seen {
		if side.a && side.b || key.kind == recording.KindKernel {
			continue
		}
		group := skeleton(key)
		if side.a {
			onlyA[group] = append(onlyA[group], key)
		} else {
			onlyB[group] = append(onlyB[group], key)
		}
	}
	for group, olds := range onlyA {
		news := onlyB[group]
		if len(olds) != len(news) {
			continue
		}
		inOrder(olds)
		inOrder(news)
		for i := range olds {
			p.renamed[news[i]] = olds[i]
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
