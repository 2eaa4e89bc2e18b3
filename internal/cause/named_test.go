package cause

import (
	"strings"
	"testing"
)

// A setting that one claim names is named once: what else grew under it is that claim's where it is
// the smaller part.
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
			names = append(names, string(suspect.Cause))
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

// What the same program does more of under a setting stands behind the setting, where that is
// beside it, and says so; what is nearly all of the change stays before it, and other arguments are
// no setting.
func TestMoreIsDoneForASetting(t *testing.T) {
	const step = "p:<module>@main.py;step@main.py"
	const stat = "p:<module>@main.py;look@main.py;n:stat;k:entry;do_syscall_64;__x64_sys_newfstatat"
	calls := func(count int64) map[string][2]int64 { return map[string][2]int64{"newfstatat": {count, 0}} }
	quiet := plan{cpu: map[string]float64{step: 200, stat: 5}, calls: calls(100), command: "python3 main.py"}
	debug := func(own, stats float64, command string) plan {
		return plan{cpu: map[string]float64{step: own, stat: stats}, calls: calls(90_000), command: command}
	}
	const set = "PYTHONASYNCIODEBUG=1 python3 main.py"
	for _, test := range []struct {
		name  string
		b     plan
		first ID
		told  bool
	}{
		{"half of it", debug(320, 120, set), "config.differs", true},
		{"nearly all of it", debug(210, 200, set), "syscall.chatty", true},
		{"other arguments", debug(320, 120, "python3 main.py x"), "", false},
	} {
		suspects := judged(t, "cpu", quiet, test.b, Costs{})
		told := false
		for _, suspect := range suspects {
			for _, evidence := range suspect.Evidence {
				told = told || suspect.Cause == "syscall.chatty" && strings.HasPrefix(evidence.Text, "the same program under")
			}
		}
		if len(suspects) == 0 || test.first != "" && suspects[0].Cause != test.first || told != test.told {
			t.Errorf("%s: %+v, want %s first and the setting told: %v", test.name, suspects, test.first, test.told)
		}
	}
}
