//go:build ignore

// Command metrics is scraped often.
package main

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

func main() {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector())
	total := 0
	for range 4000 {
		families, err := registry.Gather()
		if err != nil {
			panic(err)
		}
		total += min(len(families), 1)
	}
	fmt.Println(total)
}
