package cause

import (
	"strings"
	"testing"
)

// A run time's own housekeeping that grew with the program's code is no place to look at beside it.
func TestHousekeepingIsNotListedBesideCode(t *testing.T) {
	const monitor = "g:runtime.sysmon;k:entry_SYSCALL_64_after_hwframe;do_syscall_64;__x64_sys_nanosleep;" +
		"finish_task_switch"
	a := plan{cpu: map[string]float64{goRun + "main.score": 300, "monitor|" + monitor: 20}}
	b := plan{cpu: map[string]float64{goRun + "main.score": 400, "monitor|" + monitor: 50}}
	suspects := judged(t, "cpu", a, b, Costs{})
	if len(suspects) == 0 || suspects[0].Cause != "code.grew" {
		t.Fatalf("got %s", described(suspects))
	}
	for _, suspect := range suspects {
		if strings.Contains(strings.Join(suspect.Where, "\n"), "sysmon") {
			t.Errorf("named %s", described(suspects))
		}
	}
}
