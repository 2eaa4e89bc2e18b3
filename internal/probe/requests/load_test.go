package requests

import (
	"errors"
	"os"
	"testing"

	"github.com/cilium/ebpf"
)

func TestLoads(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("root")
	}
	spec, err := loadRequests()
	if err != nil {
		t.Fatal(err)
	}
	c, err := ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{LogLevel: 1}})
	var ve *ebpf.VerifierError
	if errors.As(err, &ve) {
		n := len(ve.Log)
		t.Log(n)
		for _, l := range ve.Log[max(0, n-25):] {
			t.Log(l)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range c.Programs {
		i, _ := p.Info()
		n, _ := i.VerifiedInstructions()
		t.Log(name, n)
	}
}
