package try

import (
	"os"
	"testing"

	"culprit/internal/knob"
)

func TestMain(m *testing.M) {
	// The guardian is this same file, started again under a hidden word.
	if len(os.Args) > 1 && os.Args[1] == knob.GuardianVerb {
		if err := knob.RunGuardian(os.Args[2:]); err != nil {
			os.Exit(2)
		}
		return
	}
	os.Exit(m.Run())
}
