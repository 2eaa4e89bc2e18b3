package main

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The child of a server that is killed gets its SIGTERM once for each thread of the server: the
// second must not kill it while it puts everything in order. Without that this test's process ends.
func TestEchoOfATermination(t *testing.T) {
	ctx, stop := untilSignal(t.Context())
	defer stop()
	for range 3 {
		if err := unix.Kill(unix.Getpid(), unix.SIGTERM); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
			t.Fatal("a signal does not end the context")
		}
		time.Sleep(50 * time.Millisecond)
	}
	if by, ok := interruption(ctx); !ok || by.signal != unix.SIGTERM {
		t.Errorf("ended by %v", by)
	}
}
