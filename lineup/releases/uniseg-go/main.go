// Command letters counts what a reader takes for a letter.
package main

import (
	"fmt"
	"strings"

	"github.com/rivo/uniseg"
)

func main() {
	text := strings.Repeat("The quick brown fox, 家族, ", 40)
	total := 0
	for range 900 {
		total += uniseg.GraphemeClusterCount(text)
	}
	fmt.Println(total)
}
