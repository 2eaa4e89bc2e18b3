package names

import (
	"testing"

	"culprit/recording"
)

// Names as compilers and run times of two versions write them for one function, and two functions
// that are not one.
func TestNamesOfTwoVersions(t *testing.T) {
	for _, c := range []struct {
		what string
		kind recording.FrameKind
		a, b string
		same bool
	}{
		{"Go's closure numbered anew", "go", "main.serve.func1", "main.serve.func2", true},
		{"Go's nested closure numbered anew", "go", "main.serve.func1.2", "main.serve.func2.1", true},
		{"Go 1.21 names a closure by whom it was inlined into", "go", "main.serve.func1", "main.main.serve.func1", true},
		{"Go 1.23 writes a range function's body", "go", "main.walk-range1", "main.walk-range2", true},
		{"Go's type parameters", "go", "main.sum[...]", "main.sum[go.shape.int]", true},
		{"Go's deferred wrapper", "go", "main.run.deferwrap1", "main.run.deferwrap2", true},
		{"javac's lambda", "jvm", "shop.Cart.lambda$main$0", "shop.Cart.lambda$main$1", true},
		{"Java's anonymous class", "jvm", "shop.Cart$1.run", "shop.Cart$2.run", true},
		{"Java's hidden class", "jvm", "shop.Cart$$Lambda$14/0x0000000800c03000.run", "shop.Cart$$Lambda/0x00007f1c.run",
			true},
		{"GCC's clones", "native", "parse.isra.0", "parse.constprop.0.isra.0", true},
		{"GCC's cold part", "native", "parse.cold", "parse", true},
		{"a template's argument", "native", "Cache<int>::get(int)", "Cache<long>::get(long)", true},
		{"a C++ lambda", "native", "run()::{lambda(int)#1}::operator()(int) const",
			"run()::{lambda(int)#2}::operator()(int) const", true},
		{"a C++ ABI tag", "native", "ns::name[abi:cxx11]()", "ns::name()", true},
		{"Rust's legacy hash", "native", "shop::cart::add::h0123456789abcdef", "shop::cart::add::hfedcba9876543210", true},
		{"Rust's legacy and v0", "native", "shop::cart::add::h0123456789abcdef", "shop::cart::add", true},
		{"Rust's crate hash of v0", "native", "shop[8c3f1a2b]::cart::add", "shop[1d2e3f4a]::cart::add", true},
		{"Rust's closure", "native", "shop::run::{{closure}}", "shop::run::{closure#0}", true},
		{"Python's lambda", "python", "total.<locals>.<lambda>", "total.<locals>.<lambda>", true},
		{"Node's function and its line", "node", "<anonymous> /srv/a.js:10:5", "<anonymous> /srv/a.js:31:9", true},
		{"another function of C", "native", "sha1_block", "sha256_block", false},
		{"another function of Go", "go", "main.serve", "main.server", false},
		{"another template", "native", "Cache<int>::get(int)", "Store<int>::get(int)", false},
		{"another method of Java", "jvm", "shop.Cart.add1", "shop.Cart.add2", false},
	} {
		a, b := withNames(c.kind, c.a), withNames(c.kind, c.b)
		pool := New(a, b, nil)
		first := pool.frame(a[0].Frames[0])
		if second := pool.frame(b[0].Frames[0]); (first == second) != c.same {
			t.Errorf("%s: %s and %s are one function: %v", c.what, c.a, c.b, first == second)
		}
	}
}
