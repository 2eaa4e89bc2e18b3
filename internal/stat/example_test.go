package stat_test

import (
	"fmt"

	"culprit/internal/stat"
)

func ExamplePlan_Decide() {
	plan, err := stat.NewPlan(30, 2, 0.05)
	if err != nil {
		fmt.Println(err)
		return
	}
	a := []float64{1.00, 1.02, 0.99, 1.01, 1.03, 0.98, 1.00, 1.01}
	b := []float64{1.11, 1.10, 1.09, 1.13, 1.12, 1.08, 1.12, 1.10}
	d, err := stat.LogRatios(a, b)
	if err != nil {
		fmt.Println(err)
		return
	}
	decision, err := plan.Decide(d, 0.02)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("look at %v pairs\n", plan.Looks)
	ratio := decision.Ratio
	fmt.Printf("%s: ratio %.3f, %.3f to %.3f\n", decision.Outcome, ratio.Value, ratio.Low, ratio.High)
	// Output:
	// look at [8 10 13 17 22 30] pairs
	// worse: ratio 1.101, 1.078 to 1.120
}
