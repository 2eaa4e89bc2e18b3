package record

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// ownerVerb makes the test binary the owner of a recorder, to be killed.
const ownerVerb = "owner-of-a-recorder"

// ownRecorder starts a recorder, opens a window on itself, says so, and waits to be killed. Where
// it is given the path of a recording, it makes that, in short parts.
func ownRecorder(what string) int {
	recorder, err := Start(context.Background(), Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if filepath.IsAbs(what) {
		return ownParts(recorder, what)
	}
	if err := recorder.Begin(context.Background(), Target{Kind: "pid", Pid: os.Getpid()}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	fmt.Println("recording")
	_, _ = io.Copy(io.Discard, os.Stdin) // never ends: the test kills this process
	return 0
}

// ownParts records this process itself until the recorder is gone, or this process.
func ownParts(recorder *Recorder, path string) int {
	run := &Run{Recorder: recorder, Target: Target{Kind: "pid", Pid: os.Getpid()}, Path: path, Duration: time.Minute,
		every: 100 * time.Millisecond}
	err := run.Begin(context.Background())
	if err == nil {
		err = run.Watch(context.Background())
	}
	if err == nil { // of a recorder that was killed Finish tells
		_, err = run.Finish(context.Background())
	}
	fmt.Println(err)
	return 2
}

// held objects of the kernel, by what kind of id they have.
type heldIDs map[string][]uint32

// idsOf reads which BPF programs, maps and links a process holds, and how many perf events.
func idsOf(t *testing.T, pid int) (ids heldIDs, perfEvents int) {
	t.Helper()
	paths, err := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	ids = heldIDs{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if target, err := os.Readlink(strings.Replace(path, "fdinfo", "fd", 1)); err == nil &&
			strings.Contains(target, "perf_event") {
			perfEvents++
		}
		for _, line := range strings.Split(string(data), "\n") {
			key, value, found := strings.Cut(line, ":")
			var id uint32
			if _, err := fmt.Sscan(value, &id); found && err == nil && strings.HasSuffix(key, "_id") {
				ids[key] = append(ids[key], id)
			}
		}
	}
	return ids, perfEvents
}

// left lists the programs and maps of a process that are still in the kernel. They are not opened:
// closing a map of programs once more while the kernel clears it makes it stay for good
// (prog_array_map_clear takes a reference for work that was queued already).
func (ids heldIDs) left() (left []string) {
	for _, id := range ids["prog_id"] {
		if next, err := ebpf.ProgramGetNextID(ebpf.ProgramID(id - 1)); err == nil && next == ebpf.ProgramID(id) {
			left = append(left, fmt.Sprintf("program %d", id))
		} else if err != nil && !errors.Is(err, os.ErrNotExist) {
			left = append(left, err.Error())
		}
	}
	for _, id := range ids["map_id"] {
		if next, err := ebpf.MapGetNextID(ebpf.MapID(id - 1)); err == nil && next == ebpf.MapID(id) {
			left = append(left, fmt.Sprintf("map %d", id))
		} else if err != nil && !errors.Is(err, os.ErrNotExist) {
			left = append(left, err.Error())
		}
	}
	return left
}

// freed waits until the kernel has let go of everything, which takes a grace period.
func (ids heldIDs) freed(t *testing.T) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		left := ids.left()
		if len(left) == 0 {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("left in the kernel: %v", left)
		}
	}
}

// A recorder that is killed takes all it had in the kernel along; its owner gets one clear error.
func TestRecorderKilled(t *testing.T) {
	recorder := start(t, Options{})
	if err := recorder.Begin(t.Context(), Target{Kind: "pid", Pid: os.Getpid()}); err != nil {
		t.Fatal(err)
	}
	ids, perfEvents := idsOf(t, recorder.Pid())
	if len(ids["prog_id"]) < 10 || len(ids["map_id"]) < 10 || perfEvents == 0 {
		t.Fatalf("the recorder holds %v and %d perf events: the test does not see them", ids, perfEvents)
	}
	if err := syscall.Kill(recorder.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for attempt := range 2 {
		_, err := recorder.End(t.Context(), Finish{Drop: true})
		if err == nil || !strings.Contains(err.Error(), "the recorder has ended: signal: killed") ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("ask %d of a killed recorder: %v", attempt, err)
		}
	}
	ids.freed(t)
}

