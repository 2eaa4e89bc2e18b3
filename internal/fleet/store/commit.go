package store

import (
	"encoding/json"

	"culprit/internal/fleet/rows"
)

// add makes the rows of all tables out of one window's.
func (s *Store) add(batches map[string]*Batch, next *draft, made *rows.Rows) {
	row := func(table string, values ...any) {
		if batches[table] == nil {
			batches[table] = &Batch{Table: table}
		}
		batches[table].Rows = append(batches[table].Rows, values)
	}
	w := made.Window
	number, start := next.number(), w.Start.Unix()
	row("windows", number, next.attempt, w.Content, w.Host, w.Kind, start, w.LengthNs, s.now().Unix(), w.Bytes,
		w.Cost.CPUNs, w.Cost.MemoryBytes, w.Boot, w.Sequence, w.Dropped, made.Kernel, w.Why)
	versions := map[string]string{}
	for _, service := range made.Services {
		versions[service.Name] = service.Version
		labels, _ := json.Marshal(service.Labels) // a map of text
		started := int64(0)
		if !service.Started.IsZero() {
			started = service.Started.Unix()
		}
		row("services", number, next.attempt, w.Host, service.Name, service.Version, string(labels), service.Cgroup, start,
			w.LengthNs, service.CPUNs, orUnknown(service.Requests), orUnknown(service.LatencyNs), service.Process, started,
			service.Samples, service.Stacks)
		for name, value := range service.Metrics {
			row("metrics", next.attempt, w.Host, service.Name, start, name, value)
		}
	}
	for _, sample := range made.Samples {
		row("samples", next.attempt, w.Host, sample.Service, versions[sample.Service], start, sample.Signal, sample.Stack,
			sample.ValueNs, sample.Count)
	}
	for _, frame := range made.Frames {
		if next.newFrame(frame.ID) {
			row("frames", next.of.week, frame.ID, frame.Name, frame.Kind, frame.Module)
		}
	}
	for _, stack := range made.Stacks {
		if !next.newStack(stack.ID) {
			continue
		}
		for _, frame := range stack.Frames {
			leaf := int64(0)
			if frame == stack.Leaf {
				leaf = 1
			}
			row("stack_frames", next.of.week, stack.ID, frame, leaf)
		}
	}
	for _, fact := range next.changed(w.Host, start, made.Facts) {
		row("facts", next.attempt, w.Host, fact.Name, fact.Value, fact.Source, start)
	}
}

func orUnknown(count *int64) int64 {
	if count == nil {
		return -1
	}
	return *count
}
