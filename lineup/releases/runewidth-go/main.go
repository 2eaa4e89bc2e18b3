//go:build ignore

// Command table lays out names in columns.
package main

import (
	"fmt"

	"github.com/mattn/go-runewidth"
)

func main() {
	total := 0
	for i := range 120_000 {
		total += runewidth.StringWidth(fmt.Sprintf("name %d of a person 家族", i))
	}
	fmt.Println(total)
}
