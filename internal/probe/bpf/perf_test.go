package bpf

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What the kernel calls an invalid argument is told as a rate that is too high where that is what
// it is.
func TestTooOften(t *testing.T) {
	for _, test := range []struct {
		err     error
		hz      uint64
		allowed string
		told    bool
	}{{unix.EINVAL, 499, "250", true}, {unix.EINVAL, 499, "499", false}, {unix.EINVAL, 499, "", false},
		{unix.EPERM, 499, "250", false}} {
		attr := &unix.PerfEventAttr{Sample: test.hz, Bits: unix.PerfBitFreq}
		err := tooOften(test.err, attr, test.allowed)
		if !errors.Is(err, test.err) || strings.Contains(err.Error(), "allows 250") != test.told {
			t.Errorf("%+v: %v", test, err)
		}
	}
}
