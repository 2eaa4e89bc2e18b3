package record

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"culprit/recording"
)

// Writers of one file queue on its inode's lock: how long, where, and behind whom. On a busy host
// they seldom meet, and now and then no holder of a short run is seen.
func TestInodeLock(t *testing.T) {
	recorder := standing.get(t)
	file, rounds := filepath.Join(t.TempDir(), "shared"), 30
	eventually(t, func() []string {
		rounds *= 2
		got := watchCommand(t, recorder, programs.compile(t, "queue.c"), file, fmt.Sprint(rounds), fmt.Sprint(4<<20))
		got.lossless(t, "kernellocks")
		return inodeLockProblems(t, got)
	})
}

// inodeLockProblems holds what was seen of the lock to what the program says of itself.
func inodeLockProblems(t *testing.T, got seen) (problems []string) {
	truth := numbers(t, got.output)
	var longest recording.Lock
	total, waits, waiters := int64(0), int64(0), int32(0)
	for _, lock := range got.Locks {
		place := got.StackNames(lock.WaiterStack)
		if len(place) > 0 && strings.HasPrefix(place[len(place)-1], "__traceiter_") {
			t.Errorf("the probe's own hook is where a lock is waited for: %q", place)
		}
		if lock.Kind != recording.LockRWSem || !slices.Contains(place, "rwsem_down_write_slowpath") ||
			!slices.ContainsFunc(place, func(name string) bool { return strings.Contains(name, "write_iter") }) {
			continue
		}
		total, waits, waiters = total+lock.TotalNs, waits+lock.Waits, max(waiters, lock.Waiters)
		if lock.HolderPid != 0 && lock.TotalNs > longest.TotalNs { // some queues had no holder that was seen
			longest = lock
		}
	}
	problem := func(format string, values ...any) { problems = append(problems, fmt.Sprintf(format, values...)) }
	if waits < 10 || float64(total) > truth["threads"]*truth["seconds"]*1e9 {
		problem("%d waits of %d ns together; %v threads ran for %v s", waits, total, truth["threads"], truth["seconds"])
	}
	if longest.Address == 0 || longest.HolderPid != got.pid || longest.HolderComm != "queue-c" || longest.Pid != 0 ||
		longest.MaxNs > longest.TotalNs {
		problem("the longest queue was %+v; all is within process %d", longest, got.pid)
	}
	// The longest may be of one thread, behind a holder that lost its CPU.
	if waiters < 2 || waiters > int32(truth["threads"]) {
		problem("%d threads wait at once, %v run", waiters, truth["threads"])
	}
	// A thread that waits for the lock spins or sleeps: what it slept there is part of what it
	// waited.
	asleep := int64(0)
	for _, sample := range got.Samples {
		names := got.StackNames(sample.Stack)
		if sample.Signal == recording.SignalOffCPU && slices.Contains(names, "rwsem_down_write_slowpath") &&
			slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "write_iter") }) {
			asleep += sample.ValueNs
		}
	}
	if float64(asleep) > float64(total)*1.2+5e7 { // a wait or two may go unseen, see few
		problem("slept %d ns in a wait for the lock of %d ns", asleep, total)
	}
	return problems
}

// Who holds a folder's lock while the file system writes it down is seen doing so by who waits for
// the lock.
func TestHolderOfAFoldersLock(t *testing.T) {
	recorder := standing.get(t)
	program, folder := programs.compile(t, "dirlock.c"), t.TempDir()
	var exit *exec.ExitError
	if err := exec.Command(program, folder, "1").Run(); errors.As(err, &exit) && exit.ExitCode() == 3 {
		t.Skip("the file system of temporary files has no folders that are written at once (chattr +D)")
	}
	rounds := 20
	eventually(t, func() (problems []string) {
		rounds *= 2 // on a busy host the two are seldom there at once
		return seeHolderOfFolder(t, watchCommand(t, recorder, program, folder, fmt.Sprint(rounds)))
	})
}

// seeHolderOfFolder looks for a wait behind one of the two that waits for the disk.
func seeHolderOfFolder(t *testing.T, got seen) (problems []string) {
	truth := numbers(t, got.output)
	var holders []string
	for _, lock := range got.Locks {
		place := got.StackNames(lock.WaiterStack)
		if lock.Kind != recording.LockRWSem || !slices.Contains(place, "rwsem_down_write_slowpath") {
			continue
		}
		holder := got.StackNames(lock.HolderStack)
		holders = append(holders, fmt.Sprintf("%d behind %d in %q", lock.Waits, lock.HolderPid, holder))
		mine := float64(lock.HolderPid) == truth["parent"] || float64(lock.HolderPid) == truth["child"]
		inCall := len(holder) > 0 && slices.ContainsFunc(holder, func(name string) bool {
			return strings.Contains(name, "openat") || strings.Contains(name, "unlink")
		})
		writes := slices.Contains(holder, "jbd2_log_wait_commit") || slices.Contains(holder, "__sync_dirty_buffer")
		if mine && inCall && writes { // the second without a journal
			return nil
		}
	}
	return []string{fmt.Sprintf("no wait behind one of %v that waits for the disk: %s", truth,
		strings.Join(holders, "; "))}
}
