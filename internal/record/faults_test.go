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

// Faults are counted exactly, and their stacks share the count as the program shared its touches.
func TestFaults(t *testing.T) {
	const pages, cold = 24_000, 300
	got := watchCommand(t, standing.get(t), programs.compile(t, "touch.c"), fmt.Sprint(pages), fmt.Sprint(cold),
		filepath.Join(t.TempDir(), "cold"))
	truth := numbers(t, got.output)
	counted, in := map[string]float64{}, map[string]float64{}
	for _, sample := range got.Samples {
		if sample.Pid != got.pid || sample.Signal != recording.SignalFault && sample.Signal != recording.SignalMajor {
			continue
		}
		counted[sample.Signal] += float64(sample.Count)
		for _, name := range []string{"touch_few", "touch_many"} {
			if slices.Contains(got.StackNames(sample.Stack), name) {
				in[name] += float64(sample.Count)
			}
		}
	}
	// The shell at the gate and the program's start and end come on top.
	for signal, slack := range map[string]float64{recording.SignalFault: 2000, recording.SignalMajor: 100} {
		want := truth[map[string]string{recording.SignalFault: "minor", recording.SignalMajor: "major"}[signal]]
		if counted[signal] < want || counted[signal] > want+slack {
			t.Errorf("%s: %.0f faults, the truth is %.0f", signal, counted[signal], want)
		}
	}
	if truth["minor"] < 4*pages {
		t.Fatalf("the program touched %d pages for the first time and had %.0f faults", 4*pages, truth["minor"])
	}
	about(t, "faults in the two loops", in["touch_few"]+in["touch_many"], 4*pages, 0.3, 0)
	about(t, "share of the larger loop", in["touch_many"]/(in["touch_few"]+in["touch_many"]), 0.75, 0, 0.2)
}

// memoryGroup makes a cgroup with a limit of memory for one test.
func memoryGroup(t *testing.T, limit int) string {
	t.Helper()
	for _, root := range []struct{ folder, file string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, {"/sys/fs/cgroup", "memory.max"},
	} {
		folder := filepath.Join(root.folder, fmt.Sprintf("culprit-test-%d", os.Getpid()))
		if err := os.Mkdir(folder, 0o755); err != nil {
			continue
		}
		t.Cleanup(func() {
			if err := os.Remove(folder); err != nil {
				t.Errorf("remove the cgroup: %v", err)
			}
		})
		if err := os.WriteFile(filepath.Join(folder, root.file), []byte(fmt.Sprint(limit)), 0); err == nil {
			return folder
		}
	}
	t.Skip("no cgroup here can be given a limit of memory")
	return ""
}

// A process at its cgroup's limit frees memory on its own time, which is told.
func TestReclaim(t *testing.T) {
	recorder := standing.get(t)
	group := memoryGroup(t, 24<<20)
	h := hold(t, "dd", "if=/dev/zero", "of="+filepath.Join(t.TempDir(), "large"), "bs=1M", "count=200")
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(fmt.Sprint(h.pid())), 0); err != nil {
		t.Fatal(err)
	}
	if err := recorder.Begin(t.Context(), Target{Kind: "command", Command: "dd", Pid: h.pid()}); err != nil {
		t.Fatal(err)
	}
	h.release()
	h.wait(t)
	got := endWindow(t, recorder)
	count, ns := int64(0), int64(0)
	for _, sample := range got.Samples {
		if sample.Signal != recording.SignalReclaim {
			continue
		}
		if names := got.StackNames(sample.Stack); sample.Pid != int32(h.pid()) || !sample.Target ||
			!slices.Equal(names, []string{"try_to_free_mem_cgroup_pages"}) {
			t.Errorf("reclaim %+v in %s", sample, strings.Join(names, ";"))
		}
		count, ns = count+sample.Count, ns+sample.ValueNs
	}
	if count < 1 || ns < 1 || ns > got.Manifest.WindowNs {
		t.Errorf("it reclaimed %d times, %d ns, in a window of %d ns", count, ns, got.Manifest.WindowNs)
	}
	// Stacks of a program do not arrive until the unwinder has looked at it: how many these are is up
	// to the host.
	got.lossless(t, "faults", "faults: samples whose stack did not arrive")
}
