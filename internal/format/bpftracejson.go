package format

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// readJSON reads the documents of -f json, one after the other.
func (b *bpftrace) readJSON(input io.Reader) error {
	bounded := &io.LimitedReader{R: input, N: maxPprof}
	for in := json.NewDecoder(bounded); ; {
		var document struct {
			Type string
			Data json.RawMessage
		}
		err := in.Decode(&document)
		switch {
		case bounded.N <= 0:
			return fmt.Errorf("over %d MiB of JSON, more than is read; without -f json there is no such limit", maxPprof>>20)
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return errors.New("the JSON is cut off")
		case err != nil:
			return fmt.Errorf("damaged JSON: %w", err)
		}
		var named map[string]json.RawMessage
		switch document.Type {
		case "map", "hist", "stats":
			if err := json.Unmarshal(document.Data, &named); err != nil {
				return fmt.Errorf("damaged JSON: %w", err)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(named)) {
			if _, _, ok := bpfHead([]byte(name + ": ")); ok {
				b.jsonMap(name, named[name])
			}
		}
	}
}

// jsonMap reads one map: a number, a histogram, or an object of either by key.
func (b *bpftrace) jsonMap(name string, text json.RawMessage) {
	var keyed map[string]json.RawMessage
	if !b.jsonValue(b.whole(name, ""), text) {
		if json.Unmarshal(text, &keyed) != nil {
			b.bad++
			return
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keyed)) {
		if !b.jsonValue(b.whole(name, key), keyed[key]) {
			b.bad++
		}
	}
}

// whole is an entry with its key, in which a stack stands on lines of its own.
func (b *bpftrace) whole(name, key string) *bpfEntry {
	entry := b.begin([]byte(name))
	for line := range strings.Lines(key) {
		if line = strings.TrimRight(line, "\n"); isBpfFrame([]byte(line)) {
			entry.frame([]byte(line))
		} else {
			entry.key(line)
		}
	}
	return entry
}

// jsonValue reads a number, statistics or the buckets of a histogram.
func (b *bpftrace) jsonValue(entry *bpfEntry, text json.RawMessage) bool {
	var number int64
	if json.Unmarshal(text, &number) == nil {
		b.place(entry)
		b.add(entry, "", number)
		return true
	}
	var stats struct{ Count, Average, Total *int64 }
	if json.Unmarshal(text, &stats) == nil && stats.Count != nil && stats.Total != nil {
		b.place(entry)
		b.add(entry, " count", *stats.Count)
		b.add(entry, " total", *stats.Total)
		return true
	}
	var buckets []struct{ Min, Max, Count *int64 }
	if json.Unmarshal(text, &buckets) != nil {
		return false
	}
	b.place(entry)
	for _, one := range buckets {
		if one.Count == nil {
			b.bad++
			continue
		}
		b.between(entry, bucketName(one.Min, one.Max), *one.Count)
	}
	return true
}

// bucketName writes a bucket of whole numbers as the text form does.
func bucketName(from, to *int64) string {
	switch {
	case from == nil && to == nil:
		return "[...]"
	case from == nil:
		return fmt.Sprintf("(..., %d]", *to)
	case to == nil:
		return fmt.Sprintf("[%d, ...)", *from)
	case *from == *to:
		return fmt.Sprintf("[%d]", *from)
	}
	return fmt.Sprintf("[%d, %d]", *from, *to)
}
