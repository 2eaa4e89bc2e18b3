// Command settings reads settings.
package main

import (
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

func main() {
	var text strings.Builder
	for i := range 800 {
		fmt.Fprintf(&text, "[service%d]\nname = \"s%d\"\nport = %d\nhosts = [\"a\", \"b\"]\n", i, i, i)
	}
	total := 0
	for range 30 {
		var settings map[string]any
		if _, err := toml.Decode(text.String(), &settings); err != nil {
			panic(err)
		}
		total += len(settings)
	}
	fmt.Println(total)
}
