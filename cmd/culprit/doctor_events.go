package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"

	"culprit/recording"
)

// actForDoctor does, while the test program runs, what a shell cannot be relied
// upon to do: it forces some data to a disk and opens a connection to itself.
// What it cannot do here is not seen either, and sawEvents says so.
func actForDoctor(folder string) {
	if file, err := os.Create(filepath.Join(folder, "synced")); err == nil {
		_, _ = file.Write(make([]byte, 64<<10))
		_ = file.Sync()
		file.Close()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return
	}
	defer func() { _ = listener.Close() }() // nobody else uses it
	connection, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return
	}
	_ = connection.Close() // opening it was what counts
}

// sawEvents says what a probe saw that is told by rows of its own. Disks and
// locks may have had nothing to show.
func sawEvents(name string, rec *recording.Recording) (saw, why string) {
	switch name {
	case "faults":
		counted, placed := faultsOf(rec)
		if counted == 0 {
			return "", "it was loaded and attached, but did not see one page fault of the test program"
		}
		return fmt.Sprintf("%d page faults, %d of them with stacks", counted, placed), ""
	case "block":
		requests := int64(0)
		for _, row := range rec.Block {
			requests += row.Count
		}
		if requests == 0 {
			return "no request: the temporary folder is on no disk", ""
		}
		return fmt.Sprintf("%d requests to disks", requests), ""
	case "network":
		for _, row := range rec.Network {
			if row.Event == recording.NetConnect && int(row.Pid) == os.Getpid() {
				return "a connection and how long opening it took", ""
			}
		}
		return "", "it was loaded and attached, but did not see a connection on the loopback device"
	}
	waits := int64(0)
	for _, lock := range rec.Locks {
		if lock.Kind != recording.LockFutex {
			waits += lock.Waits
		}
	}
	return fmt.Sprintf("%d waits for locks of the kernel", waits), ""
}

// faultsOf counts page faults, and those whose place is known.
func faultsOf(rec *recording.Recording) (counted, placed int64) {
	for _, sample := range rec.Samples {
		if sample.Signal != recording.SignalFault && sample.Signal != recording.SignalMajor {
			continue
		}
		counted += sample.Count
		if sample.Stack != recording.NoStack {
			placed += sample.Count
		}
	}
	return counted, placed
}
