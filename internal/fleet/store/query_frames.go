package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
)

// FrameTable is what functions took on each host, of one signal: rows by host and version, columns
// by place, both sorted. It holds numbers alone: a service of 500 hosts has hundreds of thousands
// of them.
type FrameTable struct {
	Places []Place
	Rows   []HostFrames
}

// Place is a function of a module.
type Place struct{ Name, Module string }

// HostFrames is what each place took on a host at one version, with what it calls and in its own
// code.
type HostFrames struct {
	Host, Version   string
	TotalNs, SelfNs []int64
}

const (
	// idsAtOnce is how many ids one query lists.
	idsAtOnce = 5000
	byFrame   = ` JOIN (SELECT stack, frame, max(leaf) AS leaf FROM stack_frames `
	onStack   = ` GROUP BY stack, frame) AS of_stack USING (stack) `
)

// Frames are those that took at least a share of what the largest took, of a signal of the service
// on all hosts together. Where there is too much to read, parts of the time stand for all of it,
// which Thinned says.
func (a *Asking) Frames(ctx context.Context, service, signal string, span Span, share float64) (*FrameTable, error) {
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
	places, err := a.frameNames(ctx, large)
	if err != nil {
		return nil, fmt.Errorf("ask for frames: %w", err)
	}
	table := newFrameTable(places)
	for part := range slices.Chunk(large, idsAtOnce) {
		found, err := a.query(ctx, `SELECT host, version, frame, sum(value_ns), sum(value_ns * leaf) FROM
(SELECT host, version, stack, sum(value_ns) AS value_ns`+where+`host, version, stack) AS used`+byFrame+
			`WHERE frame IN (`+list(part)+`)`+onStack+`GROUP BY host, version, frame`, arguments...)
		if err != nil {
			return nil, fmt.Errorf("ask for frames: %w", err)
		}
		if _, err := collect(found, func(scan func(...any) error) (struct{}, error) {
			return struct{}{}, table.scan(scan, factors)
		}); err != nil {
			return nil, fmt.Errorf("ask for frames: %w", err)
		}
	}
	return table.sorted(), nil
}

// Thinned says which part of the time Frames read, "" for all of it.
func (a *Asking) Thinned() string { return a.thinned }

// largeFrames are the ids of those that took at least that share of the largest one's time.
func (a *Asking) largeFrames(ctx context.Context, where string, arguments []any,
	share float64) (large []int64, err error) {
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

func (a *Asking) frameNames(ctx context.Context, ids []int64) (map[int64]Place, error) {
	names := map[int64]Place{}
	for part := range slices.Chunk(ids, idsAtOnce) {
		found, err := a.query(ctx, `SELECT DISTINCT id, name, module FROM frames WHERE id IN (`+list(part)+`)`)
		if err != nil {
			return nil, err
		}
		if _, err := collect(found, func(scan func(...any) error) (struct{}, error) {
			var id int64
			var name Place
			err := scan(&id, &name.Name, &name.Module)
			names[id] = name
			return struct{}{}, err
		}); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// list is a list of ids for the text of a query: they are numbers of our own, and as arguments of a
// prepared query they take longer to read than the rows that they choose.
func list(ids []int64) string {
	text := make([]byte, 0, 21*len(ids))
	for i, id := range ids {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = strconv.AppendInt(text, id, 10)
	}
	return string(text)
}
