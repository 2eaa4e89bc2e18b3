package record

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"culprit/recording"
)

// bothWays runs a test with the hooks on sockets, where the kernel has them, and by system calls,
// as before Linux 6.3.
func bothWays(t *testing.T, test func(*testing.T, Options)) {
	t.Run("hooks", func(t *testing.T) { test(t, Options{Requests: true}) })
	t.Run("calls", func(t *testing.T) { test(t, Options{Requests: true, ByCalls: true}) })
}

// Over unix sockets the requests of connections that are older than the recording, and of newer
// ones, are counted by kind. How long they wait before they are read hooks show; where calls are
// followed it is said that they do not.
func TestRequestsOverUnixSockets(t *testing.T) { bothWays(t, checkUnixSockets) }

func checkUnixSockets(t *testing.T, options Options) {
	const count = 100
	recorder := start(t, options)
	path := filepath.Join(t.TempDir(), "served")
	server := running(t, programs.compile(t, "serve.c"), path)
	older := dialUnix(t, path)
	if err := askUnix(older, "/sleep/1"); err != nil {
		t.Fatal(err)
	}
	if err := recorder.Begin(t.Context(), Target{Kind: "pid", Pid: server.pid()}); err != nil {
		t.Fatal(err)
	}
	newer := dialUnix(t, path)
	for range count {
		for connection, asked := range map[net.Conn]string{older: "/sleep/17", newer: "/late"} {
			if err := askUnix(connection, asked); err != nil {
				t.Fatal(err)
			}
		}
	}
	time.Sleep(20 * time.Millisecond)
	got := endWindow(t, recorder)
	got.lossless(t, "requests")
	for kind, least := range map[string]time.Duration{"GET /sleep/#": 3 * time.Millisecond, "GET /late": 0} {
		sum, latencies := kindOf(got.Recording, recording.SideServer, kind)
		if sum.Count != count || sum.Service != "unix "+path || sum.Protocol != "http" {
			t.Errorf("%s: %d requests of %s at %q, the truth is %d", kind, sum.Count, sum.Protocol, sum.Service, count)
			continue
		}
		if middle := time.Duration(latencies[count/2]); middle < least*98/100 {
			t.Errorf("%s: %v in the middle, it sleeps for %v", kind, middle, least)
		}
	}
	checkUnixWait(t, got.Recording, options.ByCalls || !hooked(t))
}

// hooked tells whether the kernel has the hooks.
func hooked(t *testing.T) bool {
	t.Helper()
	types, err := os.ReadFile("/sys/kernel/btf/vmlinux")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(types, []byte("btf_trace_sock_recv_length"))
}

// checkUnixWait: a request for /late comes while the server sleeps for the rest of the 6 ms after
// its last answer.
func checkUnixWait(t *testing.T, rec *recording.Recording, byCalls bool) {
	t.Helper()
	late, _ := kindOf(rec, recording.SideServer, "GET /late")
	said := slices.ContainsFunc(rec.Manifest.BlindSpots, func(spot recording.BlindSpot) bool {
		return spot.Kind == recording.BlindCalls && spot.Why != ""
	})
	if byCalls != said || byCalls != (late.WaitNs == 0) {
		t.Errorf("by calls: %v; said: %v; the requests waited for %v in all", byCalls, said, time.Duration(late.WaitNs))
	}
	for _, request := range rec.SlowRequests {
		if byCalls && !request.NoWait {
			t.Errorf("request %d (%s) has a wait", request.ID, request.Kind)
		}
	}
}

func dialUnix(t *testing.T, path string) net.Conn {
	t.Helper()
	connection, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return connection
}

// askUnix sends a request and awaits its answer.
func askUnix(connection net.Conn, path string) error {
	if _, err := fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	length, err := connection.Read(answer)
	if err == nil && !bytes.HasSuffix(answer[:length], []byte("\r\n\r\nok")) {
		err = fmt.Errorf("answered %q", answer[:length])
	}
	return err
}

// Where the kernel refuses walks over maps, requests without an answer, and answers that are long
// over, are found by the target's open files. On such a kernel the other tests do so as well.
func TestRequestsOverOpenFiles(t *testing.T) {
	t.Run("unix", func(t *testing.T) { checkUnixSockets(t, Options{Requests: true, ByCalls: true, WalkFiles: true}) })
	t.Run("parts", func(t *testing.T) { checkAcrossParts(t, Options{Requests: true, WalkFiles: true}) })
	t.Run("streams", func(t *testing.T) { checkStreams(t, Options{Requests: true, WalkFiles: true}) })
}
