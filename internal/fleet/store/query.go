package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Span is a time, in seconds since 1970, its end left out.
type Span struct{ From, Until int64 }

// Use is what a service did on one host, at one version and with one set of labels, in a span.
type Use struct {
	Host, Version, Cgroup string
	Labels                map[string]string
	CPUNs, LengthNs       int64
	// Requests and LatencyNs are of the windows in which requests were seen, and SeenCPUNs and SeenNs their CPU time and
	// length.
	Requests, LatencyNs int64
	SeenCPUNs, SeenNs   int64
	Windows             int64
	Start               int64 // of the first window
}

const useColumns = `sum(cpu_ns), sum(length_ns), sum(CASE WHEN requests > 0 THEN requests ELSE 0 END),
sum(CASE WHEN requests > 0 AND latency_ns > 0 THEN latency_ns ELSE 0 END),
sum(CASE WHEN requests > 0 THEN cpu_ns ELSE 0 END),
sum(CASE WHEN requests > 0 THEN length_ns ELSE 0 END), count(*), min(start_s)`

const ofService = ` FROM services WHERE service = ? AND start_s >= ? AND start_s < ?
AND attempt NOT IN (SELECT attempt FROM aborted)`

func (u *Use) fields() []any {
	return []any{&u.CPUNs, &u.LengthNs, &u.Requests, &u.LatencyNs, &u.SeenCPUNs, &u.SeenNs, &u.Windows, &u.Start}
}

