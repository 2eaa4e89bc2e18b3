//go:build ignore

// Command checks reads a file of tests.
package main

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

type file struct {
	Tests []struct {
		Title string
		Steps []map[string]string
	}
}

func main() {
	var text strings.Builder
	text.WriteString("tests:\n")
	for i := range 60 {
		fmt.Fprintf(&text, "  - title: test-%d\n    steps:\n      - uri: /path/%d\n        method: GET\n", i, i)
	}
	total := 0
	for range 40 {
		var read file
		if err := yaml.Unmarshal([]byte(text.String()), &read); err != nil {
			panic(err)
		}
		total += len(read.Tests)
	}
	fmt.Println(total)
}
