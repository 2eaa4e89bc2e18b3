package cause

import (
	"strings"
	"testing"

	"culprit/internal/compare"
)

// deferring is a recogniser that defers to others.
func deferring(rule Rule, to ...Rule) recogniser {
	return recogniser{rule: rule, defersTo: []deference{{to, "it is only a test"}}}
}

// The recognisers of the catalogue have an order in which each comes after those it defers to.
func TestRecognisersHaveAnOrder(t *testing.T) {
	all := rulesOf(Catalogue())
	sorted, err := inOrder(all)
	if err != nil {
		t.Fatal(err)
	}
	if len(sorted) != len(all) || len(recognisers()) != len(all) {
		t.Fatalf("%d of %d recognisers have an order", len(sorted), len(all))
	}
	at := map[Rule]int{}
	for i := range sorted {
		at[sorted[i].rule] = i
	}
	for _, one := range sorted {
		for _, reason := range one.defersTo {
			for _, to := range reason.to {
				if at[to] >= at[one.rule] {
					t.Errorf("%q defers to %q and comes before it", one.rule, to)
				}
			}
		}
	}
}

// A cause can state in its own record that rules of others defer to its rules.
func TestCauseToldBeforeOthers(t *testing.T) {
	sorted, err := inOrder(rulesOf([]Cause{{Recognise: []recogniser{deferring("chatty"), deferring("sleep")}},
		{Recognise: []recogniser{deferring("lookup")}, Before: []deference{{[]Rule{"chatty"}, "it is only a test"}}}}))
	if err != nil || sorted[0].rule != "lookup" || sorted[1].rule != "chatty" {
		t.Errorf("%v, %v", sorted, err)
	}
}

// Rules that contradict each other, or a rule that nobody is called, are refused, and the text
// names them.
func TestOrdersThatAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		all  []recogniser
		want string // "": it has an order
	}{
		"one after the other": {[]recogniser{deferring("lock", "sleep"), deferring("sleep", "tracer"),
			deferring("tracer")}, ""},
		"a circle": {[]recogniser{deferring("quota"), deferring("lock", "quota", "sleep"),
			deferring("sleep", "tracer"), deferring("tracer", "lock")}, "lock → sleep → tracer → lock"},
		"itself": {[]recogniser{deferring("lock", "lock")}, "lock → lock"},
		"a circle behind others": {[]recogniser{deferring("herd", "lock"), deferring("lock", "sleep"),
			deferring("sleep", "lock")}, "lock → sleep → lock"},
		"nobody of that name": {[]recogniser{deferring("lock", "slepe")}, `"lock" defers to "slepe"`},
		"two of one name": {[]recogniser{deferring("lock"), deferring("sleep"), deferring("lock")},
			`two recognisers are called "lock"`},
	} {
		sorted, err := inOrder(test.all)
		switch {
		case test.want == "" && (err != nil || len(sorted) != 3 || sorted[0].rule != "tracer"):
			t.Errorf("%s: %v, %v", name, sorted, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: got %v, want it to name %q", name, err, test.want)
		}
	}
}

// What two recognisers both recognise is seen where neither states that the other goes first.
func TestOverlapsAreSeen(t *testing.T) {
	s := newScene(Input{Result: &compare.Result{Metric: compare.MetricCPU, A: []float64{1},
		B: []float64{2}, Paths: []compare.Path{{Kind: compare.Running, A: []float64{0.5}, B: []float64{0.5}},
			{Kind: compare.Running, A: []float64{0.5}, B: []float64{1.7}},
			{Kind: compare.Running, A: []float64{0.3}, B: []float64{0.1}}}}})
	of := func(rule Rule, paths string, to ...Rule) recogniser {
		one := deferring(rule, to...)
		one.find = func(*scene) []finding {
			return []finding{{match: func(i int) bool { return paths[i] == 'x' }}}
		}
		return one
	}
	for name, test := range map[string]struct {
		first, then recogniser
		want        float64
	}{
		"nothing stated":        {of("a", ".xx"), of("b", "xxx"), 1.4},
		"the second defers":     {of("a", ".xx"), of("b", "xxx", "a"), 0},
		"to somebody else":      {of("a", ".x."), of("b", "xxx", "c"), 1.2},
		"the same that is none": {of("a", "x.."), of("b", "xxx"), 0},
	} {
		seconds := 0.0
		for _, one := range overlaps(s, []recogniser{test.first, test.then}) {
			seconds += one.seconds
		}
		if seconds < test.want-1e-9 || seconds > test.want+1e-9 {
			t.Errorf("%s: %g s, want %g", name, seconds, test.want)
		}
	}
}

// sentence reports what a reason lacks to be read by people: "" for nothing.
func sentence(text string) string {
	switch {
	case len(strings.Fields(text)) < 5:
		return "it has fewer than five words"
	case text != strings.Join(strings.Fields(text), " "):
		return "it has space to spare"
	case strings.HasSuffix(text, ".") || strings.HasSuffix(text, ",") || strings.HasSuffix(text, ":"):
		return "it ends with a mark"
	}
	return ""
}

// Each rule says why: to whom it defers, what it moves, what it puts first.
func TestEachRuleHasItsReason(t *testing.T) {
	reasons, names := map[string]string{}, map[Rule]int{}
	for _, one := range recognisers() {
		names[one.rule]++
		stated := map[Rule]bool{}
		for _, reason := range one.defersTo {
			reasons[string(one.rule)+" defers to "+string(reason.to[0])] = reason.because
			for _, to := range reason.to {
				if stated[to] {
					t.Errorf("%q says twice that it defers to %q", one.rule, to)
				}
				stated[to] = true
			}
		}
	}
	for _, one := range transfers {
		names[one.rule]++
		reasons[string(one.rule)] = one.because
	}
	for _, one := range rankRules {
		names[one.rule]++
		reasons[string(one.rule)] = one.because
	}
	for rule, times := range names {
		if rule == "" || times > 1 {
			t.Errorf("%d rules are called %q", times, rule)
		}
	}
	for rule, because := range reasons {
		if lacks := sentence(because); lacks != "" {
			t.Errorf("%s: the reason is %q: %s", rule, because, lacks)
		}
	}
}
