package cause

import (
	"slices"
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

// Ruby's collector has no functions with names, only the unwinder's word, and its limits are
// variables: they are why it collects; without them the code is (a report that was run under
// RUBY_GC_MALLOC_LIMIT had no suspect).
func TestRubysCollector(t *testing.T) {
	path := compare.Path{Kind: compare.Running, A: []float64{0.1}, B: []float64{0.5}, Frames: []recording.Frame{
		{Name: "(garbage collection)", Kind: recording.KindRuby}, {Name: "(marking)", Kind: recording.KindRuby},
		{Name: "libruby-3.1.so.3.1.2", Kind: recording.KindNative, Module: "/usr/lib/libruby-3.1.so.3.1.2"}}}
	limit := compare.FactChange{Name: "target.environment.RUBY_GC_MALLOC_LIMIT", B: "400000"}
	for _, changes := range [][]compare.FactChange{{limit}, nil} {
		result := &compare.Result{Metric: compare.MetricCPU, A: []float64{1}, B: []float64{1.4},
			Paths: []compare.Path{path}, Facts: changes}
		claims := found(newScene(Input{Result: result}), findCollector)
		if len(claims) != 1 || claims[0].consequence == (len(changes) > 0) {
			t.Fatalf("%d settings: %+v", len(changes), claims)
		}
		if len(changes) > 0 && !slices.Contains(claims[0].where(), limit.Name+"=400000") {
			t.Errorf("where %q", claims[0].where())
		}
	}
}

func TestCollectorOptions(t *testing.T) {
	for _, c := range []struct {
		name, a, b, factA, factB string
		wantA, wantB             string
	}{
		{"a smaller heap", "java -Xmx1g Main", "java -XX:+UseSerialGC '-Xmx64m' Main", "", "", "-Xmx1g",
			"-XX:+UseSerialGC -Xmx64m"},
		{"the same", "node --max-old-space-size=64 x.js", "node --max-old-space-size=64 x.js", "", "", "",
			""},
		{"hidden in scripts", "/srv/old.sh", "/srv/new.sh", "java -jar x.jar", "java -Xmn2m -jar x.jar", "", "-Xmn2m"},
		{"one process was over too soon to be read", "/srv/old.sh", "/srv/new.sh", "", "java -Xmn2m -jar x.jar", "", ""},
		{"options of something else", "java -Xss1m Main", "java -Xint Main", "", "", "", ""},
	} {
		s := &scene{commandA: c.a, commandB: c.b, factsA: map[string]string{"target.command": c.factA},
			factsB: map[string]string{"target.command": c.factB}}
		if a, b := s.collectorOptions(); a != c.wantA || b != c.wantB {
			t.Errorf("%s: %q and %q, want %q and %q", c.name, a, b, c.wantA, c.wantB)
		}
	}
}

// A collection that the program asks for is told where it asks; one for want of memory is not.
func TestRequestedCollections(t *testing.T) {
	t.Parallel()
	collecting := "vm|_start;thread_native_entry;libjvm.so!VM_G1CollectFull::doit"
	waitIn := func(stack string) []wait {
		return []wait{{tid: 100, count: 50, ms: 8, call: "futex", stack: stack + ";k:do_syscall_64;__x64_sys_futex",
			waker: recording.WakerThread, wakerTi: 101}}
	}
	work := "j:Shop.main;Shop.render"
	for _, test := range []struct {
		name, waits, want string
	}{
		{"asked for", "j:Shop.main;Shop.render;Page.close;java.lang.System.gc;n:libjvm.so!JVM_GC", "Page.close"},
		{"for want of memory", "j:Shop.main;Shop.render;n:libjvm.so!MemAllocator::allocate", ""},
	} {
		suspects := judged(t, "cpu", plan{cpu: map[string]float64{work: 500, collecting: 20}},
			plan{cpu: map[string]float64{work: 510, collecting: 420}, waits: waitIn(test.waits)}, Costs{})
		if len(suspects) == 0 || suspects[0].Cause != "runtime.gc" {
			t.Fatalf("%s: %+v", test.name, suspects)
		}
		asked := suspects[0].Claim == requestClaim
		if asked != (test.want != "") || asked && !strings.HasSuffix(suspects[0].Where[0], test.want) {
			t.Errorf("%s: claim %q at %q", test.name, suspects[0].Claim, suspects[0].Where)
		}
	}
}
