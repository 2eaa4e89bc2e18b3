package recording

import "testing"

// Who had the CPU is nobody where only the idle task ran, or nobody knows.
func TestRunner(t *testing.T) {
	for _, test := range []struct {
		pid  int32
		comm string
		want string
	}{{4711, "gzip", "gzip"}, {0, "swapper/1", ""}, {1, "swapper/0", ""}, {0, "", ""}} {
		wait := Wait{RunnerPid: test.pid, RunnerComm: test.comm}
		if got := wait.Runner(); got != test.want {
			t.Errorf("%d %q: %q, want %q", test.pid, test.comm, got, test.want)
		}
	}
}
