//go:build ignore

// Command upgrades lists the releases that fit, newest first.
package main

import (
	"fmt"
	"sort"

	"github.com/hashicorp/go-version"
)

func main() {
	wanted, err := version.NewConstraint(">= 1.2, < 7.4")
	if err != nil {
		panic(err)
	}
	total := 0
	for round := range 32 {
		var fitting []*version.Version
		for i := range 2000 {
			v, err := version.NewVersion(fmt.Sprintf("%d.%d.%d", i%9, (i+round)%13, i%17))
			if err != nil {
				panic(err)
			}
			if wanted.Check(v) {
				fitting = append(fitting, v)
			}
		}
		sort.Sort(sort.Reverse(version.Collection(fitting)))
		total += len(fitting[0].String()) + len(fitting)
	}
	fmt.Println(total)
}
