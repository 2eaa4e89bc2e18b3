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
	for _, delay := range []bool{true, false} {
		unsent, why := keptBack(t, options, delay)
		if delay != (unsent > 20*time.Millisecond) || unsent > 60*time.Millisecond || delay && why != recording.UnsentSmall {
			t.Errorf("Nagle's algorithm %v: %v in the socket, %q", delay, unsent, why)
		}
	}
}

// thinks is how long a client thinks about an answer. Within two ticks of the kernel's clock a
// socket is not asked when it sent: the side without delay would pass whatever it says.
const thinks = 15 * time.Millisecond

// keptBack is how long the kernel kept an answer back in the mean, and why it did.
func keptBack(t *testing.T, options Options, delay bool) (unsent time.Duration, why string) {
	const count = 20
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
	a := newAsker(t, listener.Addr().(*net.TCPAddr).Port)
	for range count {
		if _, err := a.ask("/two"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(thinks)
	}
	a.connection.Close()
	got := endWindow(t, recorder)
	sum, _ := kindOf(got.Recording, recording.SideServer, "GET /two")
	for _, one := range got.Recording.SlowRequests {
		if one.UnsentNs > 0 {
			why = one.UnsentBy
		}
	}
	if sum.Count < count-1 {
		t.Fatalf("%d requests of %d", sum.Count, count)
	}
	return time.Duration(sum.UnsentNs / sum.Count), why
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
