// Command pages parses pages with drawings in them.
package main

import (
	"fmt"
	"strings"

	"golang.org/x/net/html"
)

func main() {
	page := "<!DOCTYPE html><svg>" + strings.Repeat("<g><path d='M1 2'/><text>a</text></g>", 3000) + "</svg>" + strings.Repeat("<div><p>text</p></div>", 3000)
	total := 0
	for range 20 {
		node, err := html.Parse(strings.NewReader(page))
		if err != nil {
			panic(err)
		}
		for range node.Descendants() {
			total++
		}
	}
	fmt.Println(total)
}
