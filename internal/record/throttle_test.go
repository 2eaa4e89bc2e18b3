package record

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// What a cgroup's limit holds back is told for the process that asked, with the time that its calls
// took.
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

// What is said of limits is what concerns the target: another cgroup's I/O stands in the table
// only.
func TestThrottledOfTheTarget(t *testing.T) {
	rec := &recording.Recording{Facts: []recording.Fact{{Name: "target.cgroup.path.blkio", Value: "/jobs/batch"},
		{Name: "target.cgroup.path.cpu", Value: "/"}}}
	rec.Block = []recording.Block{
		{Device: "sda", Pid: 7, Target: true, Throttled: 3, ThrottledNs: 5e8, ThrottledBy: "batch"},
		{Device: "sda", Throttled: 2, ThrottledBy: "batch"},
		{Device: "sda", Pid: 7, Target: true, Throttled: 1, ThrottledNs: 4, ThrottledBy: "inner"},
		{Device: "sda", Throttled: 9, ThrottledBy: "other"}, {Device: "sda", Pid: 7, Target: true, Count: 8}}
	for kind, want := range map[string][]Throttled{
		"pid":  {{"sda", "batch", 5, 5e8}, {"sda", "inner", 1, 4}},
		"host": {{"sda", "batch", 5, 5e8}, {"sda", "inner", 1, 4}, {"sda", "other", 9, 0}},
	} {
		rec.Manifest.Target.Kind = kind
		if got := throttledOf(rec); !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v", kind, got, want)
		}
	}
}
