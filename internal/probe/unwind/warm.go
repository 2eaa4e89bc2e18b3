package unwind

import (
	"debug/elf"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	maxWarm    = 256 << 20 // bytes of a file that are read
	warmPiece  = 1 << 20
	tailOfFile = 64 << 10 // where the table of sections stands, and what tells one file from another
)

// warm reads what is not in memory of the part of a program that is loaded, of which the library
// reads its rules, and of its end, and gives the size of the file; 0 where it is no program.
func warm(file *os.File) (size int64) {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	size = info.Size()
	bring(file, max(0, size-tailOfFile), size)
	program, err := elf.NewFile(file)
	if err != nil {
		return 0 // the library will find the same
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
	return size
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
