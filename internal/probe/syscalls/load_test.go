package syscalls

import (
	"os"
	"testing"
	"time"

	"culprit/internal/probe/bpf"
)

// It loads, soon enough that a recorder does not wait for the verifier.
func TestLoads(t *testing.T) {
	if testing.Short() {
		t.Skip("loading BPF programs needs root: -short leaves it out")
	}
	if os.Geteuid() != 0 {
		t.Skip("loading BPF programs needs root")
	}
	shared := &bpf.Shared{Options: bpf.Options{Wait: time.Millisecond}}
	session, err := Start(shared)
	if err != nil {
		t.Fatal(err)
	}
	defer shared.Close()
	for name, program := range session.collection.Programs {
		if info, err := program.Info(); err == nil {
			if verified, ok := info.VerifiedInstructions(); ok && verified > 100_000 {
				t.Errorf("%s: the verifier looked at %d instructions", name, verified)
			}
		}
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}
