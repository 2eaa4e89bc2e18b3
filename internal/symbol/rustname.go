package symbol

import (
	"regexp"
	"strings"
)

// A Rust compiler mangles names in one of two ways: "_ZN…", or v0, "_R…" (RFC 2603). The first
// writes std::time::Instant::now, the second <std::time::Instant>::now. The standard library of
// Rust 1.95 has the second, programs by default the first.

var (
	rustClosure = regexp.MustCompile(`\{closure#\d+\}`)
	rustShim    = regexp.MustCompile(`\{shim:vtable#\d+\}`)
)

// plainRust writes a demangled name of v0 as the first way has it: a type's own method without
// angle brackets around the type, closures without their number. Methods of traits are written
// alike, "<T as Trait>::method".
func plainRust(name string) string {
	name = rustClosure.ReplaceAllLiteralString(name, "{{closure}}")
	name = rustShim.ReplaceAllLiteralString(name, "{{vtable.shim}}")
	if !strings.HasPrefix(name, "<") {
		return name
	}
	depth := 0
	for i := range len(name) {
		switch {
		case name[i] == '<':
			depth++
		case name[i] == '>' && name[i-1] != '-': // "->" of a function's type
			depth--
		case depth == 1 && strings.HasPrefix(name[i:], " as "):
			return name
		}
		if depth > 0 {
			continue
		}
		if of, rest := name[1:i], name[i+1:]; isPath(of) && strings.HasPrefix(rest, "::") {
			return of + rest
		}
		return name
	}
	return name
}

// isPath tells the path of a type from a slice, a reference or a tuple.
func isPath(of string) bool {
	return of != "" && (of[0] == '_' || of[0]|0x20 >= 'a' && of[0]|0x20 <= 'z')
}
