package watchpoint

import (
	"encoding/binary"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// include/uapi/linux/hw_breakpoint.h
const (
	unixBreakpointWrite   = 2
	unixBreakpointTouch   = 3
	unixBreakpointExecute = 4
)

// A sample is a header, the instruction's address, the ABI and registers. A page holds more than
// there are hits.
const (
	sampleBytes  = 24 // up to the registers
	sampleRecord = 9  // PERF_RECORD_SAMPLE
	abi64        = 2  // PERF_SAMPLE_REGS_ABI_64
	ringPages    = 2
)

// register is one debug register of one thread: armed while it has hits left and its group is on.
type register struct {
	fd   int
	ring []byte // nil: hits are counted, their tasks not known
}

// watching is the event of a word that is written, or touched.
func watching(word Word, kind uint32) *unix.PerfEventAttr {
	attr := &unix.PerfEventAttr{Bp_type: kind, Sample_regs_user: taskRegister}
	attr.Ext1, attr.Ext2 = covering(word)
	return attr
}

// executing is the event of an instruction that is about to run.
func executing(code uint64) *unix.PerfEventAttr {
	return &unix.PerfEventAttr{Bp_type: unixBreakpointExecute, Sample_regs_user: generalRegisters, Ext1: code,
		Ext2: codeLength}
}

// open takes a register, and lets a number of hits through it: the kernel disarms it with the last.
func (g *group) open(tid int32, attr *unix.PerfEventAttr, hits int) (*register, error) {
	attr.Type, attr.Sample = unix.PERF_TYPE_BREAKPOINT, 1
	attr.Bits = unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv
	attr.Sample_type = unix.PERF_SAMPLE_IP | unix.PERF_SAMPLE_REGS_USER
	attr.Read_format = unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING
	attr.Size = uint32(unsafe.Sizeof(*attr))
	fd, err := unix.PerfEventOpen(attr, int(tid), -1, g.fd, unix.PERF_FLAG_FD_CLOEXEC)
	switch err {
	case nil:
	case unix.ENOSPC:
		return nil, fmt.Errorf("watch thread %d: %w", tid, ErrHeld)
	default:
		return nil, fmt.Errorf("watch thread %d: %w", tid, err)
	}
	one := &register{fd: fd}
	if err := one.let(hits); err != nil {
		one.close()
		return nil, fmt.Errorf("watch thread %d: %w", tid, err)
	}
	ring, err := unix.Mmap(fd, 0, ringPages*unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err == nil { // else the hits are counted all the same
		one.ring = ring
	}
	return one, nil
}

// covering is what a register can watch: 1, 2, 4 or 8 bytes, aligned to their length.
func covering(word Word) (address, length uint64) {
	for length = 1; length < widest; length *= 2 {
		if address = word.Address &^ (length - 1); address+length >= word.Address+uint64(word.Size) {
			return address, length
		}
	}
	return word.Address &^ (widest - 1), widest
}

// let has the kernel disarm it after so many hits more.
func (r *register) let(hits int) error {
	return unix.IoctlSetInt(r.fd, unix.PERF_EVENT_IOC_REFRESH, hits)
}

// count is how often it was hit, and how long it was armed while its thread ran.
func (r *register) count() (hits uint64, running time.Duration) {
	var text [24]byte // the count, the time enabled, the time running
	if n, err := unix.Read(r.fd, text[:]); err != nil || n < len(text) {
		return 0, 0
	}
	return binary.NativeEndian.Uint64(text[:]), time.Duration(binary.NativeEndian.Uint64(text[16:]))
}

// take adds what was seen.
func (r *register) take(to *Seen, writes bool) {
	hits, running := r.count()
	to.Watched += running
	if writes {
		to.Writes += int64(hits)
		to.ForWrites += running
	}
	to.Touches += int64(hits)
	for _, values := range r.values() {
		to.Tasks[values[0]]++
	}
}

// values are what was in the registers that each hit tells.
func (r *register) values() (all [][]uint64) {
	if r.ring == nil {
		return nil
	}
	page := unix.Getpagesize()
	header := (*unix.PerfEventMmapPage)(unsafe.Pointer(&r.ring[0]))
	end := min(int(header.Data_head), page) // from 0 on: nothing is read before all is written
	for at := 0; at+sampleBytes <= end; {
		record := r.ring[page+at : page+end]
		length := int(binary.NativeEndian.Uint16(record[6:]))
		if length < 8 || length > len(record) {
			break
		}
		if binary.NativeEndian.Uint32(record) == sampleRecord && length > sampleBytes &&
			binary.NativeEndian.Uint64(record[16:]) == abi64 {
			var values []uint64
			for from := sampleBytes; from+8 <= length; from += 8 {
				values = append(values, binary.NativeEndian.Uint64(record[from:]))
			}
			all = append(all, values)
		}
		at += length
	}
	return all
}

func (r *register) close() {
	if r.ring != nil {
		_ = unix.Munmap(r.ring)
	}
	_ = unix.Close(r.fd)
}
