package cause

import (
	"strings"
	"testing"
)

// A setting that one claim names is named once: what else grew under it is that claim's where it is the smaller part.
func TestASettingIsNamedOnce(t *testing.T) {
	const collect = "g:runtime.goexit;runtime.gcBgMarkWorker;runtime.gcDrain"
	const grow = "g:runtime.goexit;main.main;main.grow"
	lazy := plan{cpu: map[string]float64{grow: 200, collect: 20}, command: "tree 5"}
	eager := func(collected, own float64) plan {
		return plan{cpu: map[string]float64{grow: own, collect: collected}, command: "GOGC=10 tree 5"}
	}
	for _, test := range []struct {
		name  string
		b     plan
		want  string
		share float64 // at least, of the first
	}{
		{"most of it is collecting", eager(120, 250), "runtime.gc", 0.95},
		{"most of it is not", eager(50, 300), "config.differs runtime.gc", 0.6},
		{"and something else differs", func() plan {
			p := eager(120, 250)
			p.command = "LD_PRELOAD=x GOGC=10 tree 5"
			return p
		}(), "runtime.gc config.differs", 0.6},
	} {
		suspects := judged(t, "cpu", lazy, test.b, Costs{})
		var names []string
		named := 0
		for _, suspect := range suspects {
			names = append(names, suspect.Cause)
			if strings.Contains(strings.Join(suspect.Where, " "), "GOGC=10") {
				named++
			}
		}
		if got := strings.Join(names, " "); got != test.want || suspects[0].Share.Value < test.share {
			t.Errorf("%s: %s, want %s: %+v", test.name, got, test.want, suspects)
		}
		if want := 1 + strings.Count(test.name, "is not"); named != want {
			t.Errorf("%s: GOGC is named %d times, want %d", test.name, named, want)
		}
	}
}
