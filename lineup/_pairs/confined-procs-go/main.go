// Packs files in parallel and prints what it saved.
package main

import (
	"bytes"
	"compress/flate"
	"fmt"
	"os"
	"strconv"
	"sync"
)

func makeFile(number, size int) []byte {
	var file bytes.Buffer
	for seed := uint32(number); file.Len() < size; {
		seed = seed*1664525 + 1013904223
		fmt.Fprintf(&file, "row %d of %d; ", seed>>20, number)
	}
	return file.Bytes()
}

func packFile(file []byte) int {
	var packed bytes.Buffer
	writer, _ := flate.NewWriter(&packed, 5)
	writer.Write(file)
	writer.Close()
	return len(file) - packed.Len()
}

func main() {
	files, _ := strconv.Atoi(os.Args[1])
	numbers := make(chan int)
	saved := make([]int, files)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for number := range numbers {
				saved[number] = packFile(makeFile(number, 60000))
			}
		})
	}
	for number := range files {
		numbers <- number
	}
	close(numbers)
	group.Wait()
	sum := 0
	for _, bytes := range saved {
		sum += bytes
	}
	fmt.Println(sum)
}
