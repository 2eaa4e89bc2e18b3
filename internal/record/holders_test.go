package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"culprit/internal/host"
	"culprit/internal/monitor"
	"culprit/recording"
)

func TestProgramsOfOthersAreTheirs(t *testing.T) {
	const tag = "6deef7357e7b4530"
	root := t.TempDir()
	holdProgram(t, root, "10", "bpftrace", tag)
	holdProgram(t, root, "11", recording.RecorderComm, "00000000000000aa")
	holdProgram(t, root, "12", "exe", "00000000000000bb") // a recorder that begins
	holdProgram(t, root, "13", recording.RecorderComm, "00000000000000bb")
	tracers, own := host.Tracers(root, 13), host.HeldBy(root, 13)
	if len(tracers) != 3 {
		t.Fatalf("tracers are %v", tracers)
	}
	frames := []recording.Frame{
		{Name: "bpf_prog_" + tag + "_sys_enter", Kind: recording.KindKernel},
		{Name: "bpf_prog_" + tag, Kind: recording.KindKernel},
		{Name: "bpf_prog_00000000000000aa_sys_enter", Kind: recording.KindKernel}, // another culprit's
		{Name: "bpf_prog_00000000000000bb_sys_enter", Kind: recording.KindKernel}, // our own
		{Name: "bpf_prog_array_free", Kind: recording.KindKernel},
		{Name: "bpf_prog_" + tag, Kind: recording.KindNative},
	}
	nameHolders(frames, &own, tracers)
	for i, want := range []string{"bpftrace", "bpftrace", "", "", "", ""} {
		if got := recording.HolderOf(frames[i]); got != want {
			t.Errorf("%s is a program of %q, want %q", frames[i].Name, got, want)
		}
	}
}

// holdProgram plants a process that holds a BPF program of a tracing kind below a root.
func holdProgram(t *testing.T, root, pid, comm, tag string) {
	t.Helper()
	folder := filepath.Join(root, "proc", pid)
	for _, sub := range []string{"fd", "fdinfo"} {
		if err := os.MkdirAll(filepath.Join(folder, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"comm": comm + "\n", "status": "TracerPid:\t0\n",
		"fdinfo/3": "prog_type:\t5\nprog_tag:\t" + tag + "\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("anon_inode:bpf-prog", filepath.Join(folder, "fd/3")); err != nil {
		t.Fatal(err)
	}
}

func TestProgramsWithoutSamples(t *testing.T) {
	c := counting{found: []monitor.Monitor{
		{Name: "perf", Does: monitor.Counts, Scope: monitor.ScopeCPU, Each: 1, Events: []string{"cs"}},
		{Name: "bpftrace", Does: monitor.Runs, Scope: monitor.ScopeCPU, Each: 1, Events: []string{"raw_syscalls:sys_enter"}}}}
	spots := c.unseen()
	if len(spots) != 1 || !strings.HasPrefix(spots[0].String(), "bpftrace runs BPF programs at 1 event on whole CPUs: "+
		"raw_syscalls:sys_enter: the kernel takes no samples within such programs") {
		t.Errorf("unseen are %v", spots)
	}
}
