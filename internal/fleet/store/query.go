package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Asking is one question's look at a store: it notes what its answer lacks. One goroutine uses it.
type Asking struct {
	store      *Store
	incomplete []string
	thinned    string
}

// Asking begins a question. What waits now is not in its first queries, whatever is written
// meanwhile.
func (s *Store) Asking() *Asking { return &Asking{store: s, incomplete: s.waiting.words()} }

// Incomplete says what could not be read so far: shards that did not answer, and windows that wait
// for one.
func (a *Asking) Incomplete() []string {
	all := append([]string{}, a.incomplete...)
	for _, words := range a.store.waiting.words() {
		if !slices.Contains(all, words) {
			all = append(all, words)
		}
	}
	return all
}

// query asks all shards.
func (a *Asking) query(ctx context.Context, text string, arguments ...any) (Rows, error) {
	found, missing, err := a.store.engine.Query(ctx, text, arguments...)
	for _, words := range missing {
		if !slices.Contains(a.incomplete, words) {
			a.incomplete = append(a.incomplete, words)
		}
	}
	return found, err
}

// Span is a time, in seconds since 1970, its end left out.
type Span struct{ From, Until int64 }

// Use is what a service did on one host, at one version and with one set of labels, in a span.
type Use struct {
	Host, Version, Cgroup string
	Labels                map[string]string
	CPUNs, LengthNs       int64
	// Requests and LatencyNs are of the windows in which requests were seen, and SeenCPUNs and
	// SeenNs their CPU time and length.
	Requests, LatencyNs int64
	SeenCPUNs, SeenNs   int64
	Windows             int64
	Start, Last         int64 // of the first window, and of the last
}

const useColumns = `sum(cpu_ns), sum(length_ns), sum(CASE WHEN requests > 0 THEN requests ELSE 0 END),
sum(CASE WHEN requests > 0 AND latency_ns > 0 THEN latency_ns ELSE 0 END),
sum(CASE WHEN requests > 0 THEN cpu_ns ELSE 0 END),
sum(CASE WHEN requests > 0 THEN length_ns ELSE 0 END), count(*), min(start_s),
max(start_s)`

const ofService = ` FROM services WHERE service = ? AND start_s >= ? AND start_s < ?
AND attempt NOT IN (SELECT attempt FROM aborted)`

func (u *Use) fields() []any {
	return []any{&u.CPUNs, &u.LengthNs, &u.Requests, &u.LatencyNs, &u.SeenCPUNs, &u.SeenNs, &u.Windows, &u.Start, &u.Last}
}

// Hosts are the uses of all hosts in the span.
func (a *Asking) Hosts(ctx context.Context, service string, span Span) ([]Use, error) {
	found, err := a.query(ctx, "SELECT host, version, labels, max(cgroup), "+useColumns+ofService+
		" GROUP BY host, version, labels ORDER BY host, version, labels", service, span.From, span.Until)
	if err != nil {
		return nil, fmt.Errorf("ask for hosts: %w", err)
	}
	return collect(found, func(scan func(...any) error) (Use, error) {
		var u Use
		var labels string
		if err := scan(append([]any{&u.Host, &u.Version, &labels, &u.Cgroup}, u.fields()...)...); err != nil {
			return u, err
		}
		return u, json.Unmarshal([]byte(labels), &u.Labels)
	})
}

// LastSeen is when the last window began that each host sent of the service, by host.
func (a *Asking) LastSeen(ctx context.Context, service string, span Span) (map[string]int64, error) {
	found, err := a.query(ctx, "SELECT host, max(start_s)"+ofService+" GROUP BY host ORDER BY host", service, span.From,
		span.Until)
	if err != nil {
		return nil, fmt.Errorf("ask for hosts: %w", err)
	}
	seen := map[string]int64{}
	_, err = collect(found, func(scan func(...any) error) (struct{}, error) {
		var host string
		var last int64
		err := scan(&host, &last)
		seen[host] = last
		return struct{}{}, err
	})
	return seen, err
}

// Hour is a use in one hour, which Start is the second of.
type Hour struct{ Use }

