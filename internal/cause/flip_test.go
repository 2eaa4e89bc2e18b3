package cause

import "testing"

// Each flip belongs to a cause of the catalogue, says what it does, and no cause that can only be attributed has one.
func TestFlipsBelongToCauses(t *testing.T) {
	for id, list := range flips {
		entry, known := Lookup(id)
		if !known {
			t.Errorf("%s is no cause", id)
		}
		if entry.Proof == attributionOnly {
			t.Errorf("%s has a flip, and its text says that nothing can be flipped", id)
		}
		for _, flip := range list {
			if flip.Text == "" || flip.What == "" || flip.Way == "" {
				t.Errorf("%s: %+v says too little", id, flip)
			}
		}
	}
	if len(Flips("cpu.throttled")) == 0 || Flips("code.grew") != nil {
		t.Error("a quota can be lifted, and code that grew cannot be flipped")
	}
}
