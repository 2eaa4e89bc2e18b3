// Command terms ranks documents by how well they fit a query of so many terms.
package main

import (
	"fmt"
	"os"
	"strconv"
)

const (
	documents = 1500
	words     = 64
)

// score adds up what the terms of the query are worth in a document.
//
//go:noinline
func score(document, terms []uint32) (sum uint64) {
	for _, term := range terms {
		for at, word := range document {
			if word == term {
				sum += uint64(1000 - at)
			}
		}
	}
	return sum
}

// read makes the words of a document.
//
//go:noinline
func read(number int, document []uint32) {
	state := uint64(number)*0x9e3779b97f4a7c15 + 1
	for round := range 12 { // it is stored packed
		for at := range document {
			state ^= state << 13
			state ^= state >> 7
			state ^= state << 17
			document[at] = uint32(state>>32)%5000 + uint32(round)
		}
	}
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: terms COUNT")
		os.Exit(2)
	}
	count, err := strconv.Atoi(os.Args[1])
	if err != nil || count < 1 {
		fmt.Fprintf(os.Stderr, "terms: %q is no number of terms\n", os.Args[1])
		os.Exit(2)
	}
	terms := make([]uint32, count)
	for i := range terms {
		terms[i] = uint32(i * 37)
	}
	best, document := uint64(0), make([]uint32, words)
	for number := range documents {
		read(number, document)
		best = max(best, score(document, terms))
	}
	fmt.Println(best)
}
