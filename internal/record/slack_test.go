package record

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Who records the whole host sleeps as inexactly as it may; whoever started it, and who records one
// target, as always.
func TestOnlyOfTheHostIsSlack(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	slackOf := func(options Options) string {
		var out strings.Builder
		command := exec.Command("cat", "/proc/self/timerslack_ns")
		command.Stdout = &out
		if err := options.start(command); err != nil {
			t.Fatal(err)
		}
		if err := command.Wait(); err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out.String())
	}
	for _, host := range []Options{{Forever: true}, {WholeHost: true}} {
		if got := slackOf(host); got != "4000000" {
			t.Errorf("%+v has %s ns", host, got)
		}
	}
	if got := slackOf(Options{}); got == "4000000" {
		t.Errorf("one of a target has %s ns", got)
	}
	if after, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err != nil || after != before {
		t.Errorf("this thread had %d ns and has %d (%v)", before, after, err)
	}
}
