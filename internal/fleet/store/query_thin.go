package store

import (
	"context"
	"fmt"
	"strings"
)

const (
	// mostStacks is how many rows of samples a question reads. A day of 500 hosts has a hundred
	// times as many: parts of it that lie evenly tell the same, since hosts differ by more than
	// what samples scatter.
	mostStacks = 3_000_000
	// parts are how many a long time is read in, of a minute at least: windows begin with a minute.
	parts  = 48
	minute = 60
)

// condition is a part of a query's text with its arguments.
type condition struct {
	text      string
	arguments []any
}

// factors are what a host's time in the parts that were read is multiplied by.
type factors map[[2]string]float64

func (f factors) of(host, version string) float64 {
	if f == nil {
		return 1
	}
	return f[[2]string{host, version}]
}

// thin chooses the parts of the span that are read.
func (a *Asking) thin(ctx context.Context, service string, span Span) (condition, factors, error) {
	whole := condition{"start_s >= ? AND start_s < ?", []any{span.From, span.Until}}
	found, err := a.query(ctx, "SELECT coalesce(sum(stacks), 0)"+ofService, service, span.From, span.Until)
	if err != nil {
		return whole, nil, err
	}
	stacks := int64(0)
	if _, err := collect(found, func(scan func(...any) error) (struct{}, error) {
		return struct{}{}, scan(&stacks)
	}); err != nil || stacks <= mostStacks {
		return whole, nil, err
	}
	read := float64(mostStacks) / float64(stacks)
	count := max(1, min(parts, int64(read*float64(span.Until-span.From)/minute)))
	period := (span.Until - span.From) / count
	length := max(minute, int64(read*float64(period))/minute*minute)
	some := condition{}
	var texts []string
	for i := range count {
		from := span.From + i*period
		texts = append(texts, "(start_s >= ? AND start_s < ?)")
		some.arguments = append(some.arguments, from, from+length)
	}
	some.text = "(" + strings.Join(texts, " OR ") + ")"
	of, err := a.factors(ctx, service, whole, some)
	a.thinned = fmt.Sprintf("stacks were read of %d times %d of %d minutes: hosts' samples of all of it are %d rows",
		count, length/minute, period/minute, stacks)
	return some, of, err
}

// factors holds the exact CPU time of the span against that of the parts.
func (a *Asking) factors(ctx context.Context, service string, whole, some condition) (factors, error) {
	used := func(when condition) (map[[2]string]float64, error) {
		found, err := a.query(ctx, "SELECT host, version, sum(cpu_ns) FROM services WHERE service = ? AND "+when.text+
			" AND attempt NOT IN (SELECT attempt FROM aborted) GROUP BY host, version",
			append([]any{service}, when.arguments...)...)
		if err != nil {
			return nil, err
		}
		sums := map[[2]string]float64{}
		_, err = collect(found, func(scan func(...any) error) (struct{}, error) {
			var host, version string
			var cpu int64
			err := scan(&host, &version, &cpu)
			sums[[2]string{host, version}] = float64(cpu)
			return struct{}{}, err
		})
		return sums, err
	}
	all, err := used(whole)
	if err != nil {
		return nil, err
	}
	read, err := used(some)
	if err != nil {
		return nil, err
	}
	result := factors{}
	for at, cpu := range read {
		if cpu > 0 {
			result[at] = all[at] / cpu
		}
	}
	return result, nil
}
