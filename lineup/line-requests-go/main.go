// Command route sends requests to their handlers and numbers them for the log.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
)

var numbered atomic.Uint64

type router struct {
	next, last uint64
	batch      uint64
}

// number takes the next of the numbers, or of those that this router fetched.
//
//go:noinline
func (r *router) number() uint64 {
	if r.next == r.last {
		r.last = numbered.Add(r.batch)
		r.next = r.last - r.batch
	}
	r.next++
	return r.next
}

func hash(path uint64) uint64 {
	for range 36 {
		path = (path ^ path>>29) * 0xbf58476d1ce4e5b9
	}
	return path
}

func (r *router) route(requests uint64) uint64 {
	sum := uint64(0)
	for request := range requests {
		sum += hash(request) ^ r.number()
	}
	return sum
}

func main() {
	requests, err := strconv.ParseUint(os.Args[1], 10, 64)
	batch, batchErr := strconv.ParseUint(os.Args[2], 10, 64)
	if err != nil || batchErr != nil {
		fmt.Fprintln(os.Stderr, "usage: route REQUESTS BATCH")
		os.Exit(2)
	}
	var running sync.WaitGroup
	for range 2 {
		running.Go(func() { (&router{batch: batch}).route(requests) })
	}
	running.Wait()
	fmt.Println(numbered.Load() >= 2*requests)
}
