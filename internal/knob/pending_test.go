package knob

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPendingIsListedAndLeftAlone(t *testing.T) {
	state, root := newState(t), machine(t, "kvm-clock", "tsc", "kvm-clock")
	none, err := ListPending(state)
	if err != nil || len(none) != 0 {
		t.Fatalf("without a journal: %+v, %v", none, err)
	}
	if _, err := os.Stat(state); !os.IsNotExist(err) {
		t.Errorf("listing made the state folder: %v", err)
	}
	folder := filepath.Dir(stale(t, state, func(*entry) {}, root))
	put(t, filepath.Join(folder, "damaged"+entrySuffix), "{")
	all, err := ListPending(state)
	refused(t, err, "damaged"+entrySuffix)
	if len(all) != 1 || all[0].Knob != "clocksource" || all[0].InUse || all[0].Original != "tsc" ||
		all[0].Current != "kvm-clock" || all[0].Path != settingOf(root) {
		t.Errorf("pending is %+v", all)
	}
	if value(t, root) != "kvm-clock" || len(entries(t, state)) != 2 {
		t.Errorf("listing changed something: %s, %v", value(t, root), entries(t, state))
	}
}

func TestPendingOfALivingOwner(t *testing.T) {
	state, root := newState(t), machine(t, "tsc", "tsc", "kvm-clock")
	change, err := Begin(t.Context(), ClockSource(root))
	must(t, err)
	all, err := ListPending(state)
	must(t, err)
	if len(all) != 1 || !all[0].InUse || all[0].OwnerPid != os.Getpid() {
		t.Errorf("pending is %+v", all)
	}
	must(t, change.Restore())
}
