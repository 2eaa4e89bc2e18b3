package names

import (
	"testing"

	"culprit/internal/code"
	"culprit/recording"
)

func withNames(kind recording.FrameKind, names ...string) []*recording.Recording {
	rec := &recording.Recording{}
	for _, name := range names {
		rec.Frames = append(rec.Frames, recording.Frame{Name: name, Kind: kind})
	}
	return []*recording.Recording{rec}
}

func TestFramesOfTwoVersionsAreMatched(t *testing.T) {
	for _, c := range []struct {
		name         string
		kindA, kindB recording.FrameKind
		a, b         []string
		old, now     string // now is of B; matched when both are one frame
		matched      bool
	}{
		{"a closure numbered anew", "go", "go", []string{"main.run.func2"}, []string{"main.run.func3"},
			"main.run.func2", "main.run.func3", true},
		{"a line that moved", "node", "node", []string{"work /srv/x.js:10:5"}, []string{"work /srv/x.js:14:5"},
			"work /srv/x.js:10:5", "work /srv/x.js:14:5", true},
		{"a parameter more", "native", "native", []string{"ns::f(int)"}, []string{"ns::f(int, long)"}, "ns::f(int)",
			"ns::f(int, long)", true},
		{"a parameter that takes parameters", "native", "native", []string{"ns::f(std::function<void (int)>) const"},
			[]string{"ns::f(std::function<void (int, int)>) const"}, "ns::f(std::function<void (int)>) const",
			"ns::f(std::function<void (int, int)>) const", true},
		{"a deferred call numbered anew", "go", "go", []string{"main.run.deferwrap1"}, []string{"main.run.deferwrap2"},
			"main.run.deferwrap1", "main.run.deferwrap2", true},
		{"another kind of code", "native", "go", []string{"main.work"}, []string{"main.work"}, "main.work", "main.work",
			true},
		{"one more closure: which is which is not known", "go", "go", []string{"main.run.func2"},
			[]string{"main.run.func3", "main.run.func4"}, "main.run.func2", "main.run.func3", false},
		{"another function with a number", "native", "native", []string{"sha1_block"}, []string{"sha256_block"},
			"sha1_block", "sha256_block", false},
		{"a lambda that was inlined, whose DWARF has no number", "native", "native",
			[]string{"shop::price()::{lambda(int)#1}::operator()", "shop::price()::{lambda(int)#2}::operator()"},
			[]string{"shop::price()::{lambda}::operator()"}, "shop::price()::{lambda(int)#2}::operator()",
			"shop::price()::{lambda}::operator()", true},
		{"a lambda of GCC and of clang", "native", "native", []string{"serve()::{lambda(long)#1}::operator()"},
			[]string{"serve()::$_0::operator()"}, "serve()::{lambda(long)#1}::operator()", "serve()::$_0::operator()", true},
		{"a lambda of another function", "native", "native", []string{"shop::price()::{lambda}::operator()"},
			[]string{"shop::order()::{lambda(int)#1}::operator()", "shop::order()::{lambda(int)#2}::operator()"},
			"shop::price()::{lambda}::operator()", "shop::order()::{lambda(int)#1}::operator()", false},
		{"closures of Rust's two ways to write names", "native", "native", []string{"shop::serve::{{closure}}"},
			[]string{"shop::serve::{closure#2}", "shop::serve::{closure#0}"}, "shop::serve::{{closure}}",
			"shop::serve::{closure#2}", true},
		{"arguments of a generic function in Rust's newer names", "native", "native", []string{"shop::Cart<u32>::total"},
			[]string{"<shop::Cart<u32>>::total::<shop::serve::{closure#4}>"}, "shop::Cart<u32>::total",
			"<shop::Cart<u32>>::total::<shop::serve::{closure#4}>", true},
		{"one name for all instances", "native", "native", []string{"shop::total"},
			[]string{"shop::total::<u8>", "shop::total::<u16>"}, "shop::total", "shop::total::<u16>", true},
		{"overloads: which is which is not known", "native", "native", []string{"shop::total(int)"},
			[]string{"shop::total(int, int)", "shop::total(long)"}, "shop::total(int)", "shop::total(long)", false},
		{"a template of a lambda", "native", "native", []string{"std::sort"},
			[]string{"std::sort<int*, ops<shop::order(int)::<lambda(int, int)> > >"}, "std::sort",
			"std::sort<int*, ops<shop::order(int)::<lambda(int, int)> > >", true},
		{"a bundle with another hash", "node", "node", []string{"<anonymous> main.8f3ab2c1.js"},
			[]string{"<anonymous> main.07ce99d4.js"}, "<anonymous> main.8f3ab2c1.js", "<anonymous> main.07ce99d4.js", true},
		{"another script", "node", "node", []string{"<anonymous> cart.js"}, []string{"<anonymous> user.js"},
			"<anonymous> cart.js", "<anonymous> user.js", false},
		{"both sides have it", "go", "go", []string{"f.func1", "f.func2"}, []string{"f.func1", "f.func3"}, "f.func1",
			"f.func3", false},
	} {
		a, b := withNames(c.kindA, c.a...), withNames(c.kindB, c.b...)
		pool := New(a, b, nil)
		first := pool.frame(recording.Frame{Name: c.old, Kind: c.kindA})
		if second := pool.frame(recording.Frame{Name: c.now, Kind: c.kindB}); (first == second) != c.matched {
			t.Errorf("%s: matched %v", c.name, first == second)
		}
	}
}

