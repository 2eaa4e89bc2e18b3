package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal makes a pseudo-terminal: what a process sees as one, and our end of it.
func terminal(t *testing.T) (theirs, ours *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return theirs, ours
}

// onTerminal runs culprit with standard output on a terminal and returns what came out there.
func onTerminal(t *testing.T, folder, colour string, args ...string) string {
	t.Helper()
	theirs, ours := terminal(t)
	made := command(t, folder, args...)
	made.Env = append(made.Env, colour)
	made.Stdout = theirs
	shown := make(chan []byte)
	go func() {
		var all bytes.Buffer
		_, _ = all.ReadFrom(ours) // ends with EIO when the other end is closed
		shown <- all.Bytes()
	}()
	got := finish(t, made)
	theirs.Close()
	text := string(<-shown)
	if got.status != exitDone || text == "" {
		t.Errorf("%v: %+v, shown %q", args, got, text)
	}
	return text
}

func TestColourOnlyOnATerminalAndWhereItIsWanted(t *testing.T) {
	needsRoot(t)
	t.Parallel()
	folder := t.TempDir()
	made := apart(t, folder, "record", "-o", "nap.culprit", "--", "sleep", "0.2")
	if made.status != exitDone {
		t.Fatal(made)
	}
	path := filepath.Join(folder, "nap.culprit")
	if text := onTerminal(t, folder, "TERM=xterm", "explain", path); !strings.Contains(text, "\x1b[") {
		t.Errorf("no colour on a terminal: %q", text)
	}
	if text := onTerminal(t, folder, "NO_COLOR=1", "explain", path); strings.Contains(text, "\x1b") {
		t.Errorf("escape codes in spite of NO_COLOR: %q", text)
	}
	for _, args := range [][]string{{"explain", path}, {"doctor"}, {"--help"}, {"explain"}, {"restore"}} {
		if got := apart(t, folder, args...); strings.Contains(got.stdout+got.stderr, "\x1b") {
			t.Errorf("%v: escape codes without a terminal", args)
		}
	}
}
