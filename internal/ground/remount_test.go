package ground

import (
	"testing"

	"culprit/internal/knob"
)

// Every mount option that the knob offers is taken by a real ext4 and can be put back.
func TestMountOptionsOfExt4(t *testing.T) {
	needsRoot(t)
	newState(t)
	spec, err := Parse("ext4:strictatime@ram@size=64M")
	must(t, err)
	made, err := Prepare(t.Context(), spec)
	must(t, err)
	defer made.Close()
	name := "mount:" + made.Path
	found, err := knob.Find(name, knob.Target{})
	must(t, err)
	before, err := found.Current()
	must(t, err)
	if err := found.Check("nodelalloc"); err == nil {
		t.Error("nodelalloc is offered, which ext4 does not change by a remount")
	}
	for _, value := range []string{"noatime", "relatime", "nodiratime", "lazytime", "sync", "nobarrier", "discard",
		"noauto_da_alloc", "commit=30", "noatime+lazytime+commit=1"} {
		t.Run(value, func(t *testing.T) {
			change, err := knob.Begin(t.Context(), found)
			must(t, err)
			defer change.Restore()
			must(t, change.Set(name, value))
			during, err := found.Current()
			must(t, err)
			must(t, change.Restore())
			now, err := found.Current()
			if err != nil || now != before || during == before {
				t.Errorf("afterwards %q (%v), before %q, meanwhile %q", now, err, before, during)
			}
		})
	}
}
