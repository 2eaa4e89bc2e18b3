package record

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"culprit/recording"
)

// throttledGroup makes a cgroup that may read 20 times a second from a device.
func throttledGroup(t *testing.T, device string) string {
	t.Helper()
	number, err := os.ReadFile("/sys/class/block/" + filepath.Base(device) + "/dev")
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []struct{ hierarchy, file, limit string }{
		{"/sys/fs/cgroup/blkio", "blkio.throttle.read_iops_device", "20"}, {"/sys/fs/cgroup", "io.max", "riops=20"},
	} {
		group := fmt.Sprintf("%s/culprit-throttle-%d", version.hierarchy, os.Getpid())
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		t.Cleanup(func() {
			if err := os.Remove(group); err != nil {
				t.Errorf("remove the cgroup: %v", err)
			}
		})
		line := strings.TrimSpace(string(number)) + " " + version.limit
		if os.WriteFile(filepath.Join(group, version.file), []byte(line), 0) == nil {
			return group
		}
	}
	t.Skip("no cgroup here can be given a limit of I/O")
	return ""
}

// What a cgroup's limit holds back is told for the process that asked, with the time that its calls took.
func TestThrottledReads(t *testing.T) {
	const reads = 20
	recorder := standing.get(t)
	device := loopDevice(t, 1<<20)
	group := throttledGroup(t, device)
	h := hold(t, "dd", "if="+device, "of=/dev/null", "iflag=direct", "bs=4k", fmt.Sprintf("count=%d", reads))
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(fmt.Sprint(h.pid())), 0); err != nil {
		t.Fatal(err)
	}
	if err := recorder.Begin(t.Context(), Target{Kind: "command", Command: "dd", Pid: h.pid()}); err != nil {
		t.Fatal(err)
	}
	h.release()
	h.wait(t)
	got := endWindow(t, recorder)
	own, inCalls := recording.Block{}, int64(0)
	for _, row := range got.Block {
		if row.Pid == int32(h.pid()) && row.Operation == "read" && row.Device == filepath.Base(device) {
			own = row
		}
	}
	for _, call := range got.Syscalls {
		if call.Name == "read" && call.Pid == int32(h.pid()) {
			inCalls += call.TotalNs
		}
	}
	if own.Throttled < 2 || own.Throttled > reads || own.ThrottledBy != filepath.Base(group) || !own.Target {
		t.Errorf("of %d reads at 20 a second: %+v", reads, own)
	}
	if own.ThrottledNs > inCalls || own.ThrottledNs < inCalls/2 {
		t.Errorf("held back for %d ns, within calls of %d ns", own.ThrottledNs, inCalls)
	}
	got.lossless(t, "block")
}
