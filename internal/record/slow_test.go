package record

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"culprit/recording"
)

// journalledMount mounts a new ext4 with a journal over a loop device.
func journalledMount(t *testing.T) string {
	t.Helper()
	device := loopDevice(t, 96<<20)
	command := exec.Command("mkfs.ext4", "-F", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", device)
	if text, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", command.Args, err, text)
	}
	folder := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(device, folder, "ext4", 0, ""); err != nil {
		t.Fatalf("mount %s: %v", device, err)
	}
	t.Cleanup(func() { // before the device is detached
		if err := unix.Unmount(folder, 0); err != nil {
			t.Errorf("unmount %s: %v", folder, err)
		}
	})
	return folder
}

// slowTruth is what a slow operation of testdata/slow.c must look like.
type slowTruth struct {
	site         string // its name in what the program prints
	call         string
	kind, object string
	wakerComm    string
	waker        string // the pid or thread that it prints of the waker, "" when it was none of its own
	idle         bool
}

// slowWakers are the threads of testdata/slow.c that end the waits of its sites.
var slowWakers = []string{"answerer", "raiser", "server", "acceptor", "holder"}

// Each slow operation is kept whole: the call, how long, on what, who ended it.
func TestSlowOperations(t *testing.T) {
	const rounds = 5
	recorder := standing.get(t)
	folder := journalledMount(t)
	got := watchCommand(t, recorder, programs.compile(t, "slow.c"), folder, fmt.Sprint(rounds))
	truth := numbers(t, got.output)
	tcp := fmt.Sprintf("tcp 127.0.0.1:%.0f", truth["port"])
	for _, want := range []slowTruth{
		{site: "fsync", call: "fsync", kind: recording.ObjectFile, object: folder + "/deep/data"},
		{site: "sleep", call: "clock_nanosleep", kind: recording.ObjectTimer, idle: true},
		{site: "pipe", call: "read", kind: recording.ObjectPipe, wakerComm: "answerer", waker: "pipe-pid", idle: true},
		{site: "event", call: "read", kind: recording.ObjectOther, object: "[eventfd]", wakerComm: "raiser", idle: true},
		{site: "late", call: "read", kind: recording.ObjectPipe, wakerComm: "raiser", idle: true},
		{site: "recv", call: "recvfrom", kind: recording.ObjectSocket, object: tcp, wakerComm: "server", waker: "recv-pid"},
		{site: "connect", call: "connect", kind: recording.ObjectSocket, object: "unix " + folder + "/deep/socket",
			wakerComm: "acceptor", waker: "connect-pid"},
		{site: "lock", call: "futex", kind: recording.ObjectLock, object: fmt.Sprintf("%#x", uint64(truth["mutex"])),
			wakerComm: "holder", idle: true},
	} {
		t.Run(want.site, func(t *testing.T) { checkSlow(t, got, want, truth, rounds) })
	}
	t.Run("chain", func(t *testing.T) { checkChain(t, got, folder+"/deep/journal", truth, rounds) })
	got.lossless(t, "syscalls")
}

