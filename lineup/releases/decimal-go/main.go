// Command prices works with amounts of money.
package main

import (
	"fmt"

	"github.com/shopspring/decimal"
)

func main() {
	total := decimal.Zero
	for i := range 300_000 {
		price := decimal.RequireFromString(fmt.Sprintf("%d.%02d", i, i%100))
		total = total.Add(price.Mul(decimal.NewFromFloat(1.19)).Round(2).Div(decimal.NewFromInt(3)))
	}
	fmt.Println(total.Round(2))
}
