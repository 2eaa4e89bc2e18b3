package names

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"culprit/recording"
)

// position is where in the source something without a name stands, or in which order a compiler met
// it. It moves when anything is added before.
var position = regexp.MustCompile(
	`(func|deferwrap|gowrap|-range|lambda|closure|anonymous|\$|#|:|@|\.)[0-9]+`)

var (
	// arguments are those of a generic type: vector<int>; the innermost, so it takes several
	// passes.
	arguments = regexp.MustCompile(`(\w)(?:::)?<[^<>]*>`)
	// inherent is a type before its own method, in Rust's newer names: <shop::Cart>::total.
	inherent = regexp.MustCompile(`^<([^<> ]+)>::`)
	// tags stand in brackets: Go's type arguments, Rust's hash of a crate, the ABI tags of C++.
	tags = regexp.MustCompile(`(\w)\[[^\[\]]+\]`)
	// lambda of C++: numbered in symbols, without a number in GCC's DWARF, clang's own $_0.
	lambda = regexp.MustCompile(`\{lambda(\([^{}]*\))?(#[0-9]+)?\}|<lambda\([^<>]*\)>|\$_[0-9]+`)
	// release stands in the name of a script's file: a version, or the hash of what a bundler made.
	release = regexp.MustCompile(`[.-][0-9A-Za-z_]*[0-9][0-9A-Za-z_]*`)
	// inlinedClosure is a closure of Go whose function was inlined (since Go 1.21): that of serve
	// is main.serve.func1, and main.main.serve.func1 where main has serve inlined. Methods are left
	// alone.
	inlinedClosure = regexp.MustCompile(`^((?:[^()]*/)?[^./()]+)\.(?:[^.()]+\.)*` +
		`([A-Za-z_][^.()]*\.(?:func|gowrap|deferwrap)[0-9.]+)$`)
)

// skeleton is a name without positions, parameters and the arguments of types.
func skeleton(frame Key) string {
	name := withoutParameters(strings.ReplaceAll(frame.Name, "{{closure}}", "{closure#0}"))
	name = lambda.ReplaceAllString(name, "{lambda}")
	for next := ""; next != name; {
		next, name = name, tags.ReplaceAllString(arguments.ReplaceAllString(name, "$1"), "$1")
	}
	name = inherent.ReplaceAllString(name, "$1::")
	if strings.HasPrefix(name, "<") && scripted(frame.Kind) {
		name = release.ReplaceAllString(name, "")
	}
	if frame.Kind == recording.KindGo {
		name = inlinedClosure.ReplaceAllString(name, "$1.$2")
	}
	return position.ReplaceAllString(name, "$1")
}

// scripted tells the languages whose functions without a name are told apart by their files.
func scripted(kind recording.FrameKind) bool {
	return kind == recording.KindNode || kind == recording.KindPython || kind == recording.KindPHP ||
		kind == recording.KindRuby
}

// specific matches a name that tells one of a function's closures or instances from the others.
// Rust's older names and GCC's DWARF do not: theirs stand for all.
var specific = regexp.MustCompile(`::<|\{closure#|\{lambda[^{}]*#|\$_[0-9]`)

// withoutParameters takes off what the last parenthesis of a name in C++ or Java closes.
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

// sides tells in which of two groups of recordings a function was seen.
type sides struct{ a, b bool }

// seen is every function outside of the kernel with where it was seen, by the names found so far.
func (p *Pool) seen(a, b []*recording.Recording) map[Key]sides {
	seen := map[Key]sides{}
	for at, rec := range slices.Concat(a, b) {
		for _, frame := range rec.Frames {
			if frame.Kind != recording.KindKernel && !broken(frame) {
				key := p.named(frame)
				seen[key] = sides{seen[key].a || at < len(a), seen[key].b || at >= len(a)}
			}
		}
	}
	return seen
}

// matchGenerated finds functions of B that are functions of A under another generated name: a
// closure that was numbered anew, a script's line that moved, a changed parameter; or another kind
// of code, on which tools disagree. It matches only names that one side alone has, and only where
// as many are left on both sides, or where one name stands for all.
func (p *Pool) matchGenerated(a, b []*recording.Recording) {
	groups := map[string]*lookalikes{}
	for key, side := range p.seen(a, b) {
		name := skeleton(key)
		if groups[name] == nil {
			groups[name] = &lookalikes{}
		}
		group := groups[name]
		if !specific.MatchString(key.Name) {
			group.whole = append(group.whole, key)
		}
		switch {
		case !side.b:
			group.onlyA = append(group.onlyA, key)
		case !side.a:
			group.onlyB = append(group.onlyB, key)
		}
	}
	for _, group := range groups {
		group.match(p.renamed)
	}
}

// lookalikes are the functions whose names have one skeleton.
type lookalikes struct {
	onlyA, onlyB []Key
	whole        []Key // not specific: one alone stands for all others
}

func (l *lookalikes) match(renamed map[Key]Key) {
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
func inOrder(keys []Key) {
	slices.SortFunc(keys, func(x, y Key) int {
		return cmp.Or(cmp.Compare(len(x.Name), len(y.Name)), x.Compare(y))
	})
}
