//go:build ignore

// Command states compares states.
package main

import (
	"fmt"

	"github.com/google/go-cmp/cmp"
)

type Row struct {
	ID   int
	Name string
	Tags []string
}

func main() {
	rows := func(n int) map[string]Row {
		all := map[string]Row{}
		for i := range n {
			all[fmt.Sprint(i)] = Row{i, fmt.Sprint("n", i), []string{"a", "b"}}
		}
		return all
	}
	a, b := rows(300), rows(300)
	equal := 0
	for range 150 {
		if cmp.Equal(a, b) {
			equal++
		}
	}
	fmt.Println(equal)
}
