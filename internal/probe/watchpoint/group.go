package watchpoint

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// group is the registers of one thread: they are armed and disarmed at once, by one interrupt each.
// One by one, each arming takes those before it off the CPU and puts them back, which a hypervisor
// sees as so many exits.
type group struct {
	fd int // an event that counts nothing: a register cannot lead, for its last hit would end the group
}

func openGroup(tid int32) (*group, error) {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_DUMMY,
		Bits: unix.PerfBitDisabled | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, int(tid), -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("watch thread %d: %w", tid, err)
	}
	return &group{fd}, nil
}

func (g *group) arm() {
	_ = unix.IoctlSetInt(g.fd, unix.PERF_EVENT_IOC_ENABLE, 0) // of a thread that ended: no hits
}

func (g *group) disarm() {
	_ = unix.IoctlSetInt(g.fd, unix.PERF_EVENT_IOC_DISABLE, 0) // the same
}

func (g *group) close() { _ = unix.Close(g.fd) }

// watches are the registers of one pass, and the groups of their threads.
type watches struct {
	registers []*register // nil: not watched
	groups    map[int32]*group
	held      error // wraps ErrHeld where somebody else has a thread's registers
}

func newWatches(registers int) *watches {
	return &watches{registers: make([]*register, registers), groups: map[int32]*group{}}
}

// open has a register wait for its thread's group. That the thread has ended, or that somebody else
// has its registers, is no error: the others are watched, and the first words of a thread are those
// to know of.
func (w *watches) open(i int, tid int32, attr *unix.PerfEventAttr, hits int) error {
	of, err := w.groupOf(tid)
	if err == nil {
		w.registers[i], err = of.open(tid, attr, hits)
	}
	switch {
	case errors.Is(err, unix.ESRCH):
		return nil
	case errors.Is(err, ErrHeld):
		w.held = err
		return nil
	}
	return err
}

func (w *watches) groupOf(tid int32) (*group, error) {
	of := w.groups[tid]
	if of == nil {
		var err error
		if of, err = openGroup(tid); err != nil {
			return nil, err
		}
		w.groups[tid] = of
	}
	return of, nil
}

// none reports whether no register is open.
func (w *watches) none() bool {
	return !slices.ContainsFunc(w.registers, func(one *register) bool { return one != nil })
}

// during arms all of them for a time.
func (w *watches) during(length time.Duration) {
	for _, one := range w.groups {
		one.arm()
	}
	time.Sleep(length)
	for _, one := range w.groups {
		one.disarm()
	}
}

func (w *watches) close() {
	for _, one := range w.registers {
		if one != nil {
			one.close()
		}
	}
	for _, one := range w.groups {
		one.close()
	}
}
