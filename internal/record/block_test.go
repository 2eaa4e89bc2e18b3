package record

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"culprit/recording"
)

// loopDevice puts a block device over a file that no other program uses.
func loopDevice(t *testing.T, bytes int64) string {
	t.Helper()
	image := filepath.Join(t.TempDir(), "image")
	file, err := os.Create(image)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(bytes); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		t.Skipf("this host has no loop devices: %v", err)
	}
	text, err := exec.Command("losetup", "--find", "--show", image).CombinedOutput()
	if err != nil {
		t.Fatalf("make a loop device: %v: %s", err, text)
	}
	device := strings.TrimSpace(string(text))
	t.Cleanup(func() {
		if text, err := exec.Command("losetup", "--detach", device).CombinedOutput(); err != nil {
			t.Errorf("detach %s: %v: %s", device, err, text)
		}
	})
	return device
}

// few tells whether an event or two of a hundred are missing, or one is too many: some calls of a
// tracepoint reach no program and count as no miss, when programs of others come and go there (see
// offcpu.bpf.c).
func few(seen, truth int64) bool { return seen > truth || seen < truth-1-truth/50 }

// A window that begins and ends while a device is busy knows what is under way, not what was before
// it.
func TestWindowOnBusyDevice(t *testing.T) {
	recorder := standing.get(t)
	device := loopDevice(t, 1<<20)
	file, err := os.OpenFile(device, os.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	memory, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(memory) }() // the test is over
	stop, stopped := make(chan struct{}), make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
				if _, err := file.ReadAt(memory, 0); err != nil {
					stopped <- err
					return
				}
			}
		}
	}()
	for range 3 {
		got := watchCommand(t, recorder, "dd", "if="+device, "of=/dev/null", "iflag=direct", "bs=4k", "count=50")
		own := int64(0)
		for _, row := range got.Block {
			if row.Device != filepath.Base(device) || row.Operation != "read" {
				continue
			}
			if row.Pid == got.pid {
				own = row.Count
			}
			if row.MaxDepth > 3 || row.TotalNs > 2*got.Manifest.WindowNs {
				t.Errorf("two read one piece at a time, in a window of %d ns: %+v", got.Manifest.WindowNs, row)
			}
		}
		if few(own, 50) {
			t.Errorf("%d reads of dd, which reads 50 times: %+v", own, got.Block)
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// Every request to a device is counted once, with its bytes and its submitter, and takes no longer
// than the call.
func TestBlockRequests(t *testing.T) {
	const writes, writeBytes, reads, readBytes = 200, 65536, 100, 4096
	recorder := standing.get(t)
	device := loopDevice(t, writes*writeBytes)
	got := watchCommand(t, recorder, programs.compile(t, "disk.c"), device, fmt.Sprint(writes),
		fmt.Sprint(writeBytes), fmt.Sprint(reads), fmt.Sprint(readBytes))
	truth := numbers(t, got.output)
	rows, flushes := map[string]recording.Block{}, int64(0)
	for _, row := range got.Block {
		if row.Device != filepath.Base(device) {
			continue
		}
		if row.Operation == "flush" {
			flushes += row.Count
		}
		if row.Pid == got.pid {
			rows[row.Operation] = row
		}
	}
	for _, want := range []recording.Block{
		{Operation: "write", Count: writes, Bytes: writes * writeBytes},
		{Operation: "read", Count: reads, Bytes: reads * readBytes},
	} {
		row := rows[want.Operation]
		if few(row.Count, want.Count) || row.Bytes != row.Count*want.Bytes/want.Count ||
			!row.Target || row.Comm != "disk-c" || row.MaxDepth < 1 {
			t.Errorf("%s: %+v, the truth is %d requests of the target, %d bytes", want.Operation, row, want.Count,
				want.Bytes)
		}
		var sum, low, high int64
		for i, count := range row.Buckets {
			sum, low, high = sum+count, low+count<<i, high+count<<(i+1)
		}
		if sum != row.Count || row.TotalNs < low || row.TotalNs > high || row.MaxNs > row.TotalNs {
			t.Errorf("%s: %d requests, in buckets %d; %d ns, by the buckets %d to %d", want.Operation, row.Count, sum,
				row.TotalNs, low, high)
		}
		took := truth[want.Operation+"_s"] * 1e9
		if inside := float64(row.TotalNs + row.QueueNs); inside <= 0 || inside > took {
			t.Errorf("%s: the device and its queue took %.0f ns of calls of %.0f ns", want.Operation, inside, took)
		}
	}
	if flushes < 1 {
		t.Errorf("the flush of fsync was not seen: %+v", got.Block)
	}
	got.lossless(t, "block")
}
