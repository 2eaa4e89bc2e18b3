// Command pipeline passes blocks through stages on several goroutines.
package main

import (
	"flag"
	"fmt"
	"hash/crc32"
	"sync"
)

func produce(blocks int, out chan<- []byte) {
	defer close(out)
	for number := range blocks {
		block := make([]byte, 16384)
		for i := range block {
			block[i] = byte(i * number >> 3)
		}
		out <- block
	}
}

func checksum(in <-chan []byte, out chan<- uint32) {
	for block := range in {
		var sum uint32
		for range 8 {
			sum = crc32.Update(sum, crc32.MakeTable(crc32.Koopman), block)
		}
		out <- sum
	}
}

func main() {
	blocks := flag.Int("blocks", 20000, "blocks to pass through")
	flag.Parse()
	made, sums := make(chan []byte, 16), make(chan uint32, 16)
	var stage sync.WaitGroup
	go produce(*blocks, made)
	for range 3 {
		stage.Go(func() { checksum(made, sums) })
	}
	go func() {
		stage.Wait()
		close(sums)
	}()
	var total uint32
	for sum := range sums {
		total ^= sum
	}
	fmt.Println(total)
}
