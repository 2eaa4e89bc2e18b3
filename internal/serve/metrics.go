package serve

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// metrics counts what the server does. Names begin with culprit_serve_.
type metrics struct {
	mutex    sync.Mutex
	requests map[string]int64 // by status
	refused  map[string]int64 // by why
	children map[string]int64 // by how they ended
	childS   float64
	uploaded int64
	asked    map[string]int64 // questions to a fleet, by how they ended
	askedS   float64
}

func newMetrics() *metrics {
	return &metrics{requests: map[string]int64{}, refused: map[string]int64{}, children: map[string]int64{},
		asked: map[string]int64{}}
}

func (m *metrics) refuse(why string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.refused[why]++
}

func (m *metrics) answered(status int) {
	if status == 0 {
		status = http.StatusOK
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.requests[fmt.Sprint(status)]++
}

func (m *metrics) child(how string, took time.Duration) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.children[how]++
	m.childS += took.Seconds()
}

func (m *metrics) question(done bool, took time.Duration) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	how := "done"
	if !done {
		how = "failed"
	}
	m.asked[how]++
	m.askedS += took.Seconds()
}

func (m *metrics) upload(bytes int64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.uploaded += bytes
}

// showMetrics answers in the text format of Prometheus.
func (s *server) showMetrics(w http.ResponseWriter, _ *http.Request) {
	var out strings.Builder
	kinds := map[string]int64{}
	for _, entry := range s.library.list().Entries {
		kinds[entry.Kind]++
	}
	m := s.metrics
	m.mutex.Lock()
	counter(&out, "requests_total", "Requests answered, by status.", "counter", "status", m.requests)
	counter(&out, "refused_total", "Requests and connections refused, by why.", "counter", "why", m.refused)
	counter(&out, "children_total", "Processes that judged, recorded or ran trials, by how they ended.", "counter",
		"end", m.children)
	value(&out, "children_seconds_total", "How long they ran.", "counter", m.childS)
	value(&out, "uploaded_bytes_total", "Bytes taken in by upload.", "counter", float64(m.uploaded))
	counter(&out, "questions_total", "Questions to a fleet, by how they ended.", "counter", "end", m.asked)
	value(&out, "questions_seconds_total", "How long they took.", "counter", m.askedS)
	m.mutex.Unlock()
	value(&out, "questions_waiting", "Questions to a fleet that wait or are being answered.", "gauge",
		float64(s.fleet.waiting.Load()))
	counter(&out, "entries", "Entries of the library, by kind.", "gauge", "kind", kinds)
	counter(&out, "jobs", "Jobs that are remembered, by state.", "gauge", "state", s.jobs.states())
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err == nil {
		seconds := float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
		value(&out, "cpu_seconds_total", "CPU time of the server itself.", "counter", seconds)
		value(&out, "resident_bytes_max", "Most memory that the server itself had.", "gauge", float64(used.Maxrss)*1024)
	}
	value(&out, "uptime_seconds", "Since the server was started.", "gauge", time.Since(s.started).Seconds())
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(out.String())) // who asked may have gone
}

func counter(out *strings.Builder, name, help, kind, label string, values map[string]int64) {
	fmt.Fprintf(out, "# HELP culprit_serve_%s %s\n# TYPE culprit_serve_%s %s\n", name, help, name, kind)
	var keys []string
	for key := range values {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		fmt.Fprintf(out, "culprit_serve_%s{%s=%q} %d\n", name, label, key, values[key])
	}
}

func value(out *strings.Builder, name, help, kind string, v float64) {
	fmt.Fprintf(out, "# HELP culprit_serve_%s %s\n# TYPE culprit_serve_%s %s\nculprit_serve_%s %g\n", name, help, name,
		kind, name, v)
}
