package symbol

import "testing"

// normal has names and what Normalise makes of them.
var normal = map[string]string{
	"":     "",
	"main": "main",

	"foo+0x1f":             "foo",
	"vfs_write+0x1f/0x40":  "vfs_write",
	"libfoo.so.1+0x1f00":   "libfoo.so.1",
	"0x7f0012ab":           "[unknown]",
	"0xdeadbeef_not_an_ad": "0xdeadbeef_not_an_ad",

	"foo.part.0":                        "foo",
	"foo.isra.0":                        "foo",
	"foo.constprop.1":                   "foo",
	"foo.isra.0.constprop.2":            "foo",
	"foo.cold":                          "foo",
	"foo.cold.3":                        "foo",
	"foo.part.0.cold":                   "foo",
	"foo.lto_priv.0":                    "foo",
	"foo.llvm.1234567890123456789":      "foo",
	"foo.__uniq.123.llvm.45":            "foo",
	"foo.localalias":                    "foo",
	"counter.1234":                      "counter",
	"ns::f() [clone .isra.0]":           "ns::f()",
	"ns::f [clone .part.1] [clone .2]":  "ns::f",
	"pthread_create@@GLIBC_2.34":        "pthread_create",
	"write@GLIBC_2.2.5":                 "write",
	"write@plt":                         "write@plt",
	"repository.clone":                  "repository.clone",
	"multipart.part":                    "multipart.part",
	"std::map<int>::operator[]":         "std::map<int>::operator[]",
	"Foo::~Foo":                         "Foo::~Foo",
	"Function::call":                    "Function::call",
	"main::{lambda(int)#1}::operator()": "main::{lambda(int)#1}::operator()",

	"core::fmt::write::h0123456789abcdef":      "core::fmt::write",
	"app::run::{{closure}}::h0000000000000001": "app::run::{{closure}}",
	"app::run::{closure#0}":                    "app::run::{closure#0}",
	"app::hash::h012":                          "app::hash::h012",

	"bpf_prog_6deef7357e7b4530_sd_fw_egress": "bpf_prog_sd_fw_egress",
	"bpf_prog_6deef7357e7b4530":              "bpf_prog",
	"bpf_prog_array_free":                    "bpf_prog_array_free",

	"Main$$Lambda/0x00007f2b4c001200.run":                       "Main$$Lambda.run",
	"Main$$Lambda$14/0x0000000840066840.run":                    "Main$$Lambda.run",
	"Main$$Lambda$14.run":                                       "Main$$Lambda.run",
	"Main$$Lambda.0x00007f2b4c001200.run":                       "Main$$Lambda.run",
	"Main.lambda$main$0":                                        "Main.lambda$main",
	"Main.lambda$static$12":                                     "Main.lambda$static",
	"Main$1.run":                                                "Main$1.run",
	"com.sun.proxy.$Proxy12.call":                               "com.sun.proxy.$Proxy.call",
	"jdk.internal.reflect.GeneratedMethodAccessor5.invoke":      "jdk.internal.reflect.GeneratedMethodAccessor.invoke",
	"java.lang.invoke.LambdaForm$MH/0x00007f.invoke":            "java.lang.invoke.LambdaForm$MH.invoke",
	"java.lang.invoke.LambdaForm$DMH.0x0800c03000.invokeStatic": "java.lang.invoke.LambdaForm$DMH.invokeStatic",
	"Service$$EnhancerBySpringCGLIB$$1a2b3c4d.get":              "Service$$EnhancerBySpringCGLIB.get",

	"LazyCompile:~handle /app/a.js:12": "handle /app/a.js:12",
	"JS:*handle":                       "handle",
	"JS:^handle":                       "handle",
	"Function:handle":                  "handle",
	"~handle":                          "handle",
	"*handle":                          "handle",

	"main.main.func1":            "main.main.func1",
	"main.(*Server).Run.func2.1": "main.(*Server).Run.func2.1",
	"main.init.0":                "main.init.0",
	"runtime.gcBgMarkWorker":     "runtime.gcBgMarkWorker",
	"<listcomp>":                 "<listcomp>",
}

func TestNormalise(t *testing.T) {
	for name, want := range normal {
		got := Normalise(name)
		if got != want {
			t.Errorf("Normalise(%q) = %q, want %q", name, got, want)
		}
		if again := Normalise(got); again != got {
			t.Errorf("Normalise(%q) = %q, and of that %q", name, got, again)
		}
	}
}

func BenchmarkNormalise(b *testing.B) {
	names := []string{"main", "std::vector<int>::push_back", "vfs_write", "foo.isra.0", "runtime.mallocgc"}
	for b.Loop() {
		for _, name := range names {
			Normalise(name)
		}
	}
}
