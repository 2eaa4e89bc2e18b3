package unwind

import (
	"time"

	"go.opentelemetry.io/ebpf-profiler/libpf"
)

// mostKnown bounds the processes that are looked at before a window: each takes some 10 ms when its
// files are new.
const mostKnown = 64

// acquaintance is a request to look at processes now.
type acquaintance struct {
	ids  []libpf.PIDTID
	done chan struct{}
}

// Know looks at processes that run already, and loads the unwinders of their run times, so that
// their first sample has a whole stack. Without it a process is looked at after its first sample:
// up to 100 ms of a window, all of it in made code, ended at the frame of the sample. It returns
// after the limit at the latest; what is left goes on meanwhile.
func (u *Unwinder) Know(pids []int, limit time.Duration) {
	them := acquaintance{done: make(chan struct{})}
	for _, pid := range pids[:min(len(pids), mostKnown)] {
		them.ids = append(them.ids, libpf.PIDTID(uint64(pid)<<32|uint64(pid)))
	}
	over := time.After(limit)
	select {
	case u.monitor.early <- them:
	case <-over:
		return
	}
	select {
	case <-them.done:
	case <-over:
		return
	}
	loaded := make(chan struct{})
	go func() {
		u.loader.coming.Wait()
		close(loaded)
	}()
	select {
	case <-loaded:
	case <-over:
	}
}
