package cause

import "testing"

// Each flip belongs to a cause of the catalogue, says what it does, and no cause that can only be
// attributed has one.
func TestFlipsBelongToCauses(t *testing.T) {
	for _, id := range IDs() {
		entry := recordOf(t, id)
		if len(entry.Flips) > 0 && entry.Proof == attributionOnly {
			t.Errorf("%s has a flip, and its text says that nothing can be flipped", id)
		}
		for _, flip := range entry.Flips {
			if flip.Text == "" || flip.What == "" || flip.Way == "" {
				t.Errorf("%s: %+v says too little", id, flip)
			}
		}
	}
	if len(recordOf(t, CPUThrottled).Flips) == 0 || recordOf(t, CodeGrew).Flips != nil {
		t.Error("a quota can be lifted, and code that grew cannot be flipped")
	}
}
