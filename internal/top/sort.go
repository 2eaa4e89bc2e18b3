package top

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// The orders of rows.
const (
	ByRate   = "rate"   // the largest first
	ByChange = "change" // what changed most since the look before
	ByName   = "name"
)

// Orders are all of them.
var Orders = []string{ByRate, ByChange, ByName}

// The classes that can be shown alone.
const (
	All   = "all"
	Runs  = "runs"
	Waits = "waits"
)

// Shows are all of them.
var Shows = []string{All, Runs, Waits}

// Sorted are the rows of a class in an order; the view stays as it is.
func (v *View) Sorted(order, show string) []Row {
	rows := slices.DeleteFunc(slices.Clone(v.Rows), func(r Row) bool {
		return show == Runs && !r.IsRunning() || show == Waits && r.IsRunning()
	})
	slices.SortStableFunc(rows, func(a, b Row) int {
		switch order {
		case ByChange:
			return cmp.Compare(math.Abs(b.Rate-b.Before), math.Abs(a.Rate-a.Before))
		case ByName:
			return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Class, b.Class))
		}
		return cmp.Compare(b.Rate, a.Rate)
	})
	return rows
}

// Next is the word after another one in a list, round and round.
func Next(words []string, word string) string {
	return words[(slices.Index(words, word)+1)%len(words)]
}
