package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// FrameUse is what one function of one module took on a host, of one signal.
type FrameUse struct {
	Host, Version, Name, Module string
	TotalNs, SelfNs             int64
}

const (
	// mostStacks is how many rows of samples a question reads. A day of 500 hosts has a hundred times as many: parts of
	// it that lie evenly tell the same, since hosts differ by more than what samples scatter.
	mostStacks = 3_000_000
	// parts are how many a long time is read in, of a minute at least: windows begin with a minute.
	parts  = 48
	minute = 60
	// idsAtOnce is how many ids one query lists.
	idsAtOnce = 5000
	byFrame   = ` JOIN (SELECT stack, frame, max(leaf) AS leaf FROM stack_frames `
	onStack   = ` GROUP BY stack, frame) AS of_stack USING (stack) `
)

// Frames are those that took at least a share of what the largest took, of a signal of the service on all hosts
// together. Where there is too much to read, parts of the time stand for all of it, which Thinned says.
func (a *Asking) Frames(ctx context.Context, service, signal string, span Span, share float64) ([]FrameUse, error) {
	when, factors, err := a.thin(ctx, service, span)
	if err != nil {
		return nil, fmt.Errorf("ask for frames: %w", err)
	}
	where := ` FROM samples WHERE service = ? AND signal = ? AND ` + when.text +
		` AND attempt NOT IN (SELECT attempt FROM aborted) GROUP BY `
	arguments := append([]any{service, signal}, when.arguments...)
	large, err := a.largeFrames(ctx, where, arguments, share)
	if err != nil {
		return nil, fmt.Errorf("ask for frames: %w", err)
	}
	names, err := a.frameNames(ctx, large)
	if err != nil {
		return nil, fmt.Errorf("ask for frames: %w", err)
	}
	type key struct{ host, version, name, module string }
	sums := map[key]*FrameUse{}
	for part := range slices.Chunk(large, idsAtOnce) {
		found, err := a.query(ctx, `SELECT host, version, frame, sum(value_ns), sum(value_ns * leaf) FROM
(SELECT host, version, stack, sum(value_ns) AS value_ns`+where+`host, version, stack) AS used`+byFrame+
			`WHERE frame IN (`+places(len(part))+`)`+onStack+`GROUP BY host, version, frame`,
			append(slices.Clone(arguments), part...)...)
		if err != nil {
			return nil, fmt.Errorf("ask for frames: %w", err)
		}
		if _, err := collect(found, func(scan func(...any) error) (struct{}, error) {
			var use FrameUse
			var frame int64
			err := scan(&use.Host, &use.Version, &frame, &use.TotalNs, &use.SelfNs)
			use.Name, use.Module = names[frame].Name, names[frame].Module
			factor := factors.of(use.Host, use.Version)
			at := key{use.Host, use.Version, use.Name, use.Module}
			if sums[at] == nil {
				sums[at] = &FrameUse{Host: use.Host, Version: use.Version, Name: use.Name, Module: use.Module}
			}
			sums[at].TotalNs += int64(factor * float64(use.TotalNs))
			sums[at].SelfNs += int64(factor * float64(use.SelfNs))
			return struct{}{}, err
		}); err != nil {
			return nil, fmt.Errorf("ask for frames: %w", err)
		}
	}
	uses := make([]FrameUse, 0, len(sums))
	for _, use := range sums {
		uses = append(uses, *use)
	}
	slices.SortFunc(uses, func(x, y FrameUse) int {
		return cmp.Or(cmp.Compare(x.Host, y.Host), cmp.Compare(x.Version, y.Version), cmp.Compare(x.Name, y.Name),
			cmp.Compare(x.Module, y.Module))
	})
	return uses, nil
}

// Thinned says which part of the time Frames read, "" for all of it.
func (a *Asking) Thinned() string { return a.thinned }

// largeFrames are the ids of those that took at least that share of the largest one's time.
func (a *Asking) largeFrames(ctx context.Context, where string, arguments []any,
	share float64) (large []any, err error) {
	found, err := a.query(ctx, `SELECT frame, sum(value_ns) AS total FROM (SELECT stack, sum(value_ns) AS value_ns`+where+
		`stack) AS used`+byFrame+onStack+`GROUP BY frame ORDER BY total DESC, frame`, arguments...)
	if err != nil {
		return nil, err
	}
	most := int64(0)
	_, err = collect(found, func(scan func(...any) error) (struct{}, error) {
		var frame, total int64
		err := scan(&frame, &total)
		if most = max(most, total); total > 0 && float64(total) >= share*float64(most) {
			large = append(large, frame)
		}
		return struct{}{}, err
	})
	return large, err
}

type frameName struct{ Name, Module string }

func (a *Asking) frameNames(ctx context.Context, ids []any) (map[int64]frameName, error) {
	names := map[int64]frameName{}
	for part := range slices.Chunk(ids, idsAtOnce) {
		found, err := a.query(ctx, `SELECT DISTINCT id, name, module FROM frames WHERE id IN (`+places(len(part))+`)`,
			part...)
		if err != nil {
			return nil, err
		}
		if _, err := collect(found, func(scan func(...any) error) (struct{}, error) {
			var id int64
			var name frameName
			err := scan(&id, &name.Name, &name.Module)
			names[id] = name
			return struct{}{}, err
		}); err != nil {
			return nil, err
		}
	}
	return names, nil
}

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
