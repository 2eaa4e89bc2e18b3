package record

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"culprit/recording"
)

// Every call is counted once, with its errors and bytes, whichever CPU it ran on.
func TestSyscallCounts(t *testing.T) {
	const asks, writes, bytes, failures = 200_000, 3_000, 117, 777
	got := watchCommand(t, standing.get(t), programs.compile(t, "calls.c"), fmt.Sprint(asks), fmt.Sprint(writes),
		fmt.Sprint(bytes), fmt.Sprint(failures))
	rows := map[string]recording.Syscall{}
	type thread struct {
		tid  int32
		name string
	}
	threads := map[thread]int64{}
	for _, row := range got.Syscalls {
		if row.Pid != got.pid {
			continue
		}
		if _, twice := threads[thread{row.Tid, row.Name}]; twice {
			t.Errorf("%s of thread %d has two rows", row.Name, row.Tid)
		}
		threads[thread{row.Tid, row.Name}] = row.Count
		var sum, low, high int64
		for i, count := range row.Buckets {
			sum, low, high = sum+count, low+count<<i, high+count<<(i+1)
		}
		if sum != row.Count || row.TotalNs < low-row.Count || row.TotalNs > high {
			t.Errorf("%s: count %d, in buckets %d; %d ns, by the buckets %d to %d", row.Name, row.Count, sum,
				row.TotalNs, low, high)
		}
		all := rows[row.Name]
		all.Comm, all.Count, all.Errors, all.Bytes = row.Comm, all.Count+row.Count, all.Errors+row.Errors, all.Bytes+row.Bytes
		rows[row.Name] = all
	}
	asking := 0
	for of, count := range threads {
		if of.name == "getppid" {
			asking++
			if count != asks/2 {
				t.Errorf("thread %d made %d of %d calls of getppid, its half is the truth", of.tid, count, asks)
			}
		}
	}
	if asking != 2 {
		t.Errorf("%d threads called getppid", asking)
	}
	for _, want := range []recording.Syscall{
		{Name: "getppid", Count: asks}, {Name: "write", Count: writes, Bytes: writes * bytes},
		{Name: "close", Count: failures, Errors: failures}, {Name: "openat", Count: 1},
	} {
		row := rows[want.Name]
		// the loader and the gate close and open files of their own
		if more := row.Count - want.Count; row.Errors != want.Errors && want.Name != "openat" ||
			row.Bytes != want.Bytes || more < 0 || more > 10 || want.Count > 1000 && more != 0 {
			t.Errorf("%s: %d calls, %d errors, %d bytes; the truth is %d, %d, %d", want.Name, row.Count, row.Errors,
				row.Bytes, want.Count, want.Errors, want.Bytes)
		}
	}
	if rows["write"].Comm != "calls-c" {
		t.Errorf("written by %q", rows["write"].Comm)
	}
	refused := int64(0)
	for _, row := range got.Errors {
		if row.Pid == got.pid && row.Name == "close" && row.Errno == "EBADF" {
			refused += row.Count
		}
	}
	if refused != failures {
		t.Errorf("%d calls of close failed with EBADF, the truth is %d: %+v", refused, failures, got.Errors)
	}
	got.lossless(t, "syscalls")
}

// The calls of 32-bit programs have numbers of their own: they are not taken for others.
func TestCallsOf32Bits(t *testing.T) {
	const calls = 200
	recorder := standing.get(t)
	program := programs.compile(t, "compat.c")
	if err := exec.Command(program, "2").Run(); err != nil {
		t.Skipf("this kernel takes no 32-bit calls: %v", err)
	}
	got := watchCommand(t, recorder, program, fmt.Sprint(calls))
	counts := map[string]int64{}
	for _, row := range got.Syscalls {
		if row.Pid == got.pid {
			counts[row.Name] += row.Count
		}
	}
	// one more of getpid by the 64-bit number; 20 is writev there, and 500 has no name in either
	if counts["getpid"] < calls/2 || counts["getpid"] > calls/2+3 || counts["syscall32_500"] != calls/2 ||
		counts["writev"] != 0 || counts["syscall_500"] != 0 {
		t.Errorf("%d calls of getpid, the truth is %d; all: %v", counts["getpid"], calls/2+1, counts)
	}
	for _, row := range got.Errors {
		if row.Name == "syscall32_500" && (row.Errno != "ENOSYS" || row.Count != calls/2) {
			t.Errorf("errors: %+v", row)
		}
	}
}

// Requests through io_uring are counted, and that more is not seen of them is said.
func TestRequestsThroughIOUring(t *testing.T) {
	const requests = 400
	recorder := standing.get(t)
	if setting, err := os.ReadFile("/proc/sys/kernel/io_uring_disabled"); err == nil && setting[0] != '0' {
		t.Skip("io_uring is switched off here")
	}
	got := watchCommand(t, recorder, programs.compile(t, "uring.c"), fmt.Sprint(requests))
	var enters int64
	for _, row := range got.Syscalls {
		if row.Name == "io_uring_enter" {
			enters += row.Count
		}
	}
	if enters != requests/8 {
		t.Errorf("%d calls of io_uring_enter, the truth is %d", enters, requests/8)
	}
	said := strings.Join(recording.Words(got.Manifest.BlindSpots), "\n")
	if !strings.Contains(said, "requests went through io_uring") {
		t.Errorf("io_uring is no blind spot: %s", said)
	}
	var name unix.Utsname
	var major, minor int
	if err := unix.Uname(&name); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	for _, counter := range got.Counters {
		if counter.Name == "io_uring.submitted" && counter.Value == requests {
			return
		}
	}
	if major > 6 || major == 6 && minor >= 6 { // by then the tracepoint had its present name
		t.Errorf("%d requests are not counted: %+v", requests, got.Counters)
	}
}
