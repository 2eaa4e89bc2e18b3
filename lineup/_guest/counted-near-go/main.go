// Command siblings smooths the rows of a picture by so many workers, over and over.
//
//	siblings 2 1   # two workers share the picture
//	siblings 2 2   # each of two workers does all of a picture of its own
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

const (
	rows    = 600
	columns = 512
	passes  = 12
)

// smooth replaces each point of a row by the mean of those around it.
//
//go:noinline
func smooth(row []uint32) {
	for pass := range passes {
		last := row[0] + uint32(pass)
		for at := 1; at+1 < len(row); at++ {
			mean := (last + 2*row[at] + row[at+1]) / 4
			last, row[at] = row[at], mean
		}
	}
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: siblings WORKERS PICTURES")
		os.Exit(2)
	}
	workers, err := strconv.Atoi(os.Args[1])
	pictures, wrong := strconv.Atoi(os.Args[2])
	if err != nil || wrong != nil || workers < 1 || pictures < 1 {
		fmt.Fprintf(os.Stderr, "siblings: %q and %q are to be numbers from 1 on\n", os.Args[1], os.Args[2])
		os.Exit(2)
	}
	sums := make([]uint64, workers)
	var wait sync.WaitGroup
	for worker := range workers {
		wait.Go(func() {
			row := make([]uint32, columns)
			sum := uint64(0)
			for number := worker; number < rows*pictures; number += workers {
				for at := range row {
					row[at] = uint32(number*at) % 255
				}
				smooth(row)
				sum += uint64(row[columns/2])
			}
			sums[worker] = sum
		})
	}
	wait.Wait()
	fmt.Println(sums)
}
