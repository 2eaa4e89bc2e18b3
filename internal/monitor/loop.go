package monitor

import (
	"bufio"
	"fmt"
	"io"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Verb is the hidden verb of culprit that runs Serve: one of the two processes for whom monitors
// are repeated.
const Verb = "monitored"

// The descriptors that a process of the pair gets, beside the standard ones.
const (
	ballIn  = 3
	ballOut = 4
)

// mostTurns bounds what one order can take.
const mostTurns = 1 << 20

// Serve does what the lines of its input say, on one CPU, and prints the CPU time in ns that each
// took: "play N" and "echo N" hand a byte to and fro, "call N" makes system calls, "fault N"
// touches fresh pages. The first line that it prints is its thread's number.
func Serve(cpu int, in io.Reader, out io.Writer) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var one unix.CPUSet
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return fmt.Errorf("hold thread on CPU %d: %w", cpu, err)
	}
	if _, err := fmt.Fprintln(out, unix.Gettid()); err != nil {
		return err
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var what string
		var turns int
		if _, err := fmt.Sscan(lines.Text(), &what, &turns); err != nil || turns <= 0 || turns > mostTurns {
			return fmt.Errorf("order %q is none", lines.Text())
		}
		took, err := timed(what, turns)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, took); err != nil {
			return err
		}
	}
	return nil
}

// timed does one order.
func timed(what string, turns int) (int64, error) {
	work := map[string]func(int) error{"play": play, "echo": echo, "call": call, "fault": fault}[what]
	if work == nil {
		return 0, fmt.Errorf("order %q is none", what)
	}
	var before, after unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &before); err != nil {
		return 0, err
	}
	if err := work(turns); err != nil {
		return 0, err
	}
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &after); err != nil {
		return 0, err
	}
	return after.Nano() - before.Nano(), nil
}

// Raw system calls: what the run time does around others would be measured as well.
func move(number, descriptor uintptr) error {
	var ball byte
	n, _, failed := unix.RawSyscall(number, descriptor, uintptr(unsafe.Pointer(&ball)), 1)
	if failed != 0 || n != 1 {
		return fmt.Errorf("hand over a byte: %d, %w", n, failed)
	}
	return nil
}

func play(turns int) error {
	for range turns {
		if err := move(unix.SYS_WRITE, ballOut); err != nil {
			return err
		}
		if err := move(unix.SYS_READ, ballIn); err != nil {
			return err
		}
	}
	return nil
}

func echo(turns int) error {
	for range turns {
		if err := move(unix.SYS_READ, ballIn); err != nil {
			return err
		}
		if err := move(unix.SYS_WRITE, ballOut); err != nil {
			return err
		}
	}
	return nil
}

func call(turns int) error {
	for range turns {
		_, _, _ = unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0)
	}
	return nil
}

// fault touches pages that the kernel has to map one by one.
func fault(turns int) error {
	size := unix.Getpagesize()
	memory, err := unix.Mmap(-1, 0, turns*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return fmt.Errorf("map %d pages: %w", turns, err)
	}
	_ = unix.Madvise(memory, unix.MADV_NOHUGEPAGE) // a kernel without huge pages knows no such advice
	for at := 0; at < len(memory); at += size {
		memory[at] = 1
	}
	return unix.Munmap(memory)
}
