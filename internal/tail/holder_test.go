package tail

import (
	"testing"
	"time"

	"culprit/internal/cause"
	"culprit/recording"
)

// lockedBy are slow requests that wait in a stack for a lock which thread 9 gave up.
func lockedBy(stack int32, kind string) *recording.Recording {
	return made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
		return []recording.RequestPart{
			{Class: recording.PartLock, Syscall: "futex", TimeNs: request.TimeNs, LengthNs: 29e6, Stack: stack,
				WakerPid: 7, WakerTid: 9, WakerComm: "keeper", WakerKind: kind},
			{Class: recording.PartCPU, TimeNs: request.TimeNs + 29e6, LengthNs: 1e6, Stack: 0}}
	})
}

// A holder that ran, or was at work beside, is told by what it ran.
func TestHolderThatRan(t *testing.T) {
	for _, kind := range []string{recording.WakerThread, recording.WakerBeside} {
		rec := lockedBy(0, kind)
		for i := range rec.RequestParts {
			if part := &rec.RequestParts[i]; part.Class == recording.PartLock {
				part.WakerStack = 1
			}
		}
		result := Explain(rec, Options{Over: 10 * time.Millisecond})
		if len(result.Suspects) == 0 || result.Suspects[0].Cause != cause.LockContended {
			t.Fatalf("%s: %+v", kind, result.Suspects)
		}
		if where := result.Suspects[0].Where; len(where) != 2 || where[1] != "held in compact" {
			t.Errorf("%s: where %q", kind, where)
		}
		if by := result.Slowest[0].Parts[0].HeldBy; by != "keeper in compact" {
			t.Errorf("%s: held by %q", kind, by)
		}
	}
}

// A thread that sleeps until one of its tasks is ready waits for no lock, and a request that it
// then takes up was not queued for it.
func TestThreadWithoutTasks(t *testing.T) {
	const awaitWork = "int java.util.concurrent.ForkJoinPool.awaitWork(java.util.concurrent.ForkJoinPool$WorkQueue, int)"
	for name, want := range map[string]cause.ID{awaitWork: "", "take_order": cause.LockContended} {
		rec := lockedBy(2, recording.WakerThread)
		rec.Frames = append(rec.Frames, recording.Frame{Name: name, Kind: recording.KindJVM})
		rec.Stacks = append(rec.Stacks, recording.Stack{Frames: []int32{int32(len(rec.Frames) - 1)}})
		checkFirst(t, name, rec, want)
	}
	for name, want := range map[string]cause.ID{awaitWork: "", "take_order": cause.RequestQueued} {
		rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
			return []recording.RequestPart{
				{Class: recording.PartHandover, TimeNs: request.TimeNs, LengthNs: 29e6, Stack: recording.NoStack},
				{Class: recording.PartCPU, TimeNs: request.TimeNs + 29e6, LengthNs: 1e6, Stack: 0}}
		})
		rec.Frames = append(rec.Frames, recording.Frame{Name: name, Kind: recording.KindJVM})
		rec.Stacks = append(rec.Stacks, recording.Stack{Frames: []int32{int32(len(rec.Frames) - 1)}})
		for _, request := range rec.SlowRequests {
			rec.Waits = append(rec.Waits, recording.Wait{Tid: 8, Pid: 7, TimeNs: request.TimeNs, BlockedNs: 29e6,
				Syscall: "futex", Stack: 2})
		}
		checkFirst(t, name, rec, want)
	}
}

func checkFirst(t *testing.T, name string, rec *recording.Recording, want cause.ID) {
	t.Helper()
	result, first := Explain(rec, Options{Over: 10 * time.Millisecond}), cause.ID("")
	if len(result.Suspects) > 0 {
		first = result.Suspects[0].Cause
	}
	if first != want {
		t.Errorf("%s: %q, want %q", name, first, want)
	}
}

// withKernel gives a recording the stack of look_up and then of kernel functions.
func withKernel(rec *recording.Recording, names ...string) int32 {
	frames := []int32{0, 1}
	for _, name := range names {
		rec.Frames = append(rec.Frames, recording.Frame{Name: name, Kind: recording.KindKernel})
		frames = append(frames, int32(len(rec.Frames)-1))
	}
	rec.Stacks = append(rec.Stacks, recording.Stack{Frames: frames})
	return int32(len(rec.Stacks) - 1)
}

