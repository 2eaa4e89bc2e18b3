package record

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A service is found again by its port, under its next process; in between it is away.
func TestServiceIsFoundAgain(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	first := serveOn(t, port)
	target, named, err := ParseTarget(fmt.Sprintf("port:%d", port))
	if err != nil || !named {
		t.Fatalf("%v, %v", named, err)
	}
	s := NewService(target)
	if found, restart, _ := s.Find(); found.Pid != first.Process.Pid || restart != nil || s.Ended() || s.Due() {
		t.Errorf("%+v, %v", found, restart)
	}
	kill(first)
	if !s.Ended() || !s.Due() {
		t.Error("its end is not seen")
	}
	if found, restart, pause := s.Find(); found.Kind != "" || restart != nil || pause < findLeast || s.Ended() {
		t.Errorf("%+v, %v, %v", found, restart, pause)
	}
	time.Sleep(50 * time.Millisecond)
	second := serveOn(t, port)
	found, restart, _ := s.Find()
	if found.Pid != second.Process.Pid || restart == nil || restart.Pid != first.Process.Pid ||
		restart.NewPid != found.Pid || restart.AwayNs < 50e6 {
		t.Errorf("%+v, %+v", found, restart)
	}
	if NewService(Target{Kind: "pid", Pid: found.Pid}) != nil {
		t.Error("a process that was named by its number comes back")
	}
}

// Whose first process ends while others of the cgroup stay is restarted when one comes in that none
// of them started; one that is older and joins, one that was started by those who are there, and
// the end of the first alone are none.
func TestServiceOfACgroupIsFoundAgain(t *testing.T) {
	folder := t.TempDir()
	sleeper := func(command string) *exec.Cmd {
		one := exec.Command("/bin/sh", "-c", command)
		if err := one.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { kill(one) })
		time.Sleep(20 * time.Millisecond) // two ticks: which of two is the elder is told by them
		return one
	}
	holds := func(pids ...int) {
		text := ""
		for _, pid := range pids {
			text += fmt.Sprintln(pid)
		}
		if err := os.WriteFile(filepath.Join(folder, "cgroup.procs"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	elder, first, helper := sleeper("exec sleep 60"), sleeper("exec sleep 60"), sleeper("sleep 60 & wait")
	child := tree(helper.Process.Pid)[1]
	holds(first.Process.Pid, helper.Process.Pid)
	s := NewService(Target{Kind: "cgroup", Cgroup: folder})
	same := func(when string) {
		t.Helper()
		if found, restart, _ := s.Find(); found.Cgroup != folder || restart != nil {
			t.Errorf("%s: %+v, %+v", when, found, restart)
		}
	}
	same("at first")
	holds(elder.Process.Pid, first.Process.Pid, helper.Process.Pid)
	same("an older one joined")
	kill(first)
	if !s.Ended() {
		t.Error("the end of the first is not seen")
	}
	holds(elder.Process.Pid, helper.Process.Pid)
	same("the first has ended")
	holds(elder.Process.Pid, helper.Process.Pid, child)
	same("another has started one")
	next := sleeper("exec sleep 60")
	holds(elder.Process.Pid, helper.Process.Pid, child, next.Process.Pid)
	if !s.Due() {
		t.Error("it is not looked for who comes")
	}
	_, restart, _ := s.Find()
	if restart == nil || restart.Pid != first.Process.Pid || restart.NewPid != next.Process.Pid {
		t.Errorf("its successor came: %+v", restart)
	}
	same("afterwards")
}
