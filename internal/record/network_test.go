package record

import (
	"fmt"
	"net"
	"os"
	"testing"

	"culprit/recording"
)

// Connections are counted by what became of them, with their owner and the other end: also those
// that were opened by somebody else, and those that another process accepted.
func TestConnections(t *testing.T) {
	const own, other, refused = 20, 7, 5
	recorder := standing.get(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0") // there before the window
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	otherPort := listener.Addr().(*net.TCPAddr).Port
	got := watchCommand(t, recorder, programs.compile(t, "connect.c"), fmt.Sprint(own), fmt.Sprint(other),
		fmt.Sprint(otherPort), fmt.Sprint(refused))
	ports := numbers(t, got.output)
	at := func(port float64) string { return fmt.Sprintf("127.0.0.1:%.0f", port) }
	find := func(event, peer string, pid int32) recording.Network {
		for _, row := range got.Network {
			if row.Event == event && row.Peer == peer && row.Pid == pid {
				return row
			}
		}
		return recording.Network{}
	}
	for _, want := range []struct {
		event, peer string
		pid         int32
		count       int64
		target      bool
	}{
		{recording.NetConnect, at(ports["port"]), got.pid, own, true},
		{recording.NetAccept, at(ports["port"]), got.pid, own, true},
		{recording.NetReset, at(ports["port"]), got.pid, 1, true},
		{recording.NetConnect, at(float64(otherPort)), got.pid, other, true},
		{recording.NetAccept, at(float64(otherPort)), int32(os.Getpid()), other, false},
		{recording.NetFailed, at(ports["closed"]), got.pid, refused, true},
	} {
		row := find(want.event, want.peer, want.pid)
		if want.count > 1 && few(row.Count, want.count) || row.Count < 1 || row.Target != want.target {
			t.Errorf("%s %s of %d: %+v, the truth is %d", want.event, want.peer, want.pid, row, want.count)
		}
		if timed := want.event == recording.NetConnect || want.event == recording.NetFailed; timed != (row.TotalNs > 0) {
			t.Errorf("%s %s took %d ns", want.event, want.peer, row.TotalNs)
		}
	}
	if again := find(recording.NetRetransmit, at(ports["full"]), got.pid); again.Count < 1 || !again.Target {
		t.Errorf("no segment to the full listener was sent again: %+v", got.Network)
	}
	got.lossless(t, "network")
}