// A wait inside the kernel is told by the innermost function: of the memory map's lock with its
// holder, which is found behind others that had waited for it.
func TestLocksOfTheKernel(t *testing.T) {
	for inner, want := range map[string]cause.ID{
		"__vm_munmap": cause.MemoryMapLock, "vm_mmap_pgoff": cause.MemoryMapLock, "io_schedule": cause.DiskSlow,
		"iterate_fd": ""} {
		rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
			return []recording.RequestPart{{Class: recording.PartDisk, Syscall: "munmap", TimeNs: request.TimeNs,
				LengthNs: 30e6, Stack: 2, WakerPid: 7, WakerTid: 9, WakerComm: "store", WakerKind: recording.WakerThread}}
		})
		waits := withKernel(rec, "do_syscall_64", inner)
		for i := range rec.RequestParts {
			if part := &rec.RequestParts[i]; part.Class == recording.PartDisk {
				part.WakerStack = 1 // what its holder ran
				rec.Waits = append(rec.Waits, recording.Wait{Tid: 9, Pid: 7, TimeNs: part.TimeNs, BlockedNs: 29e6,
					Stack: waits, Syscall: "munmap", WakerKind: recording.WakerThread, WakerPid: 7, WakerTid: 10, WakerComm: "keeper"})
			}
		}
		checkFirst(t, inner, rec, want)
		if want == cause.MemoryMapLock {
			first := Explain(rec, Options{Over: 10 * time.Millisecond})
			where := first.Suspects[0].Where
			if len(where) != 2 || where[0] != "look_up" || where[1] != "held in compact" {
				t.Errorf("%s: where %q", inner, where)
			}
			if part := first.Slowest[0].Parts[0]; part.HeldBy != "keeper in compact" || part.Class != recording.PartLock {
				t.Errorf("%s: %s held by %q", inner, part.Class, part.HeldBy)
			}
		}
	}
}

// Who waits for the memory map before it reads a request is at no other request: the read itself
// writes to memory that was copied, or the whole process stands.
func TestMapLockBeforeARead(t *testing.T) {
	for inner, want := range map[string]cause.ID{"do_user_addr_fault": cause.MemoryMapLock,
		"io_schedule": cause.RequestQueued} {
		rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
			return []recording.RequestPart{{Class: recording.PartFault, TimeNs: request.TimeNs, LengthNs: 30e6, Stack: 2,
				Before: true}}
		})
		withKernel(rec, "asm_exc_page_fault", inner)
		checkFirst(t, inner, rec, want)
	}
}

// A full pipe is waited for until its reader reads, whoever of the program's own threads was woken
// before and woke the next; one that the program reads itself is a queue.
func TestPipes(t *testing.T) {
	for name, one := range map[string]struct {
		reader int32 // pid
		inner  string
		want   cause.ID
		place  string
	}{
		"another process reads": {99, "anon_pipe_write", cause.DownstreamSlow,
			"peer logger, which reads the pipe"},
		"another process writes":        {99, "pipe_read", cause.DownstreamSlow, "peer logger, which writes the pipe"},
		"a thread of the program reads": {7, "pipe_write", cause.RequestQueued, "look_up"},
		"no pipe":                       {99, "unix_stream_read_generic", "", ""},
	} {
		rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
			return []recording.RequestPart{{Class: recording.PartNet, Syscall: "write", TimeNs: request.TimeNs,
				LengthNs: 30e6, Stack: 2, WakerPid: 7, WakerTid: 9, WakerComm: "store", WakerKind: recording.WakerThread}}
		})
		waits := withKernel(rec, "do_syscall_64", one.inner)
		for i := range rec.RequestParts {
			if part := &rec.RequestParts[i]; part.Class == recording.PartNet {
				rec.Waits = append(rec.Waits, recording.Wait{Tid: 9, Pid: 7, TimeNs: part.TimeNs, BlockedNs: 29e6,
					Stack: waits, Syscall: "write", WakerKind: recording.WakerThread, WakerPid: one.reader, WakerTid: 10,
					WakerComm: "logger"})
			}
		}
		checkFirst(t, name, rec, one.want)
		if one.want != "" {
			if where := Explain(rec, Options{Over: 10 * time.Millisecond}).Suspects[0].Where; where[0] != one.place {
				t.Errorf("%s: where %q", name, where)
			}
		}
	}
}
