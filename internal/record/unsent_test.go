package record

import (
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"culprit/recording"
)

// An answer in two small writes lies in the socket until the client has acknowledged the first,
// which it puts off; with TCP_NODELAY both leave at once. The latency is the same.
func TestAnswersThatAreKeptBack(t *testing.T) { bothWays(t, checkKeptBack) }

func checkKeptBack(t *testing.T, options Options) {
	const count = 20
	for _, delay := range []bool{true, false} {
		recorder := start(t, options)
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		go answerInTwo(listener, delay)
		if err := recorder.Begin(t.Context(), Target{Kind: "pid", Pid: os.Getpid()}); err != nil {
			t.Fatal(err)
		}
		port := listener.Addr().(*net.TCPAddr).Port
		a := newAsker(t, port)
		for range count {
			if _, err := a.ask("/two"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(15 * time.Millisecond)
		}
		a.connection.Close()
		got := endWindow(t, recorder)
		sum, unsent, why := recording.Request{}, int64(0), ""
		for _, row := range got.Recording.Requests {
			if row.Side == recording.SideServer && row.Service == fmt.Sprintf("tcp port %d", port) {
				sum.Count, unsent = sum.Count+row.Count, unsent+row.UnsentNs
			}
		}
		for _, one := range got.Recording.SlowRequests {
			if one.UnsentNs > 0 {
				why = one.UnsentBy
			}
		}
		if sum.Count < count-1 {
			t.Fatalf("%d requests of %d", sum.Count, count)
		}
		mean := time.Duration(unsent / sum.Count)
		if delay != (mean > 20*time.Millisecond) || mean > 60*time.Millisecond || delay && why != recording.UnsentSmall {
			t.Errorf("Nagle's algorithm %v: %v in the socket, %q", delay, mean, why)
		}
	}
}

// answerInTwo serves each connection until it ends.
func answerInTwo(listener net.Listener, delay bool) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		connection.(*net.TCPConn).SetNoDelay(!delay)
		go func() {
			defer connection.Close()
			request := make([]byte, 4096)
			for {
				if _, err := connection.Read(request); err != nil {
					return
				}
				fmt.Fprint(connection, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
				fmt.Fprint(connection, "ok")
			}
		}()
	}
}