// checkSlow looks for each operation of a site by what the program measured. A busy host can take
// the CPU away between the end of a call and the program's look at the clock, or before the call
// until there is nothing to wait for: most must agree, and what agrees must be right in all.
func checkSlow(t *testing.T, got seen, want slowTruth, truth map[string]float64, rounds int) {
	var calls []recording.Slow
	for _, slow := range got.Slow {
		if slow.Tid == got.pid && slow.Name == want.call && slow.ObjectKind == want.kind &&
			(want.object == "" || slow.Object == want.object) {
			calls = append(calls, slow)
		}
	}
	agree := 0
	for round := range rounds {
		measured := truth[fmt.Sprintf("%s-%d", want.site, round)]
		agrees := func(slow recording.Slow) bool {
			difference := measured - float64(slow.DurationNs)/1e9
			return difference > -0.00005 && difference < max(0.05*measured, 0.001)
		}
		// Two sites may wait as long for a pipe: the one with the right waker is meant, if there is
		// one, and none that another site's thread ended.
		at := slices.IndexFunc(calls, func(slow recording.Slow) bool {
			return agrees(slow) && slow.WakerComm == want.wakerComm
		})
		if at < 0 {
			at = slices.IndexFunc(calls, func(slow recording.Slow) bool {
				return agrees(slow) && !slices.Contains(slowWakers, slow.WakerComm)
			})
		}
		if at < 0 || measured < 0.002 && want.wakerComm != "" {
			t.Logf("round %d: the program measured %.6f s", round, measured)
			continue
		}
		agree++
		checkOne(t, got, want, calls[at], truth)
		calls = slices.Delete(calls, at, at+1)
	}
	if agree*2 <= rounds {
		t.Errorf("%d of %d durations agree with the program's own; left are %+v", agree, rounds, calls)
	}
}

func checkOne(t *testing.T, got seen, want slowTruth, slow recording.Slow, truth map[string]float64) {
	if slow.BlockedNs+slow.RunqueueNs > slow.DurationNs || slow.LongestNs > slow.BlockedNs || slow.Waits < 1 ||
		slow.Comm != "slow-c" || slow.Idle() != want.idle || slow.Result < 0 {
		t.Errorf("%+v", slow)
	}
	if by := got.StackNames(slow.WakerStack); slow.WakerKind == recording.WakerInterrupt &&
		slices.Contains(by, "process_backlog") {
		t.Logf("the packet was taken in by an interrupt, after its sender had gone on: %v", by)
		return
	}
	if want.wakerComm != "" && (slow.WakerKind != recording.WakerThread || slow.WakerComm != want.wakerComm ||
		want.waker != "" && float64(slow.WakerPid) != truth[want.waker]) {
		t.Errorf("woken by %s %s (%d): %v", slow.WakerKind, slow.WakerComm, slow.WakerPid, got.StackNames(slow.WakerStack))
	}
}

// checkChain follows a stall from the lock to the holder's fsync to the journal, and that they are
// one.
func checkChain(t *testing.T, got seen, file string, truth map[string]float64, rounds int) {
	whole, fair, mutex := 0, 0, fmt.Sprintf("%#x", uint64(truth["mutex"]))
	for round := range rounds {
		holder := int32(truth[fmt.Sprintf("holder-%d", round)])
		var lock, fsync *recording.Slow
		for i := range got.Slow {
			switch slow := &got.Slow[i]; {
			case slow.Object == mutex && slow.WakerTid == holder && slow.Tid == got.pid:
				lock = slow
			case slow.Name == "fsync" && slow.Tid == holder && slow.Object == file:
				fsync = slow
			}
		}
		if lock == nil || fsync == nil {
			t.Logf("round %d: lock %v, fsync %v", round, lock, fsync)
			continue
		}
		if lock.BlockedNs*2 < lock.DurationNs || fsync.BlockedNs*2 < fsync.DurationNs {
			continue // on a busy host they waited longer for a CPU, which is no stall
		}
		fair++
		waited := got.StackNames(fsync.Stack)
		journal := slices.Contains(waited, "jbd2_log_wait_commit") && strings.HasPrefix(fsync.WakerComm, "jbd2/")
		hop := fsync.HopNs > 0 && len(got.StackFrames(fsync.HopStack)) > 0
		if journal && hop && lock.Stall > 0 && lock.Stall == fsync.Stall {
			whole++
			continue
		}
		t.Logf("round %d: lock %+v\nfsync %+v\nat %v\nwoken at %v, behind it %v", round, *lock, *fsync, waited,
			got.StackNames(fsync.WakerStack), got.StackNames(fsync.HopStack))
	}
	if whole == 0 || whole*2 <= fair {
		t.Errorf("%d of %d chains are whole: lock, its holder's fsync, the journal, what the journal waited for",
			whole, fair)
	}
}
