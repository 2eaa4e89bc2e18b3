// Command stages runs two stages of a pipeline that each keep a gauge of what they did.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
)

type gauge struct{ done, failed atomic.Uint64 }

type tight struct{ stages [2]gauge }

type roomy struct {
	stages [2]struct {
		gauge
		_ [240]byte
	}
}

func advance(g *gauge, items int, seed uint32) {
	for range items {
		for range 6 {
			seed = seed*1664525 + 1013904223
		}
		g.done.Add(1)
		if seed&0x3f == 0 {
			g.failed.Add(1)
		}
	}
}

func runStages(gauges [2]*gauge, items int) uint64 {
	var running sync.WaitGroup
	for number, g := range gauges {
		running.Add(1)
		go func() {
			defer running.Done()
			advance(g, items, uint32(number))
		}()
	}
	running.Wait()
	return gauges[0].done.Load() + gauges[1].failed.Load()
}

func main() {
	items, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "usage: stages ITEMS roomy|tight")
		os.Exit(2)
	}
	if os.Args[2] == "roomy" {
		var r roomy
		fmt.Println(runStages([2]*gauge{&r.stages[0].gauge, &r.stages[1].gauge}, items))
		return
	}
	var t tight
	fmt.Println(runStages([2]*gauge{&t.stages[0], &t.stages[1]}, items))
}
