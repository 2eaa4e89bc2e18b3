package symbol

import (
	"regexp"
	"strings"
)

// Normalise takes out of a readable name what differs between two builds or
// two runs of the same source, so that their frames match:
//
//   - addresses (foo+0x1f, foo+0x1f/0x40) and whole names that are one;
//   - suffixes that compilers and linkers make (.part.0, .isra.0, .constprop.1,
//     .cold, .lto_priv.0, .llvm.123, a static variable's .1234, @@GLIBC_2.34);
//   - hashes of Rust (::h0123456789abcdef), BPF programs (bpf_prog_<tag>_name)
//     and generated Java classes;
//   - numbers of lambdas and generated classes of the JVM ($$Lambda$14/0x…,
//     lambda$main$0, $Proxy12, GeneratedMethodAccessor5);
//   - V8's kind and tier (LazyCompile:~f, JS:*f).
//
// Numbers that are a position in the source stay: Go's main.func1, Java's
// Outer$1, C++'s {lambda()#1}, Rust's {closure#0}. They differ only where the
// source does, and without them two closures of one function were one frame.
// (javac's lambda$main$0 counts over the whole class, so that any new lambda
// renumbers the rest: there the method it stands in is what stays.)
//
// Normalise(Normalise(x)) is Normalise(x).
func Normalise(name string) string {
	for range maxPasses { // suffixes come in rows: foo.isra.0.cold
		next := name
		for _, rule := range rules {
			if strings.Contains(next, rule.needs) {
				next = rule.pattern.ReplaceAllString(next, rule.by)
			}
		}
		if next == name || next == "" {
			break
		}
		name = next
	}
	return name
}

const (
	maxPasses   = 16
	unknownName = "[unknown]"
)

// A rule is tried only where needs occurs: most names pass without a regular expression.
type rule struct {
	needs   string
	pattern *regexp.Regexp
	by      string
}

var rules = []rule{
	{"0x", regexp.MustCompile(`^0x[0-9a-fA-F]+$`), unknownName},
	{"+0x", regexp.MustCompile(`\+0x[0-9a-fA-F]+(/0x[0-9a-fA-F]+)?$`), ""},
	// With their numbers: a method may well be called clone or part.
	{".", regexp.MustCompile(`(?:\.(?:part|isra|constprop|lto_priv|clone|llvm|__uniq)(?:\.[0-9]+)+|` +
		`\.cold(?:\.[0-9]+)?|\.localalias(?:\.[0-9]+)?)+$`), ""},
	{" [clone ", regexp.MustCompile(`(?: \[clone [^\]]*\])+$`), ""},
	// One dot and a C name before it: main.init.0 of Go keeps its number.
	{".", regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)\.[0-9]+$`), "$1"},
	{"@", regexp.MustCompile(`@@?[A-Z][A-Za-z_]*_[0-9.]+$`), ""},
	{"::h", regexp.MustCompile(`::h[0-9a-f]{16}$`), ""},
	{"bpf_prog_", regexp.MustCompile(`^bpf_prog_[0-9a-f]{16}(_|$)`), "bpf_prog$1"},
	{"$$", regexp.MustCompile(`\$\$(Lambda|StringConcat)(?:[$/.](?:0x)?[0-9a-fA-F]+)+`), "$$$$$1"},
	{"$$", regexp.MustCompile(`(BySpringCGLIB|ByCGLIB|ByGuice|SpringCGLIB)\$\$[0-9a-fA-F]+`), "$1"},
	{"LambdaForm$", regexp.MustCompile(`(LambdaForm\$[A-Za-z]+)(?:[/.](?:0x)?[0-9a-fA-F]+)+`), "$1"},
	{"/0x", regexp.MustCompile(`/0x[0-9a-fA-F]+`), ""},
	{"lambda$", regexp.MustCompile(`(\blambda\$[A-Za-z0-9_$]*[A-Za-z0-9_])\$[0-9]+\b`), "$1"},
	{"$Proxy", regexp.MustCompile(`(\$Proxy)[0-9]+`), "$1"},
	{"Generated", regexp.MustCompile(`(Generated(?:Serialization)?(?:Method|Constructor)Accessor)[0-9]+`), "$1"},
	{":", regexp.MustCompile(`^(?:LazyCompile|Function|JS|Eval|Script|BytecodeHandler|Builtin|Handler):` +
		`([~*^+]*[^:~*^+])`), "$1"},
	{"", regexp.MustCompile(`^[~*^]+([A-Za-z0-9_$<.])`), "$1"},
}
