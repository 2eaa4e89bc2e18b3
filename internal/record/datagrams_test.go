package record

import (
	"fmt"
	"net"
	"strconv"
	"testing"
	"time"

	"culprit/recording"
)

// nameServer answers datagrams: those that begin with "late" after a while, "lost" never.
func nameServer(t *testing.T, late time.Duration) (port int) {
	t.Helper()
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	go func() {
		question := make([]byte, 512)
		for {
			length, from, err := socket.ReadFromUDP(question)
			if err != nil {
				return
			}
			answer := append([]byte{}, question[:length]...)
			switch string(answer[:4]) {
			case "lost":
			case "late":
				time.AfterFunc(late, func() { _, _ = socket.WriteToUDP(answer, from) })
			default:
				_, _ = socket.WriteToUDP(answer, from)
			}
		}
	}()
	return socket.LocalAddr().(*net.UDPAddr).Port
}

// A resolver asks for two kinds of addresses at once, on a socket of its own: the later of both
// answers ends what it waits for. What nobody answers is no request.
func TestAskedByDatagrams(t *testing.T) {
	if !hooked(t) {
		t.Skip("datagrams are followed by the hooks on sockets, which came with Linux 6.3")
	}
	const count, late = 40, 4 * time.Millisecond
	const asks = `import socket, sys
def ask(questions, answers):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect(("127.0.0.1", int(sys.argv[1])))
    for question in questions: s.send(question)
    for _ in range(answers): s.recv(512)
    s.close()
for _ in range(int(sys.argv[2])):
    ask([b"soon A", b"late AAAA"], 2)
    ask([b"lost"], 0)`
	port := nameServer(t, late)
	recorder := start(t, Options{Requests: true})
	got := watchCommand(t, recorder, "/usr/bin/python3", "-c", asks, strconv.Itoa(port), strconv.Itoa(count))
	got.lossless(t, "requests")
	sum, latencies := kindOf(got.Recording, recording.SideClient, "")
	if want := fmt.Sprintf("udp 127.0.0.1:%d", port); sum.Count != count || sum.Service != want {
		t.Fatalf("%d questions to %q, the truth is %d to %q", sum.Count, sum.Service, count, want)
	}
	for _, ns := range latencies {
		if took := time.Duration(ns); took < late*98/100 || took > time.Second {
			t.Errorf("a question took %v, its later answer comes after %v", took, late)
		}
	}
}
