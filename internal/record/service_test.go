package record

import (
	"fmt"
	"net"
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
