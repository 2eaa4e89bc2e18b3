package trial

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"culprit/internal/host"
)

// encodeExit is the message that the kernel sends about a task.
func encodeExit(version uint16, tid, pid, ppid int, runqueue time.Duration) []byte {
	stats := unix.Taskstats{Version: version, Ac_pid: uint32(tid), Ac_ppid: uint32(ppid), Ac_tgid: uint32(pid),
		Cpu_delay_total: uint64(runqueue), Hiwater_rss: 77}
	text := unsafe.Slice((*byte)(unsafe.Pointer(&stats)), unsafe.Sizeof(stats))
	id := attribute(unix.TASKSTATS_TYPE_PID, binary.NativeEndian.AppendUint32(nil, uint32(tid)))
	return attribute(unix.TASKSTATS_TYPE_AGGR_PID, append(id, attribute(unix.TASKSTATS_TYPE_STATS, text)...))
}

func TestExitsOfTheTreeAreFound(t *testing.T) {
	const self, recorder = 10, 11
	e := &exits{socket: -1}
	add := func(tid, pid, ppid int) {
		one, good := parseExit(encodeExit(17, tid, pid, ppid, time.Duration(tid)))
		if !good || one.tid != tid || one.pid != pid || one.ppid != ppid ||
			one.runqueue != time.Duration(tid) || one.peakKB != 77 {
			t.Fatalf("%+v", one)
		}
		e.seen = append(e.seen, one)
	}
	add(24, 24, 22)       // grandchild
	add(23, 22, 20)       // a thread of 22
	add(22, 22, 20)       // child of the leader
	add(31, 31, 30)       // another program's child
	add(30, 30, 1)        // another program
	add(12, recorder, 10) // a thread of the recorder
	add(13, 13, recorder) // a child of the recorder
	add(40, 40, 41)       // a loop that the kernel would not send
	add(41, 41, 40)
	add(20, 20, self) // leader
	add(25, 25, self) // its parent ended earlier
	add(14, self, 1)  // a thread of culprit itself
	found, complete := e.tree(self, map[int]bool{recorder: true})
	var tids []int
	for _, one := range found {
		tids = append(tids, one.tid)
	}
	if want := []int{24, 23, 22, 20, 25}; !complete || len(tids) != len(want) {
		t.Errorf("tree %v, want %v", tids, want)
	}
	if _, good := parseExit(encodeExit(brokenVersion, 1, 1, 1, 0)); good {
		t.Error("the layout of version 15 is read as if it were known")
	}
}

// Whatever arrives on the socket, reading it ends and stays inside it.
func FuzzParseExit(f *testing.F) {
	f.Add(encodeExit(17, 5, 4, 3, time.Second))
	f.Add(encodeExit(10, 5, 4, 3, time.Second)[:120])
	f.Add([]byte{4, 0, 0, 0, 3, 0, 1, 0})
	f.Fuzz(func(t *testing.T, payload []byte) {
		one, good := parseExit(payload)
		if !good && one != (exit{}) {
			t.Errorf("both a value and none: %+v", one)
		}
		count := 0
		for range messages(payload) {
			count++
		}
		if count > len(payload)/unix.SizeofNlMsghdr {
			t.Errorf("%d messages in %d bytes", count, len(payload))
		}
	})
}

func TestHostTimesAreReadBelowARoot(t *testing.T) {
	root := t.TempDir()
	write := func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(root, "proc"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "proc/stat"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("cpu  10 0 5 100 20 0 0 7 0 0\ncpu0 5 0 5 50 10 0 0 7 0 0\nintr 1 2\n")
	before, err := lookAtHost(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	write("cpu  99 0 5 200 20 0 0 27 0 0\ncpu0 5 0 5 50 10 0 0 7 0 0\nintr 1 2\n")
	after, err := lookAtHost(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	after.at, after.own = before.at.Add(time.Second), before.own
	// 2 s of CPU: 1 s idle, 0.2 s stolen, 0.3 s of the tree.
	d := between(before, after, 2, 300*time.Millisecond)
	if d.StealS < 0.199 || d.StealS > 0.201 || d.OthersS < 0.499 || d.OthersS > 0.501 {
		t.Errorf("%+v", d)
	}
	for list, want := range map[string]int{"0": 1, "0-3,8\n": 5, "2-2": 1, "": 0, "3-1": 0, "a": 0, "0-70000": 0,
		"-1": 0} {
		if got, err := countCPUs(list); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d CPUs, %v", list, got, err)
		}
	}
}

func TestOwnGroupIsFoundInMounts(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "proc/self"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ membership, mounts, want string }{
		{"0::/user.slice/a.scope\n", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			"sys/fs/cgroup/user.slice/a.scope"},
		{"2:cpu:/x\n0::/\n", "31 20 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n" +
			"30 20 0:26 / /sys/fs/cgroup/unified rw shared:4 - cgroup2 none rw\n", "sys/fs/cgroup/unified"},
		{"0::/docker/12\n", "30 20 0:26 /docker/12 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "sys/fs/cgroup"},
		{"0::/other\n", "30 20 0:26 /docker/12 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", ""},
		{"0::/../x\n", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", ""},
		{"2:cpu:/x\n", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", ""},
		{"0::/\n", "garbage\n - cgroup2\n", ""},
	}
	for _, test := range tests {
		for name, text := range map[string]string{"cgroup": test.membership, "mountinfo": test.mounts} {
			if err := os.WriteFile(filepath.Join(root, "proc/self", name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := host.OwnGroup(root)
		if test.want == "" {
			if err == nil {
				t.Errorf("%q gives %q", test.membership, got)
			}
		} else if got != filepath.Join(root, test.want) {
			t.Errorf("%q gives %q, %v; want %q", test.membership, got, err, test.want)
		}
	}
}