// Hosts are the uses of all hosts in the span.
func (s *Store) Hosts(ctx context.Context, service string, span Span) ([]Use, error) {
	found, err := s.engine.Query(ctx, "SELECT host, version, labels, max(cgroup), "+useColumns+ofService+
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

// Hour is a use in one hour, which Start is the second of.
type Hour struct{ Use }

// Hours are the uses by hour.
func (s *Store) Hours(ctx context.Context, service string, span Span) ([]Hour, error) {
	found, err := s.engine.Query(ctx, "SELECT host, version, start_s - start_s % 3600 AS hour, "+useColumns+ofService+
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
func (s *Store) Lives(ctx context.Context, service string, span Span) ([]Life, error) {
	found, err := s.engine.Query(ctx, "SELECT host, process, started_s, "+useColumns+ofService+
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
func (s *Store) Metric(ctx context.Context, service, name string, span Span) ([]Amount, error) {
	found, err := s.engine.Query(ctx, "SELECT host, sum(value) FROM metrics WHERE service = ? AND name = ?"+
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

// HostFact is a fact as it was on a host from a second on; an empty value: from then on it had none.
type HostFact struct{ Host, Name, Value string }

// Facts are those in which hosts differ, as they were last before the end of the span.
func (s *Store) Facts(ctx context.Context, until int64) ([]HostFact, error) {
	found, err := s.engine.Query(ctx, `SELECT host, name, value FROM facts WHERE since_s < ? AND name IN (SELECT name FROM
(SELECT name, count(DISTINCT value) AS different, count(DISTINCT host) AS hosts FROM facts GROUP BY name) AS of_names
WHERE different > 1 OR hosts < (SELECT count(DISTINCT host) FROM facts)) ORDER BY host, name, since_s, value`, until)
	if err != nil {
		return nil, fmt.Errorf("ask for facts: %w", err)
	}
	all, err := collect(found, func(scan func(...any) error) (HostFact, error) {
		var f HostFact
		return f, scan(&f.Host, &f.Name, &f.Value)
	})
	if err != nil {
		return nil, err
	}
	last := all[:0]
	for i, fact := range all {
		if i+1 < len(all) && all[i+1].Host == fact.Host && all[i+1].Name == fact.Name {
			continue
		}
		last = append(last, fact)
	}
	return last, nil
}

// FrameUse is what one function of one module took on a host, of one signal.
type FrameUse struct {
	Host, Version, Name, Module string
	TotalNs, SelfNs             int64
}

// Frames are those that took at least a share of the service's time of the signal on all hosts together.
func (s *Store) Frames(ctx context.Context, service, signal string, span Span, share float64) ([]FrameUse, error) {
	const inSpan = ` FROM samples WHERE service = ? AND signal = ? AND start_s >= ? AND start_s < ?
AND attempt NOT IN (SELECT attempt FROM aborted)`
	text := `SELECT s.host, s.version, f.name, f.module, sum(s.value_ns), sum(s.value_ns * f.leaf) FROM
(SELECT host, version, stack, sum(value_ns) AS value_ns` + inSpan + ` GROUP BY host, version, stack) AS s JOIN
(SELECT sf.stack AS stack, fr.name AS name, fr.module AS module, max(sf.leaf) AS leaf FROM stack_frames AS sf
JOIN frames AS fr ON sf.frame = fr.id GROUP BY sf.stack, fr.name, fr.module) AS f ON s.stack = f.stack
GROUP BY s.host, s.version, f.name, f.module ORDER BY s.host, s.version, f.name, f.module`
	found, err := s.engine.Query(ctx, text, service, signal, span.From, span.Until)
	if err != nil {
		return nil, fmt.Errorf("ask for frames: %w", err)
	}
	all, err := collect(found, func(scan func(...any) error) (FrameUse, error) {
		var f FrameUse
		return f, scan(&f.Host, &f.Version, &f.Name, &f.Module, &f.TotalNs, &f.SelfNs)
	})
	if err != nil {
		return nil, err
	}
	type place struct{ name, module string }
	sums, most := map[place]float64{}, 0.0
	for _, f := range all {
		at := place{f.Name, f.Module}
		sums[at] += float64(f.TotalNs)
		most = max(most, sums[at])
	}
	kept := all[:0]
	for _, f := range all {
		if sums[place{f.Name, f.Module}] >= share*most {
			kept = append(kept, f)
		}
	}
	return kept, nil
}

// Kept is a window whose file can be looked at.
type Kept struct {
	Content, Kind string
	Start         int64
	File          string
}

// Windows are the files of a service's host, full ones first and then the latest, at most so many.
func (s *Store) Windows(ctx context.Context, service, host string, span Span, most int) ([]Kept, error) {
	found, err := s.engine.Query(ctx, `SELECT w.content, w.kind, w.start_s FROM windows AS w
JOIN (SELECT number`+ofService+` AND host = ?) AS s ON w.number = s.number ORDER BY w.kind, w.start_s DESC, w.content`,
		service, span.From, span.Until, host)
	if err != nil {
		return nil, fmt.Errorf("ask for windows: %w", err)
	}
	all, err := collect(found, func(scan func(...any) error) (Kept, error) {
		var k Kept
		err := scan(&k.Content, &k.Kind, &k.Start)
		k.File = s.file(time.Unix(k.Start, 0), k.Content) + ".culprit"
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
func (s *Store) Services(ctx context.Context) ([]Service, error) {
	found, err := s.engine.Query(ctx, `SELECT service, count(DISTINCT host), count(*), min(start_s), max(start_s)
FROM services WHERE attempt NOT IN (SELECT attempt FROM aborted) GROUP BY service ORDER BY service`)
	if err != nil {
		return nil, fmt.Errorf("ask for services: %w", err)
	}
	return collect(found, func(scan func(...any) error) (Service, error) {
		var v Service
		return v, scan(&v.Name, &v.Hosts, &v.Windows, &v.First, &v.Last)
	})
}

// FactChange is how many hosts a fact became a value on.
type FactChange struct {
	Name, Value string
	Hosts       int64
}

// FactsChanged are those that changed on hosts in the span, the most first. What a host had when it came is no change.
func (s *Store) FactsChanged(ctx context.Context, span Span) ([]FactChange, error) {
	found, err := s.engine.Query(ctx, `SELECT f.name, f.value, count(DISTINCT f.host) AS hosts FROM facts AS f JOIN
(SELECT host, min(since_s) AS first FROM facts GROUP BY host) AS h ON f.host = h.host
WHERE f.since_s >= ? AND f.since_s < ? AND f.since_s > h.first GROUP BY f.name, f.value
ORDER BY hosts DESC, f.name, f.value LIMIT 100`, span.From, span.Until)
	if err != nil {
		return nil, fmt.Errorf("ask for changed facts: %w", err)
	}
	return collect(found, func(scan func(...any) error) (FactChange, error) {
		var f FactChange
		return f, scan(&f.Name, &f.Value, &f.Hosts)
	})
}
