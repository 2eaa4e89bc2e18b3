// Command rules decides about orders by rules that are written as expressions.
package main

import (
	"fmt"

	"github.com/expr-lang/expr"
)

func main() {
	program, err := expr.Compile(`total > 100 && customer in ["a", "b"] || len(filter(tags, # == "vip")) > 0`)
	if err != nil {
		panic(err)
	}
	accepted := 0
	for i := range 25_000 {
		order := map[string]any{"total": i % 200, "customer": "b", "tags": []string{"new", "vip"}[:1+i%2]}
		answer, err := expr.Run(program, order)
		if err != nil {
			panic(err)
		}
		if answer == true {
			accepted++
		}
	}
	fmt.Println(accepted)
}