// A recorder ends with its owner, also while it is loading.
func TestOwnerKilled(t *testing.T) {
	needs(t)
	for _, when := range []string{"recording", "loading"} {
		t.Run(when, func(t *testing.T) {
			owner := exec.Command("/proc/self/exe", ownerVerb, when)
			out, err := owner.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			in, err := owner.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			if err := owner.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = owner.Process.Kill() // again, should the test have failed before
				_ = owner.Wait()
			}()
			if when == "recording" {
				if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "recording\n" {
					t.Fatalf("%q, %v", line, err)
				}
			}
			// What it starts first may end at once: a look at what it may do.
			var children []int
			for until := time.Now().Add(20 * time.Second); len(children) == 0 && time.Now().Before(until); {
				time.Sleep(150 * time.Millisecond)
				children = tree(owner.Process.Pid)[1:]
			}
			if len(children) != 1 {
				t.Fatalf("the owner's children are %v", children)
			}
			recorder, err := unix.PidfdOpen(children[0], 0) // the id may be used again
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(recorder)
			if err := owner.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			ended := []unix.PollFd{{Fd: int32(recorder), Events: unix.POLLIN}}
			if n, err := pollUntil(ended, time.Now().Add(10*time.Second)); n != 1 || err != nil {
				t.Errorf("the recorder outlives its owner by ten seconds (%d, %v)", n, err)
				_ = unix.PidfdSendSignal(recorder, unix.SIGKILL, nil, 0)
			}
		})
	}
}

// mostVerified is how many instructions the kernel may look at to verify all programs: 93,000 on
// 6.18, of which 40,000 are of offcpu's program for switches and 20,000 of the unwinder's for
// native code. Most of what loading costs goes by it, and it is the same on any machine.
const mostVerified = 130_000

// verifiedByWholeHost may come on top where the whole host is recorded: 68,000 on 6.18, of the
// programs that enter the code of new processes.
const verifiedByWholeHost = 100_000

// Without a process that needs it no part of the unwinder for a run time is loaded, nor anything
// else that is dear.
func TestStartCost(t *testing.T) {
	checkStartCost(t, start(t, Options{}), mostVerified)
	checkStartCost(t, start(t, Options{WholeHost: true}), mostVerified+verifiedByWholeHost)
}

func checkStartCost(t *testing.T, recorder *Recorder, most int) {
	t.Helper()
	paths, err := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", recorder.Pid()))
	if err != nil {
		t.Fatal(err)
	}
	verified := map[string]int{} // by program: more than one descriptor may lead to it
	for _, path := range paths {
		data, _ := os.ReadFile(path) // closed meanwhile
		var id string
		for _, line := range strings.Split(string(data), "\n") {
			key, value, _ := strings.Cut(line, ":")
			switch key {
			case "prog_id":
				id = strings.TrimSpace(value)
			case "verified_insns": // since 5.16, behind the id
				verified[id], _ = strconv.Atoi(strings.TrimSpace(value))
			}
		}
	}
	total := 0
	for _, count := range verified {
		total += count
	}
	t.Logf("%d programs, %d instructions verified, %v of CPU time", len(verified), total, recorder.StartCPU)
	if len(verified) < 10 || total < 1000 {
		t.Fatalf("%d programs with %d instructions: the test does not see them", len(verified), total)
	}
	if total > most {
		t.Errorf("the kernel verified %d instructions, at most %d: %v", total, most, verified)
	}
}

// pollUntil goes on where a signal, such as the Go runtime's own, interrupts.
func pollUntil(fds []unix.PollFd, end time.Time) (n int, err error) {
	for {
		n, err = unix.Poll(fds, max(0, int(time.Until(end).Milliseconds())))
		if err != unix.EINTR {
			return n, err
		}
	}
}
