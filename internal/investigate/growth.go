package investigate

import (
	"fmt"
	"time"
)

// grownPairs is how many pairs a budget that grows holds: where a plan for two metrics looks first
// (stat.NewPlan).
const grownPairs = 8

// budget is the time for everything: what was asked for, or what it grew to.
func (inv *investigation) budget() time.Duration { return max(inv.options.Budget, inv.grown) }

// grow makes a budget that nobody asked for hold what a verdict with suspects takes of runs that
// take this long. It is called again with each pair until there are enough: a warm-up may take far
// longer than the runs after it.
func (inv *investigation) grow() {
	wanted := grownPairs
	if inv.options.B == "" {
		wanted = leastPairs
	}
	if missing := wanted - inv.pairsMade(); missing > 0 {
		// Half a pair more: runs vary.
		inv.growTo(inv.elapsed()+time.Duration(missing)*inv.pairTime()+inv.pairTime()/2+inv.reserve(), inv.runLengths())
	}
}

// growTo lets the budget be that long, where it may grow, and up to MostBudget. It tells why.
func (inv *investigation) growTo(needed time.Duration, why string) {
	if !inv.options.MayGrow {
		return
	}
	inv.grown, inv.grownFor = min(needed, MostBudget), why
	if inv.grown > inv.options.Budget && inv.options.Grown != nil {
		inv.options.Grown(inv.grown, inv.grownFor)
	}
}

// runLengths says how long the runs take: "one run takes 8.1 s with A and 9.8 s with B".
func (inv *investigation) runLengths() string {
	if inv.options.B == "" {
		return fmt.Sprintf("one run takes %.2g s", inv.took[sideA].Seconds())
	}
	return fmt.Sprintf("one run takes %.2g s with A and %.2g s with B", inv.took[sideA].Seconds(),
		inv.took[sideB].Seconds())
}

// tellGrown warns of an answer that took longer than is usual.
func (inv *investigation) tellGrown() {
	if inv.grown > 0 && inv.elapsed() > inv.options.Budget {
		inv.c.Warnings = append(inv.c.Warnings, fmt.Sprintf(
			"the answer took longer than the usual %v: %s; --budget sets a limit", inv.options.Budget, inv.grownFor))
	}
}
