// One goroutine encodes records into pooled buffers, another checks them.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

const words = 1024

type buffer [words]uint64

//go:noinline
func encode(to *buffer, state uint64, passes int) uint64 {
	for range passes {
		for i := range to {
			state = state*6364136223846793005 + 1442695040888963407
			to[i] += state
		}
	}
	return state
}

//go:noinline
func check(of *buffer, sum uint64, passes int) uint64 {
	for range passes {
		for i := range of {
			sum += of[i] ^ sum<<1
		}
	}
	return sum
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: buffers ROUNDS WRITES PASSES")
		os.Exit(2)
	}
	rounds, _ := strconv.Atoi(os.Args[1])
	writes, _ := strconv.Atoi(os.Args[2])
	passes, _ := strconv.Atoi(os.Args[3])
	pool := sync.Pool{New: func() any { return new(buffer) }}
	queue := make(chan *buffer, 2)
	var group sync.WaitGroup
	sum := uint64(0)
	group.Go(func() {
		for full := range queue {
			sum = check(full, sum, passes)
			pool.Put(full)
		}
	})
	state := uint64(1)
	for range rounds {
		empty := pool.Get().(*buffer)
		state = encode(empty, state, writes)
		queue <- empty
	}
	close(queue)
	group.Wait()
	fmt.Println(sum != 0)
}
