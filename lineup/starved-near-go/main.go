// Command quotes computes quotes beside a process that keeps an index.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
)

//go:noinline
func quote(seed uint64, steps int) uint64 {
	for range steps * 1000 {
		seed = seed*6364136223846793005 + 1442695040888963407
	}
	return seed >> 60
}

func keepIndex() {
	for seed := uint64(1); ; {
		seed = quote(seed, 1000) + 1
	}
}

func main() {
	quotes := flag.Int("quotes", 1000, "number of quotes")
	steps := flag.Int("steps", 100, "thousands of steps of each")
	index := flag.Bool("index", false, "keep the index, until killed")
	flag.Parse()
	if *index {
		keepIndex()
	}
	indexer := exec.Command(os.Args[0], "-index")
	if err := indexer.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "quotes:", err)
		os.Exit(1)
	}
	sum := uint64(0)
	for number := range *quotes {
		sum += quote(uint64(number), *steps)
	}
	_ = indexer.Process.Kill()
	_ = indexer.Wait()
	fmt.Println(sum)
}
