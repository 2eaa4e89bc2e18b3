// Package allocations remembers where the target's heap blocks were asked for, so that a word of a
// shared cache line can be told by the block that it lies in: its size, the word's place in it, and
// the code that allocated it.
//
// It runs only where it is asked for: an allocation of the target traps into the kernel three
// times, its release twice, some 14 µs together where this was written (KVM on AMD EPYC, Linux
// 6.18). Other processes are not touched: the breakpoints are in the target's memory alone.
//
// It sees what takes memory from a function called malloc, in whatever file it is: C, C++, Rust,
// allocators that are linked in place of the C library's. It refuses the whole host. Not seen are
// blocks from before the recording, those of a child process of its first milliseconds, more than
// 32,768 blocks at once (counted), released ones that lived for less than a tenth of a second, and
// heaps of Go, Java, Node and Python.
package allocations

import (
	"fmt"
	"time"

	"github.com/cilium/ebpf"

	"culprit/internal/probe/bpf"
)

//go:generate ../bpf/generate.sh allocations -type address -type block

// Session is the loaded probe.
type Session struct {
	collection *ebpf.Collection
	shared     *bpf.Shared
	heaps      *heaps
	stop, done chan struct{} // of the window that is open
}

// Start loads the probe; breakpoints are set in processes that a window begins with.
func Start(shared *bpf.Shared) (*Session, error) {
	if shared.Options.WholeHost {
		return nil, fmt.Errorf("%w: of the whole host, where each allocation of each process would trap; give a target",
			bpf.ErrNotSupported)
	}
	spec, err := loadAllocations()
	if err != nil {
		return nil, fmt.Errorf("read program of allocations: %w", err)
	}
	collection, err := shared.Load(spec, nil)
	if err != nil {
		return nil, fmt.Errorf("load allocations: %w", err)
	}
	return &Session{collection: collection, shared: shared}, nil
}

// Name of the probe.
func (s *Session) Name() string { return "allocations" }

// Attach waits until the processes are known.
func (s *Session) Attach() error { return nil }

// looks are when to look for allocators that processes have mapped, and for new processes: soon
// after the begin, when programs are loaded, then from time to time.
var looks = []time.Duration{0, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond}

// Begins sets breakpoints in the target's allocators, also before a command has loaded its own.
func (s *Session) Begins() error {
	s.heaps = newHeaps(s.collection.Programs)
	for _, pid := range s.shared.Roots {
		s.heaps.expect(int32(pid))
	}
	s.heaps.look(s.shared.Roots)
	s.stop, s.done = make(chan struct{}), make(chan struct{})
	go s.keepLooking(s.stop, s.done)
	return nil
}

func (s *Session) keepLooking(stop, done chan struct{}) {
	defer close(done)
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(looks[min(i, len(looks)-1)]):
			s.heaps.look(s.shared.Roots)
		}
	}
}

// Ends takes the breakpoints away.
func (s *Session) Ends() {
	if s.stop == nil {
		return
	}
	close(s.stop)
	<-s.done
	s.stop = nil
	s.heaps.detach()
}

// Detach does so in a window that did not come to its end.
func (s *Session) Detach() { s.Ends() }

// Collect tells of each word of a shared line which block it lies in. It comes after oncpu, which
// finds the lines.
func (s *Session) Collect(window *bpf.Window) error {
	if s.heaps == nil {
		return nil
	}
	defer s.heaps.close()
	blocks, err := s.blocksOf(window)
	if err != nil {
		return err
	}
	tell(window, blocks, s.heaps, 1e9/int64(s.shared.Options.Hz))
	return window.TakeLosses(s.collection.Maps["losses"],
		"allocations: blocks over the limit", "allocations: calls over the limit")
}

// Close unloads the probe.
func (s *Session) Close() error {
	s.Ends()
	if s.heaps != nil {
		s.heaps.close()
	}
	s.collection.Close()
	return nil
}