func TestJavaNamesOfOtherTools(t *testing.T) {
	for _, name := range []string{"Lcom/shop/Cart;::add", "com/shop/Cart.add", "com.shop.Cart.add",
		"void com.shop.Cart.add(int)"} {
		if got := Normal(recording.Frame{Name: name, Kind: recording.KindJVM}).Name; got != "com.shop.Cart.add" {
			t.Errorf("%s is %s", name, got)
		}
	}
	if got := Normal(recording.Frame{Name: "net/http.(*conn).serve", Kind: recording.KindGo}).Name; got !=
		"net/http.(*conn).serve" {
		t.Errorf("Go's name became %s", got)
	}
}

// Functions without a name are told apart by their files; folders differ between versions and do
// not count.
func TestNamelessFunctions(t *testing.T) {
	for file, want := range map[string]string{"/srv/app-1.2/cart.js": "<anonymous> cart.js",
		"/srv/app-1.3/cart.js": "<anonymous> cart.js", "": "<anonymous>"} {
		got := Normal(recording.Frame{Name: "<anonymous>", Kind: recording.KindNode, File: file}).Name
		if got != want {
			t.Errorf("in %q: %q, want %q", file, got, want)
		}
	}
}

// A callback is a place; the function that a module is compiled into is where everything begins.
func TestModuleIsNoCallback(t *testing.T) {
	file := "/srv/cart.js"
	rec := withNames(recording.KindNode, "Module._compile", "<anonymous>", "<anonymous>")[0]
	rec.Frames[1].File, rec.Frames[2].File, rec.Frames[2].Line = file, file, 12
	rec.Stacks = []recording.Stack{{Frames: []int32{0, 1, 2}}}
	pool := New([]*recording.Recording{rec}, nil, nil)
	frames := pool.Frames(pool.Translate(rec)[0])
	if frames[1].Name != "<module> cart.js" || frames[2].Name != "<anonymous> cart.js" {
		t.Fatalf("frames %v", frames)
	}
	if !code.IsEntry(frames[1]) || code.IsEntry(frames[2]) {
		t.Errorf("entries: module %v, callback %v", code.IsEntry(frames[1]), code.IsEntry(frames[2]))
	}
}

// A program may have a function of its own name, which is not its code without names.
func TestFunctionNamedLikeItsModule(t *testing.T) {
	named := Normal(recording.Frame{Name: "quote", Kind: recording.KindNative, Module: "quote"})
	unnamed := Normal(recording.Frame{Name: "quote+0x1f00", Kind: recording.KindNative, Module: "quote"})
	if KeyOf(named) == KeyOf(unnamed) || named.Name != "quote()" || unnamed.Name != "quote" {
		t.Errorf("the function is %q, code without a name %q", named.Name, unnamed.Name)
	}
	own := code.Own([]recording.Frame{named, unnamed})
	if !own[0] || own[1] {
		t.Errorf("of the application: the function %v, code without a name %v", own[0], own[1])
	}
}

// An address is a function in one build only: with two builds a stripped file's functions are one,
// its module.
func TestFunctionsOfStrippedFiles(t *testing.T) {
	function := func(build string) recording.Frame {
		return recording.Frame{Name: "packer+0x4710()", Module: "/opt/packer", BuildID: build, Kind: recording.KindNative}
	}
	sample := recording.Frame{Name: "packer+0x4711", Module: "/opt/packer", BuildID: "1", Kind: recording.KindNative}
	for _, each := range []struct {
		name   string
		frames []recording.Frame
		want   []string
	}{
		{"one build", []recording.Frame{function("1"), function("1")}, []string{"packer+0x4710()", "packer+0x4710()"}},
		{"two builds", []recording.Frame{function("1"), function("2")}, []string{"packer", "packer"}},
		{"a build that is not known", []recording.Frame{function("")}, []string{"packer"}},
		{"the address of a sample, which is no function", []recording.Frame{sample}, []string{"packer"}},
	} {
		pool := New([]*recording.Recording{{Frames: each.frames}}, nil, nil)
		for i, frame := range each.frames {
			if got := pool.frames[pool.frame(frame)].Name; got != each.want[i] {
				t.Errorf("%s: %s is %s, want %s", each.name, frame.Name, got, each.want[i])
			}
		}
	}
}
