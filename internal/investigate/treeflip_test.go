package investigate

import (
	"os"
	"os/exec"
	"testing"
)

// Work is divided among threads of one process, or among processes that run one program for two
// looks: not among a shell and what it runs.
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
		var work division
		first := work.seen(test.tree)
		if again := work.seen(test.tree); again != test.want || first && len(test.tree) > 1 {
			t.Errorf("%v: %v, then %v", test.tree, first, again)
		}
	}
}
