package unwind

import (
	"debug/elf"
	"os"
	"strings"
	"sync"
	"time"
	"unsafe"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/process"
	"golang.org/x/sys/unix"
)

// One goroutine looks at all processes, and a file system that does not answer (NFS without its
// server, a FUSE program that is stopped, a disk that writes back) holds whoever opens or reads a
// file of it. One process that runs from there took the stacks of the whole host: 957 of 966
// samples had none. So each new file is opened, and what the library reads of it brought into
// memory, by a goroutine of its own. A look waits for it a little; then it goes on without that
// file, and the process is looked at again when the file is there.

const (
	patience      = 200 * time.Millisecond // a look waits so long for a file: a disk reads 20 MB meanwhile
	impatience    = 5 * time.Millisecond   // and so long where another file of the disk is still to come
	mostOpening   = 64                     // files at a time: each that hangs holds a thread
	mostOpeningOf = 4                      // and of one disk
	mostWaiting   = 16                     // processes that are looked at again for one file
	maxWarm       = 256 << 20              // bytes of a file that are read
	warmPiece     = 1 << 20
	tailOfFile    = 64 << 10 // where the table of sections stands, and what tells one file from another
)

// opener opens files that a look shall not wait for.
type opener struct {
	mu     sync.Mutex
	under  map[fileKey]*opening
	came   map[fileKey]late  // until a process that waits for it is looked at again
	behind map[uint64]int    // files of a disk that looks went on without
	late   int64             // such files since Unanswered was called
	again  chan libpf.PIDTID // processes to be looked at again
}

// opening is a file that is being opened.
type opening struct {
	done    chan struct{}
	file    *os.File // nil: it cannot be opened, or is no plain one
	late    bool
	waiting []libpf.PIDTID
}

// late is a file that came too late for a look.
type late struct {
	file *os.File // nil: it could not be opened
	at   time.Time
}

func newOpener() *opener {
	return &opener{under: map[fileKey]*opening{}, came: map[fileKey]late{}, behind: map[uint64]int{},
		again: make(chan libpf.PIDTID, mostYoung)}
}

// open opens the file of a mapping, and reads it where it was modified since; nil where it cannot
// be opened. Not answered: the file did not come soon enough.
func (o *opener) open(key fileKey, target process.Process, mapping *process.RawMapping, since int64) (
	file *os.File, answered bool) {
	o.mu.Lock()
	if before, came := o.came[key]; came {
		delete(o.came, key)
		o.mu.Unlock()
		return before.file, true
	}
	one, wait := o.under[key], patience
	if one == nil {
		if len(o.under) >= mostOpening || o.of(key.device) >= mostOpeningOf {
			o.mu.Unlock()
			return nil, false
		}
		one = &opening{done: make(chan struct{})}
		key.path = strings.Clone(key.path) // the list of mappings is read into one buffer
		o.under[key] = one
		own := *mapping
		own.Path = key.path
		go o.read(key, one, target, own, since)
	}
	if o.behind[key.device] > 0 {
		wait = impatience
	}
	o.mu.Unlock()
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	select {
	case <-one.done:
	case <-timeout.C:
	}
	return o.take(key, one, libpf.PIDTID(uint64(target.PID())<<32|uint64(target.PID())))
}

// of counts the files of a disk that are being opened. The caller holds the lock.
func (o *opener) of(device uint64) (count int) {
	for key := range o.under {
		if key.device == device {
			count++
		}
	}
	return count
}

// take gives the file that is there, or has the process wait for it.
func (o *opener) take(key fileKey, one *opening, id libpf.PIDTID) (file *os.File, answered bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.under[key] != one { // it is there
		file, one.file = one.file, nil
		return file, true
	}
	if !one.late {
		one.late = true
		o.late++
		o.behind[key.device]++
	}
	if len(one.waiting) < mostWaiting {
		one.waiting = append(one.waiting, id)
	}
	return nil, false
}

// read opens a file and brings it into memory, however long it takes.
func (o *opener) read(key fileKey, one *opening, target process.Process, mapping process.RawMapping, since int64) {
	var file *os.File
	if opened, err := target.OpenMappingFile(&mapping); err == nil {
		plain := false
		if file, plain = opened.(*os.File); !plain {
			_ = opened.Close() // nothing was written to it
		}
	}
	if file != nil && modifiedAt(file) != since {
		warm(file)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.under, key)
	one.file = file
	close(one.done)
	if !one.late {
		return
	}
	o.came[key], one.file = late{file, time.Now()}, nil
	if o.behind[key.device]--; o.behind[key.device] == 0 {
		delete(o.behind, key.device)
	}
	for _, id := range one.waiting {
		select {
		case o.again <- id:
		default: // its next stack will tell it again
		}
	}
}

// sweep closes what came for processes that have ended since.
func (o *opener) sweep(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, before := range o.came {
		if now.Sub(before.at) < heldFor {
			continue
		}
		delete(o.came, key)
		if before.file != nil {
			_ = before.file.Close() // nothing was written to it
		}
	}
}

// isBehind tells whether looks went on without a file of a disk that is still to come.
func (o *opener) isBehind(device uint64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.behind[device] > 0
}

// Unanswered counts the files since the last call that processes were looked at without, because
// their file system did not answer soon enough, and those that have not come yet.
func (u *Unwinder) Unanswered() int64 {
	o := u.monitor.files.opener
	o.mu.Lock()
	defer o.mu.Unlock()
	late := o.late
	o.late = 0
	for _, files := range o.behind {
		o.late += int64(files) // of the next window as well
	}
	return late
}

// warm reads what is not in memory of the part of a program that is loaded, of which the library
// reads its rules, and of its end.
func warm(file *os.File) {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	size := info.Size()
	bring(file, max(0, size-tailOfFile), size)
	program, err := elf.NewFile(file)
	if err != nil {
		return // the library will find the same
	}
	left := int64(maxWarm)
	for _, segment := range program.Progs {
		start, length := int64(segment.Off), int64(segment.Filesz)
		if segment.Type != elf.PT_LOAD || start < 0 || length <= 0 || start >= size {
			continue
		}
		length = min(length, left, size-start)
		left -= length
		bring(file, start, start+length)
	}
}

// bring reads those pieces of a range of a file that are not all in memory.
func bring(file *os.File, start, end int64) {
	pageSize := int64(os.Getpagesize())
	start &^= pageSize - 1
	var buffer []byte
	for ; start < end; start += warmPiece {
		length := min(warmPiece, end-start)
		if inMemory(file, start, length, pageSize) {
			continue
		}
		if buffer == nil {
			buffer = make([]byte, warmPiece)
		}
		if _, err := file.ReadAt(buffer[:length], start); err != nil {
			return // the library will find the same
		}
	}
}

// inMemory tells whether all pages of a piece of a file are cached.
func inMemory(file *os.File, start, length, pageSize int64) bool {
	mapped, err := unix.Mmap(int(file.Fd()), start, int(length), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Munmap(mapped) }() // it was just mapped
	pages := make([]byte, (length+pageSize-1)/pageSize)
	if !mincore(mapped, pages) {
		return false
	}
	for _, page := range pages {
		if page&1 == 0 {
			return false
		}
	}
	return true
}

// mincore enters for each page of a mapping whether it is in memory; false where the kernel does
// not tell.
func mincore(mapped, pages []byte) bool {
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(mapped))),
		uintptr(len(mapped)), uintptr(unsafe.Pointer(unsafe.SliceData(pages))))
	return errno == 0
}
