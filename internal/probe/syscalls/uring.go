package syscalls

import (
	"fmt"
	"maps"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// CounterSubmitted is the name of the counter of requests that the target gave to io_uring.
const CounterSubmitted = "io_uring.submitted"

// uring counts requests to io_uring. It is loaded by itself: older kernels have another tracepoint
// (io_uring_submit_sqe), and system calls are counted all the same.
type uring struct {
	collection *ebpf.Collection // nil: not on this kernel
	link       link.Link
}

// startUring takes its program out of the spec.
func startUring(shared *bpf.Shared, spec *ebpf.CollectionSpec) uring {
	own := spec.Copy()
	delete(spec.Programs, "submitted")
	delete(spec.Maps, "submissions")
	maps.DeleteFunc(own.Programs, func(name string, _ *ebpf.ProgramSpec) bool { return name != "submitted" })
	maps.DeleteFunc(own.Maps, func(name string, _ *ebpf.MapSpec) bool {
		return name != "tasks" && name != "submissions" && !strings.HasPrefix(name, ".") // variables live in .rodata, .bss
	})
	collection, err := shared.Load(own, nil)
	if err != nil {
		return uring{} // what is missing then is told as a blind spot where io_uring is used
	}
	return uring{collection: collection}
}

func (u *uring) attach() error {
	if u.collection == nil {
		return nil
	}
	links, err := bpf.AttachTracing(u.collection, "submitted")
	if err == nil {
		u.link = links[0]
	}
	return err
}

func (u *uring) detach() {
	if u.link != nil {
		u.link.Close()
		u.link = nil
	}
}

// collect adds the counter to the window where there was any request.
func (u *uring) collect(window *bpf.Window) error {
	if u.collection == nil {
		return nil
	}
	submissions := u.collection.Maps["submissions"]
	var perCPU []uint64
	if err := submissions.Lookup(uint32(0), &perCPU); err != nil {
		return fmt.Errorf("read requests to io_uring: %w", err)
	}
	var total uint64
	for _, count := range perCPU {
		total += count
	}
	if total == 0 {
		return nil
	}
	length := window.EndNs - window.StartNs
	window.Recording.Counters = append(window.Recording.Counters, recording.Counter{Name: CounterSubmitted,
		Scope: "target", Value: int64(total), EnabledNs: length, RunningNs: length})
	if err := submissions.Update(uint32(0), make([]uint64, len(perCPU)), ebpf.UpdateAny); err != nil {
		return fmt.Errorf("clear requests to io_uring: %w", err)
	}
	return nil
}

func (u *uring) close() {
	u.detach()
	if u.collection != nil {
		u.collection.Close()
	}
}
