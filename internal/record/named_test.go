package record

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatRunsIsNamed(t *testing.T) {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	for text, want := range map[string]int{fmt.Sprintf("pid:%d", os.Getpid()): os.Getpid(),
		fmt.Sprintf("port:%d", port): os.Getpid()} {
		target, named, err := ParseTarget(text)
		if err != nil || !named || target.Pid != want || target.Kind != "pid" {
			t.Errorf("%s: %+v, %v", text, target, err)
		}
	}
	for _, text := range []string{"./server -p 80", "sh -c 'a:b'", "", "http://localhost:80/", "VAR=a:b ./x"} {
		if _, named, err := ParseTarget(text); named || err != nil {
			t.Errorf("%q is no command: %v", text, err)
		}
	}
	for text, want := range map[string]string{"pid:": "names nothing", "pid:x": "give the number",
		"pid:-1":      "give the number",
		"pid:4000000": "no process 4000000", "port:1": "nobody listens", "port:99999": "give a TCP port",
		"cgroup:/tmp": "is no cgroup", "unit:no-such-unit-here": "no unit no-such-unit-here.service",
		"unit:a/b": "give the name"} {
		if _, named, err := ParseTarget(text); !named || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A unit's cgroup is called like the unit; one that is installed and does not run is told apart.
func TestUnits(t *testing.T) {
	root := t.TempDir()
	for path, text := range map[string]string{
		"sys/fs/cgroup/systemd/system.slice/web.service/cgroup.procs":     "1\n2\n",
		"sys/fs/cgroup/systemd/system.slice/stopped.service/cgroup.procs": "",
		"etc/systemd/system/stopped.service":                              "",
	} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"web", "web.service"} {
		if got, err := unitGroup(root, name); err != nil || !strings.HasSuffix(got, "system.slice/web.service") {
			t.Errorf("%s is %s, %v", name, got, err)
		}
	}
	if _, err := unitGroup(root, "stopped"); err == nil || !strings.Contains(err.Error(), "does not run") {
		t.Errorf("%v", err)
	}
}

// A master and its workers share a socket: the master is meant.
func TestMasterAndWorkers(t *testing.T) {
	script := `import os, socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
for _ in range(3):
    if os.fork() == 0:
        time.sleep(60)
print(s.getsockname()[1], flush=True)
time.sleep(60)`
	master := exec.Command("python3", "-c", script)
	out, err := master.StdoutPipe()
	if err == nil {
		err = master.Start()
	}
	if err != nil {
		t.Skip(err)
	}
	defer func() {
		for _, pid := range tree(master.Process.Pid) {
			if process, err := os.FindProcess(pid); err == nil {
				_ = process.Kill() // it may have ended
			}
		}
		_ = master.Wait()
	}()
	var port int
	if _, err := fmt.Fscan(out, &port); err != nil {
		t.Fatal(err)
	}
	target, _, err := ParseTarget(fmt.Sprintf("port:%d", port))
	if err != nil || target.Pid != master.Process.Pid {
		t.Errorf("%+v, %v; want %d", target, err, master.Process.Pid)
	}
	if pids, err := target.Pids(); err != nil || len(pids) != 4 {
		t.Errorf("%v, %v", pids, err)
	}
}
