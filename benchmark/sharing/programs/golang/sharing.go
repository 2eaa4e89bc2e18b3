// Goroutines parse records and count them: in words of one cache line, in one word, or apart.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type tally struct {
	done  atomic.Uint64
	bytes atomic.Uint64
}

type near struct{ each [8]tally }

type spaced struct {
	_ [120]byte
	tally
	_ [120]byte
}

//go:noinline
func parse(state uint32, steps int) uint32 {
	for range steps {
		state = state*1664525 + 1013904223
	}
	return state
}

//go:noinline
func note(t *tally, state uint32) {
	t.done.Add(1)
	t.bytes.Store(t.bytes.Load() + uint64(state&63))
}

func used() int64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: sharing false|true|padded|own THREADS MILLISECONDS OPERATIONS")
		os.Exit(2)
	}
	threads, _ := strconv.Atoi(os.Args[2])
	lasts, _ := strconv.Atoi(os.Args[3])
	most, _ := strconv.Atoi(os.Args[4])
	together, apart := &near{}, &[8]spaced{}
	var all sync.WaitGroup
	var operations atomic.Int64
	begin := used()
	for i := range threads {
		mine := &apart[i].tally
		switch os.Args[1] {
		case "false":
			mine = &together.each[i]
		case "true":
			mine = &together.each[0]
		}
		all.Go(func() {
			state, count := uint32(i), 0
			end := time.Now().Add(time.Duration(lasts) * time.Millisecond)
			for ; count < most/threads && time.Now().Before(end); count += 4096 {
				for range 4096 {
					state = parse(state, 4)
					note(mine, state)
				}
			}
			operations.Add(int64(count))
		})
	}
	all.Wait()
	fmt.Println(operations.Load(), used()-begin)
}
