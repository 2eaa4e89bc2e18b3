package record

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"culprit/internal/host"
)

// Permitted says, without loading anything, whether this process may record:
// nil, or an error that wraps ErrNotSupported and names what is missing.
func Permitted() error {
	set, err := host.EffectiveCapabilities()
	if err != nil {
		return fmt.Errorf("%w: %v", ErrNotSupported, err)
	}
	has := func(capability uint) bool { return set>>capability&1 == 1 }
	for _, needed := range []struct {
		capability uint
		name       string
	}{{unix.CAP_BPF, "CAP_BPF"}, {unix.CAP_PERFMON, "CAP_PERFMON"}} {
		if !has(needed.capability) && !has(unix.CAP_SYS_ADMIN) {
			return fmt.Errorf("%w: recording needs root, or CAP_BPF and CAP_PERFMON (missing: %s)",
				ErrNotSupported, needed.name)
		}
	}
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); err != nil {
		return fmt.Errorf("%w: this kernel has no type information (/sys/kernel/btf/vmlinux, CONFIG_DEBUG_INFO_BTF)",
			ErrNotSupported)
	}
	return nil
}
