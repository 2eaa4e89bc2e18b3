//go:build ignore

// Command names makes and reads identifiers.
package main

import (
	"fmt"

	"github.com/google/uuid"
)

func main() {
	total := 0
	for i := range 900_000 {
		name := uuid.NewSHA1(uuid.NameSpaceURL, fmt.Append(nil, "name", i))
		total += int(uuid.MustParse(name.String())[3])
	}
	fmt.Println(total)
}
