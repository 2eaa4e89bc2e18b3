package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// HostFact is a fact as it was on a host from a second on; an empty value: from then on it had
// none.
type HostFact struct{ Host, Name, Value string }

// atOnce is how many names or ids one query lists: ClickHouse takes 256 KB of text.
const atOnce = 200

// Facts are those in which hosts differ, as they were last before the end of the span.
func (a *Asking) Facts(ctx context.Context, until int64) ([]HostFact, error) {
	names, err := a.differing(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask for facts: %w", err)
	}
	return a.lastFacts(ctx, names, until)
}

// Fact is one of a name on all hosts that had it, as it was last before the end of the span.
func (a *Asking) Fact(ctx context.Context, name string, until int64) ([]HostFact, error) {
	return a.lastFacts(ctx, []any{name}, until)
}

// lastFacts are those of the names, by host and name.
func (a *Asking) lastFacts(ctx context.Context, names []any, until int64) ([]HostFact, error) {
	type dated struct {
		HostFact
		since int64
	}
	var all []dated
	for part := range slices.Chunk(names, atOnce) {
		found, err := a.query(ctx, `SELECT host, name, value, since_s FROM facts WHERE since_s < ?
AND attempt NOT IN (SELECT attempt FROM aborted) AND name IN (`+places(len(part))+`)`,
			append([]any{until}, part...)...)
		if err != nil {
			return nil, fmt.Errorf("ask for facts: %w", err)
		}
		some, err := collect(found, func(scan func(...any) error) (dated, error) {
			var f dated
			return f, scan(&f.Host, &f.Name, &f.Value, &f.since)
		})
		if err != nil {
			return nil, fmt.Errorf("ask for facts: %w", err)
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b dated) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Name, b.Name), cmp.Compare(a.since, b.since),
			cmp.Compare(a.Value, b.Value))
	})
	var last []HostFact
	for i, fact := range all {
		if i+1 == len(all) || all[i+1].Host != fact.Host || all[i+1].Name != fact.Name {
			last = append(last, fact.HostFact)
		}
	}
	return last, nil
}

// places are the question marks for a list.
func places(count int) string { return strings.TrimSuffix(strings.Repeat("?, ", count), ", ") }

// differing are the names of facts that have several values, or that some hosts lack.
func (a *Asking) differing(ctx context.Context) (names []any, err error) {
	const live = " FROM facts WHERE attempt NOT IN (SELECT attempt FROM aborted)"
	found, err := a.query(ctx, "SELECT count(DISTINCT host)"+live)
	if err != nil {
		return nil, err
	}
	hosts := int64(0)
	if _, err := collect(found, func(scan func(...any) error) (struct{}, error) {
		return struct{}{}, scan(&hosts)
	}); err != nil {
		return nil, err
	}
	found, err = a.query(ctx, "SELECT name, count(DISTINCT value), count(DISTINCT host)"+live+
		" GROUP BY name ORDER BY name")
	if err != nil {
		return nil, err
	}
	_, err = collect(found, func(scan func(...any) error) (struct{}, error) {
		var name string
		var values, having int64
		err := scan(&name, &values, &having)
		if values > 1 || having < hosts {
			names = append(names, name)
		}
		return struct{}{}, err
	})
	return names, err
}

// FactChange is how many hosts a fact became a value on.
type FactChange struct {
	Name, Value string
	Hosts       int64
}

// FactsChanged are those that changed on hosts in the span, the most first. What a host had when it
// came is no change.
func (a *Asking) FactsChanged(ctx context.Context, span Span) ([]FactChange, error) {
	found, err := a.query(ctx, `SELECT name, value, count(DISTINCT host) AS hosts FROM facts JOIN
(SELECT host, min(since_s) AS first_s FROM facts WHERE attempt NOT IN (SELECT attempt FROM aborted) GROUP BY host)
AS came USING (host) WHERE since_s >= ? AND since_s < ? AND since_s > first_s
AND attempt NOT IN (SELECT attempt FROM aborted)
GROUP BY name, value ORDER BY hosts DESC, name, value LIMIT 100`, span.From, span.Until)
	if err != nil {
		return nil, fmt.Errorf("ask for changed facts: %w", err)
	}
	return collect(found, func(scan func(...any) error) (FactChange, error) {
		var f FactChange
		return f, scan(&f.Name, &f.Value, &f.Hosts)
	})
}