// Hours are the uses by hour.
func (a *Asking) Hours(ctx context.Context, service string, span Span) ([]Hour, error) {
	found, err := a.query(ctx, "SELECT host, version, start_s - start_s % 3600 AS hour, "+useColumns+ofService+
		" GROUP BY host, version, hour ORDER BY host, hour, version", service, span.From, span.Until)
	if err != nil {
		return nil, fmt.Errorf("ask for hours: %w", err)
	}
	return collect(found, func(scan func(...any) error) (Hour, error) {
		var h Hour
		var hour int64
		err := scan(append([]any{&h.Host, &h.Version, &hour}, h.fields()...)...)
		h.Start = hour
		return h, err
	})
}

// Life is what one life of the service's process on a host did.
type Life struct {
	Use
	Process   string
	StartedAt int64
}

// Lives are the uses by process.
func (a *Asking) Lives(ctx context.Context, service string, span Span) ([]Life, error) {
	found, err := a.query(ctx, "SELECT host, process, started_s, "+useColumns+ofService+
		" GROUP BY host, process, started_s ORDER BY host, started_s, process", service, span.From, span.Until)
	if err != nil {
		return nil, fmt.Errorf("ask for processes: %w", err)
	}
	return collect(found, func(scan func(...any) error) (Life, error) {
		var l Life
		return l, scan(append([]any{&l.Host, &l.Process, &l.StartedAt}, l.fields()...)...)
	})
}

// Amount is a number of one host.
type Amount struct {
	Host  string
	Value float64
}

// Metric sums a metric of the service by host.
func (a *Asking) Metric(ctx context.Context, service, name string, span Span) ([]Amount, error) {
	found, err := a.query(ctx, "SELECT host, sum(value) FROM metrics WHERE service = ? AND name = ?"+
		" AND start_s >= ? AND start_s < ? AND attempt NOT IN (SELECT attempt FROM aborted) GROUP BY host ORDER BY host",
		service, name, span.From, span.Until)
	if err != nil {
		return nil, fmt.Errorf("ask for a metric: %w", err)
	}
	return collect(found, func(scan func(...any) error) (Amount, error) {
		var a Amount
		return a, scan(&a.Host, &a.Value)
	})
}

// Kept is a window whose file can be looked at.
type Kept struct {
	Content, Kind string
	Start         int64
	File          string
}

// Windows are the files of a service's host, full ones first and then the latest, at most so many.
func (a *Asking) Windows(ctx context.Context, service, host string, span Span, most int) ([]Kept, error) {
	if a.store.directory == "" {
		return nil, nil // its files are elsewhere
	}
	found, err := a.query(ctx, `SELECT content, kind, start_s FROM windows JOIN (SELECT number`+
		ofService+` AND host = ?) AS of_service USING (number) WHERE attempt NOT IN (SELECT attempt FROM aborted) AND host = ?
ORDER BY kind, start_s DESC, content`,
		service, span.From, span.Until, host, host)
	if err != nil {
		return nil, fmt.Errorf("ask for windows: %w", err)
	}
	all, err := collect(found, func(scan func(...any) error) (Kept, error) {
		var k Kept
		err := scan(&k.Content, &k.Kind, &k.Start)
		k.File = a.store.file(time.Unix(k.Start, 0), k.Content) + ".culprit"
		return k, err
	})
	return all[:min(len(all), most)], err
}

// Service is one that the store has windows of.
type Service struct {
	Name    string `json:"service"`
	Hosts   int64  `json:"hosts"`
	Windows int64  `json:"windows"`
	First   int64  `json:"first"`
	Last    int64  `json:"last"`
}

// Services are all.
func (a *Asking) Services(ctx context.Context) ([]Service, error) {
	found, err := a.query(ctx, `SELECT service, count(DISTINCT host), count(*), min(start_s), max(start_s)
FROM services WHERE attempt NOT IN (SELECT attempt FROM aborted) GROUP BY service ORDER BY service`)
	if err != nil {
		return nil, fmt.Errorf("ask for services: %w", err)
	}
	return collect(found, func(scan func(...any) error) (Service, error) {
		var v Service
		return v, scan(&v.Name, &v.Hosts, &v.Windows, &v.First, &v.Last)
	})
}
