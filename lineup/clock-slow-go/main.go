// Command admit decides for a stream of requests which ones a token bucket lets through.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

type bucket struct {
	last   time.Time
	tokens int64
}

func (b *bucket) admit() bool {
	now := time.Now()
	b.tokens = min(b.tokens+int64(now.Sub(b.last)), 1000)
	b.last = now
	if b.tokens < 40 {
		return false
	}
	b.tokens -= 40
	return true
}

func replay(requests int) int {
	admitted := 0
	b := bucket{last: time.Now()}
	for range requests {
		if b.admit() {
			admitted++
		}
	}
	return admitted
}

func main() {
	requests, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "usage: admit REQUESTS")
		os.Exit(2)
	}
	admitted := make([]int, 2)
	var running sync.WaitGroup
	for i := range admitted {
		running.Go(func() { admitted[i] = replay(requests) })
	}
	running.Wait()
	fmt.Println(admitted[0] > 0, admitted[1] > 0)
}
