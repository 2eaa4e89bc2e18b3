package host

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestListening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	var ports []int
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			continue // no IPv6 here
		}
		defer listener.Close()
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("unix", path) // a socket that does not listen
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	got := fmt.Sprint(Listening("/", []int{os.Getpid(), 1 << 22}))
	for _, want := range []string{fmt.Sprintf("port %d", ports[0]), fmt.Sprintf("port %d", ports[len(ports)-1]), path} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	if pids, err := WhoListens("/", ports[0]); err != nil || len(pids) != 1 || pids[0] != os.Getpid() {
		t.Errorf("%v, %v", pids, err)
	}
	if _, err := WhoListens("/", 1); err == nil || !strings.Contains(err.Error(), "nobody listens on TCP port 1") {
		t.Errorf("%v", err)
	}
}

// Damaged and hostile tables give no socket.
func TestDamagedSocketTables(t *testing.T) {
	for _, text := range []string{"", "x\n", "0: 0100007F:1F90 0:0 0A\n", "0: 0100007F:1F 0:0 0A 0 0 0 0 0 77\n",
		"0: 0100007F:1F90 0:0 01 0 0 0 0 0 77\n", "0: x 2 3 0A 5 6 7 8 9\n", strings.Repeat("0A ", 1<<16)} {
		for _, unix := range []bool{false, true} {
			if found := parseListeners(strings.NewReader(text), unix); len(found) > 0 {
				t.Errorf("%.40q: %v", text, found)
			}
		}
	}
	line := "  0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 4711 1\n"
	found := parseListeners(strings.NewReader(strings.Repeat(line, 2*maxListeners)), false)
	if len(found) != maxListeners || found[0].Port != 8080 || found[0].inode != "4711" {
		t.Errorf("%d sockets, first %+v", len(found), found[0])
	}
}
