package investigate

import (
	"os"
	"os/exec"
	"testing"
)

// Work is divided among threads of one process, or processes that run one program: not among a
// shell and what it runs.
func TestDivided(t *testing.T) {
	start := func(words ...string) int {
		command := exec.Command(words[0], words[1:]...)
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = command.Process.Kill() // it sleeps
			_ = command.Wait()
		})
		return command.Process.Pid
	}
	one, same, other := start("sleep", "60"), start("sleep", "60"), start("tail", "-f", "/dev/null")
	for _, test := range []struct {
		tree []int
		want bool
	}{{nil, false}, {[]int{one}, false}, {[]int{one, other}, false}, {[]int{other, one, same}, true},
		{[]int{os.Getpid()}, true}, {[]int{1 << 22, 1<<22 + 1}, false}} {
		if got := divided(test.tree); got != test.want {
			t.Errorf("%v: %v", test.tree, got)
		}
	}
}
