// Command index writes postings of two segments; each segment has its region of the file.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

const (
	small  = 512
	region = 64 << 20
)

// bulk writes large runs of postings.
func bulk(file *os.File, runs int, wait *sync.WaitGroup) {
	defer wait.Done()
	block := make([]byte, 8<<20)
	for i := range runs {
		block[i] = byte(i)
		if _, err := file.WriteAt(block, 0); err != nil {
			panic(err)
		}
	}
}

// notePosting stores one entry.
func notePosting(file *os.File, entry []byte, number int) {
	if _, err := file.WriteAt(entry, region+int64(number%4000)*small); err != nil {
		panic(err)
	}
}

func score(entry []byte, number int) uint64 {
	sum := uint64(number)
	for range 6 {
		for i := range entry {
			sum = sum*31 + uint64(entry[i])
			entry[i] = byte(sum >> 9)
		}
	}
	return sum
}

func open(path string) *os.File {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		panic(err)
	}
	return file
}

func main() {
	entries, _ := strconv.Atoi(os.Args[3])
	runs, _ := strconv.Atoi(os.Args[4])
	var wait sync.WaitGroup
	wait.Add(1)
	go bulk(open(os.Args[1]), runs, &wait)
	file, entry, sum := open(os.Args[2]), make([]byte, small), uint64(0)
	for i := range entries {
		sum += score(entry, i)
		notePosting(file, entry, i)
	}
	wait.Wait()
	fmt.Println(sum)
}
