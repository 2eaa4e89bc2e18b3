// Command hash digests blocks with as many goroutines as there are processors.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
)

const blockSize = 64 << 10

func digestBlock(number int, block []byte) byte {
	block[0], block[1] = byte(number), byte(number>>8)
	sum := sha256.Sum256(block)
	return sum[0]
}

func digestAll(blocks, workers int) int {
	results := make([]int, workers)
	var group sync.WaitGroup
	for worker := range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			block := make([]byte, blockSize)
			for number := worker; number < blocks; number += workers {
				results[worker] += int(digestBlock(number, block))
			}
		}()
	}
	group.Wait()
	total := 0
	for _, result := range results {
		total += result
	}
	return total
}

func main() {
	blocks, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "usage: hash BLOCKS")
		os.Exit(2)
	}
	fmt.Println(digestAll(blocks, runtime.NumCPU()))
}
