// Command garbage builds and drops maps, so that the collector works all the time.
package main

import (
	"fmt"
	"os"
	"strconv"
)

func countWords(round int) int {
	words := map[string]int{}
	for i := range 2000 {
		words[strconv.Itoa((i*7919+round)%1500)]++
	}
	return len(words)
}

func main() {
	rounds, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "usage: garbage ROUNDS")
		os.Exit(2)
	}
	total := 0
	for round := range rounds {
		total += countWords(round)
	}
	fmt.Println(total)
}
