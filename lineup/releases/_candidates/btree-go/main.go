//go:build ignore

// Command index keeps numbers in order.
package main

import (
	"fmt"

	"github.com/google/btree"
)

func main() {
	tree := btree.New(32)
	for i := range 250_000 {
		tree.ReplaceOrInsert(btree.Int(i * 7919 % 250_007))
	}
	found := 0
	for i := range 250_000 {
		if tree.Get(btree.Int(i)) != nil {
			found++
		}
	}
	fmt.Println(found)
}
