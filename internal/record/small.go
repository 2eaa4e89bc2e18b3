package record

import (
	"debug/elf"
	"os"
	"runtime"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// endingGCPercent is how much garbage may lie beside what is alive while a part of a long recording
// is named and written. All that a part needs is alive then: with as much garbage beside it, which
// is Go's custom, a part's end took twice the memory of the part itself. With a fifth, the
// collector took half of what a part's end took.
//
// A window of a recorder that stays is small beside that: a minute of 19 samples a second. There
// the limit of memory bounds the garbage, and to collect it at a fifth of what is alive took a
// fifth of what the recorder took.
const (
	endingGCPercent  = 50
	foreverGCPercent = 100
)

// spreadAtMost is over how many CPUs the recorder's own code is spread. Go would use all: each
// collection of garbage wakes a worker on every CPU that is idle, and so would disturb the caches
// and the sleep of as many as the host has. With two, stacks are fetched while another one is
// named.
const spreadAtMost = 2

// A recorder of a whole host that is no larger than this keeps to one CPU: with two, each timer
// that fires wakes a second thread to look for work beside the first, which was a fifth of its CPU
// time, on a quiet host and where processes start all the time. At the end of a part, stacks are
// fetched up to 10 ms later. Chosen: two busy CPUs have it take a tenth of one, eight half of one.
const aloneUpTo = 8 // CPUs

// keepToFew spreads this process over no more CPUs than it needs on a host of so many.
func (o Options) keepToFew(cpus int) {
	most := spreadAtMost
	if o.WholeHost && cpus <= aloneUpTo {
		most = 1
	}
	runtime.GOMAXPROCS(min(most, runtime.GOMAXPROCS(0)))
}

// endSmall keeps the process small until the function that it returns is called.
func (o Options) endSmall() (done func()) {
	releaseImage()
	percent := endingGCPercent
	if o.Forever {
		percent = foreverGCPercent
	}
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
}

// Shrink gives back what a process that is always there does not need until its next window: half
// of the resident memory was pages of the program's own file.
func Shrink() {
	releaseImage()
	debug.FreeOSMemory()
}

// releaseImage takes the pages of this program's own code and constants out of its memory. They are
// in the page cache and come back as they are needed, by a short fault each: half of them were
// needed to load the probes, not again.
func releaseImage() {
	file, err := os.Open("/proc/self/exe")
	if err != nil {
		return // they stay
	}
	defer file.Close()
	image, err := elf.NewFile(file)
	if err != nil || image.Type != elf.ET_EXEC {
		return // it is not where its headers say
	}
	for _, segment := range image.Progs {
		if segment.Type == elf.PT_LOAD && segment.Flags&elf.PF_W == 0 {
			releasePages(uintptr(segment.Vaddr), uintptr(segment.Memsz))
		}
	}
}

// releasePages drops the whole pages in a range of memory that nobody has written to.
func releasePages(start, length uintptr) {
	page := uintptr(unix.Getpagesize())
	first, end := (start+page-1)&^(page-1), (start+length)&^(page-1)
	if first >= end {
		return
	}
	// Fails only where the range is not mapped: then there is nothing to release.
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, first, end-first, unix.MADV_DONTNEED)
}
