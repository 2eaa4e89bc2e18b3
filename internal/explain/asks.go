package explain

import (
	"culprit/internal/cause"
	"culprit/recording"
)

// asks is what a service asks of others: how many requests of its own for each that it answers, and
// how many seconds one of its own takes.
type asks struct{ count, each float64 }

func asksOf(group []*recording.Recording) (a asks) {
	answered, own, seconds := 0.0, 0.0, 0.0
	for _, rec := range group {
		for i := range rec.Requests {
			row := &rec.Requests[i]
			if row.Side == recording.SideServer {
				answered += float64(row.Count)
				continue
			}
			own += float64(row.Count)
			seconds += float64(row.TotalNs) / 1e9
		}
	}
	if answered > 0 && own > 0 {
		a = asks{own / answered, seconds / own}
	}
	return a
}

// mostlyOftener is the part of what requests wait longer for others that more asking accounts for
// where that is what changed: the larger part.
const mostlyOftener = 0.5

// oftenerThan reports whether a side asks more often than another one, rather than waits longer for
// each answer: that accounts for most of what its requests wait longer. A service that is asked by
// one side alone is not asked more often.
func (b asks) oftenerThan(a asks) bool {
	grown := b.count*b.each - a.count*a.each
	return a.count > 0 && grown > 0 && (b.count-a.count)*a.each >= mostlyOftener*grown
}

// beside tells of both sides what they ask; nothing where none of them asks.
func (a asks) beside(b asks) []cause.Evidence {
	if a.count == 0 && b.count == 0 {
		return nil
	}
	return []cause.Evidence{
		{Signal: "requests", Unit: "requests/request", Text: "requests of its own to other services", A: a.count, B: b.count},
		{Signal: "requests", Unit: "ms", Text: "time of one of these", A: a.each * 1e3, B: b.each * 1e3},
	}
}
