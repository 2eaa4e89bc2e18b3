package spe

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// bufferBytes hold what one CPU writes between two looks: some hundred records a second, of 64
	// bytes each.
	bufferBytes = 1 << 16
	// watermark is how much is written before the kernel tells of it.
	watermark = 1 << 12
	// judgedAt is how many bytes are read before it is asked whether they are packets at all.
	judgedAt = 1 << 12
	// brokenAtMost is the part of them that may not be.
	brokenAtMost = 0.1
)

// Sampler is the profiling of some CPUs. A window can end in one goroutine while records are taken
// in another.
type Sampler struct {
	mu           sync.Mutex
	rings        []*ring
	on           bool
	read, broken int64
	pending      []byte // for one copy of a buffer
}

// ring is one CPU's event and its buffer.
type ring struct {
	fd     int
	base   []byte // the page of the event, and one for its notes
	buffer []byte
}

// Open opens the event, disabled, on some CPUs. period is in operations.
func Open(attributes unix.PerfEventAttr, cpus []int, period uint64) (*Sampler, error) {
	attributes.Sample, attributes.Sample_type, attributes.Read_format = period, 0, 0
	attributes.Aux_watermark = watermark
	attributes.Bits |= unix.PerfBitDisabled | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv
	attributes.Size = uint32(unsafe.Sizeof(attributes))
	sampler := &Sampler{pending: make([]byte, bufferBytes)}
	for _, cpu := range cpus {
		one, err := openRing(&attributes, cpu)
		if err != nil {
			sampler.Close()
			return nil, err
		}
		sampler.rings = append(sampler.rings, one)
	}
	return sampler, nil
}

func openRing(attributes *unix.PerfEventAttr, cpu int) (*ring, error) {
	fd, err := unix.PerfEventOpen(attributes, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("open event of SPE on CPU %d: %w", cpu, err)
	}
	one := &ring{fd: fd}
	if one.base, err = unix.Mmap(fd, 0, 2*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		one.close()
		return nil, fmt.Errorf("map event of SPE on CPU %d: %w", cpu, err)
	}
	page := one.page()
	page.Aux_offset, page.Aux_size = uint64(len(one.base)), bufferBytes
	one.buffer, err = unix.Mmap(fd, int64(page.Aux_offset), bufferBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		one.close()
		return nil, fmt.Errorf("map buffer of SPE on CPU %d: %w", cpu, err)
	}
	return one, nil
}

func (r *ring) page() *unix.PerfEventMmapPage {
	return (*unix.PerfEventMmapPage)(unsafe.Pointer(&r.base[0]))
}

func (r *ring) close() {
	for _, mapped := range [][]byte{r.buffer, r.base} {
		if mapped != nil {
			_ = unix.Munmap(mapped) // it was mapped
		}
	}
	unix.Close(r.fd)
}

// Enable starts the profiling; what is left of the time before is dropped.
func (s *Sampler) Enable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.rings {
		one.done(one.head())
		if err := unix.IoctlSetInt(one.fd, unix.PERF_EVENT_IOC_ENABLE, 0); err != nil {
			return fmt.Errorf("enable event of SPE: %w", err)
		}
	}
	s.on = true
	return nil
}

// Disable stops it; what was written can still be taken.
func (s *Sampler) Disable() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disable()
}

func (s *Sampler) disable() {
	s.on = false
	for _, one := range s.rings {
		_ = unix.IoctlSetInt(one.fd, unix.PERF_EVENT_IOC_DISABLE, 0) // fails only on a closed descriptor
	}
}

// Close ends it.
func (s *Sampler) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.rings {
		one.close()
	}
	s.rings = nil
}

// Take gives the records of loads and stores in user mode that were written since the last call. It
// reports false when what is written is no packets, as far as this code knows: then nothing more
// will be read.
func (s *Sampler) Take(each func(*Record)) (readable bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.rings {
		head := one.head()
		data, from := one.since(head, s.pending)
		s.read += int64(len(data))
		s.broken += decode(data, from, each)
		one.done(head)
		// A buffer that was full has ended the event (perf_aux_output_end); to enable one that runs
		// does nothing.
		if s.on {
			_ = unix.IoctlSetInt(one.fd, unix.PERF_EVENT_IOC_ENABLE, 0)
		}
	}
	if s.read < judgedAt || float64(s.broken) <= brokenAtMost*float64(s.read) {
		return true
	}
	s.disable()
	return false
}

// head is how far the buffer was written, in bytes since the begin.
func (r *ring) head() uint64 { return atomic.LoadUint64(&r.page().Aux_head) }

// since copies what was written up to head, and tells where in the buffer it begins.
func (r *ring) since(head uint64, into []byte) (data []byte, from uint64) {
	size, tail := uint64(len(r.buffer)), r.page().Aux_tail
	if head-tail > size { // which the kernel does not let happen
		tail = head - size
	}
	from = tail % size
	data = into[:head-tail]
	copied := copy(data, r.buffer[from:])
	copy(data[copied:], r.buffer)
	return data, from
}

// done gives the kernel back what was read, of the notes as well: they say where records are, which
// the head does too.
func (r *ring) done(head uint64) {
	page := r.page()
	atomic.StoreUint64(&page.Aux_tail, head)
	atomic.StoreUint64(&page.Data_tail, atomic.LoadUint64(&page.Data_head))
}
