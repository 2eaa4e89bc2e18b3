// Command rounds computes, for recordings in a guest: so many rounds, of which a part is so many
// times as long.
//
//	rounds 3 1   # a side
//	rounds 3 2   # the other one: folded runs twice as many instructions, each no slower
package main

import (
	"fmt"
	"os"
	"strconv"
)

const length = 10_000_000

//go:noinline
func steady() (sum uint64) {
	for range length {
		sum = sum*6364136223846793005 + 1442695040888963407
	}
	return sum
}

//go:noinline
func folded(times int) (sum uint64) {
	for i := range length * times {
		sum ^= sum<<13 + uint64(i)
		sum ^= sum >> 7
	}
	return sum
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: rounds COUNT TIMES")
		os.Exit(2)
	}
	count, err := strconv.Atoi(os.Args[1])
	times, wrong := strconv.Atoi(os.Args[2])
	if err != nil || wrong != nil {
		fmt.Fprintf(os.Stderr, "rounds: %q and %q are to be numbers\n", os.Args[1], os.Args[2])
		os.Exit(2)
	}
	var sum uint64
	for range count {
		sum += steady() + folded(times)
	}
	fmt.Println(sum)
}
