//go:build ignore

// Spins for so many seconds: two functions, three to one by CPU time. Prints the CPU seconds of
// each.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

var work uint64

//go:noinline
func inner(rounds int) {
	for i := range rounds {
		work += uint64(i)*uint64(i) ^ work
	}
}

//go:noinline
func spinMuch(rounds int) {
	inner(3 * rounds)
	work++
}

//go:noinline
func spinLittle(rounds int) {
	inner(rounds)
	work++
}

func threadCPU() time.Duration {
	const clockThreadCPU = 3
	var spec syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPU, uintptr(unsafe.Pointer(&spec)), 0)
	return time.Duration(spec.Nano())
}

func main() {
	runtime.LockOSThread()
	seconds, err := strconv.ParseFloat(os.Args[1], 64)
	if err != nil {
		os.Exit(2)
	}
	var much, little time.Duration
	for end := time.Now().Add(time.Duration(seconds * 1e9)); time.Now().Before(end); {
		start := threadCPU()
		spinMuch(300000)
		next := threadCPU()
		spinLittle(300000)
		much, little = much+next-start, little+threadCPU()-next
	}
	fmt.Printf("spin_much %.6f\nspin_little %.6f\n", much.Seconds(), little.Seconds())
}
