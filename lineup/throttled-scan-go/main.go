// Command scan counts patterns in blocks of text on all CPUs.
package main

import (
	"flag"
	"fmt"
	"runtime"
	"sync"
)

//go:noinline
func countPatterns(block []byte, seed uint64) (found int) {
	for round := range 24 {
		want := byte(seed>>3) + byte(round)
		for i := range block {
			if block[i]^byte(i) == want {
				found++
			}
		}
	}
	return found
}

func main() {
	blocks := flag.Int("blocks", 800, "number of blocks")
	flag.Parse()
	numbers := make(chan int, 16)
	results := make(chan int, 16)
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Add(1)
		go func() {
			defer workers.Done()
			block := make([]byte, 48<<10)
			for number := range numbers {
				for i := range block {
					block[i] = byte(i * number >> 2)
				}
				results <- countPatterns(block, uint64(number))
			}
		}()
	}
	go func() {
		for number := range *blocks {
			numbers <- number
		}
		close(numbers)
		workers.Wait()
		close(results)
	}()
	total := 0
	for found := range results {
		total += found
	}
	fmt.Println(total)
}
