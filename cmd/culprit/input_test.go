package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNamedPipeIsLeft: nobody ever writes into the pipe, so that opening it would wait for good;
// the first signal ends the verb all the same.
func TestNamedPipeIsLeft(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"report", pipe}, {"worth", pipe}, {"try", pipe}, {"import", pipe, "-o", pipe + ".culprit"},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		var out, errors bytes.Buffer
		done := make(chan int)
		go func() { done <- run(ctx, world{stdin: strings.NewReader(""), stdout: &out, stderr: &errors}, args) }()
		cancel(interrupted{unix.SIGTERM})
		if status := <-done; status != exitError || !strings.Contains(errors.String(), "interrupted") {
			t.Errorf("%v: status %d, %q", args, status, errors.String())
		}
	}
}

// TestInterruptedRead: a writer that has the pipe open and says nothing does not hold the reader
// either.
func TestInterruptedRead(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	writer, err := unix.Open(pipe, unix.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(writer)
	ctx, cancel := context.WithCancel(t.Context())
	file, err := openInput(ctx, pipe)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Write(writer, []byte("one")); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 10)
	if n, err := file.Read(buffer); err != nil || string(buffer[:n]) != "one" {
		t.Fatalf("read %q, %v; want what was written", buffer[:n], err)
	}
	done := make(chan error)
	go func() {
		_, err := file.Read(buffer)
		done <- err
	}()
	cancel()
	if err := <-done; err != context.Canceled {
		t.Errorf("read after the interruption: %v", err)
	}
}
