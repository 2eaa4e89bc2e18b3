package count

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Endpoint shows sums since the begin to Prometheus, in its text format, at /metrics.
type Endpoint struct {
	listener net.Listener
	server   *http.Server
	token    string

	mutex   sync.Mutex
	by      string
	events  []string
	sums    map[string]map[string]Number // by key and event
	last    map[string]map[string]Derived
	lost    map[string]int64
	seconds float64
	dropped int64
}

// maxSeries bounds how many keys are shown: whoever makes processes or cgroups must not fill
// somebody's database.
const maxSeries = 5000

// Listen opens an endpoint. Beyond the loopback device whoever asks has to know a token: counts of
// others are nobody's business.
func Listen(address, token string) (*Endpoint, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("--listen %s: give an address and a port, such as 127.0.0.1:9101", address)
	}
	if !loopback(host) && token == "" {
		return nil, fmt.Errorf("--listen %s is reached from other hosts; give --token-file FILE, "+
			"or listen on 127.0.0.1", address)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--listen %s: %w", address, err)
	}
	e := &Endpoint{listener: listener, token: token, sums: map[string]map[string]Number{}}
	e.server = &http.Server{Handler: e, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second}
	go func() { _ = e.server.Serve(listener) }() // it ends with Close
	return e, nil
}

// loopback tells whether only this host reaches an address.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	address := net.ParseIP(host)
	return address != nil && address.IsLoopback()
}

// Address is where it listens.
func (e *Endpoint) Address() string { return e.listener.Addr().String() }

// Add adds an interval.
func (e *Endpoint) Add(interval *Interval) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.by, e.events, e.lost = interval.By, interval.Events, interval.Lost
	e.last = map[string]map[string]Derived{}
	e.seconds += interval.Seconds
	for _, row := range interval.Rows {
		sums := e.sums[row.Key]
		if sums == nil {
			if len(e.sums) >= maxSeries {
				e.dropped++
				continue
			}
			sums = map[string]Number{}
			e.sums[row.Key] = sums
		}
		for name, count := range row.Counts {
			sum := sums[name]
			sum.Scope, sum.Asleep = count.Scope, count.Asleep
			sum.Value, sum.Enabled, sum.Running = sum.Value+count.Value, sum.Enabled+count.Enabled, sum.Running+count.Running
			sums[name] = sum
		}
		e.last[row.Key] = row.Derived
	}
}

// ServeHTTP answers GET /metrics.
func (e *Endpoint) ServeHTTP(out http.ResponseWriter, request *http.Request) {
	given := strings.TrimPrefix(request.Header.Get("Authorization"), "Bearer ")
	host, _, err := net.SplitHostPort(request.Host)
	if err != nil {
		host = request.Host
	}
	switch {
	case e.token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(e.token)) != 1:
		http.Error(out, "the token is missing or wrong", http.StatusUnauthorized)
	case e.token == "" && !loopback(strings.Trim(host, "[]")):
		// A page of another site whose name was pointed at this host.
		http.Error(out, "this is not "+e.Address(), http.StatusForbidden)
	case request.Header.Get("Origin") != "":
		http.Error(out, "pages of other sites get nothing", http.StatusForbidden)
	case request.URL.Path != "/metrics":
		http.NotFound(out, request)
	case request.Method != http.MethodGet && request.Method != http.MethodHead:
		http.Error(out, "only GET", http.StatusMethodNotAllowed)
	default:
		out.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		e.mutex.Lock()
		defer e.mutex.Unlock()
		e.write(out)
	}
}

// write writes what is there; who asked and went away gets nothing.
func (e *Endpoint) write(out io.Writer) {
	head := func(name, kind, help string) {
		fmt.Fprintf(out, "# HELP culprit_count_%s %s\n# TYPE culprit_count_%s %s\n", name, help, name, kind)
	}
	keys := slices.Sorted(maps.Keys(e.sums))
	families := []struct {
		name, help string
		value      func(Number) float64
	}{
		{"total", "What an event came to since the begin; estimated where it counted part of the time.",
			func(n Number) float64 { return n.Value }},
		{"enabled_seconds_total", "Time in which it was to be counted.", func(n Number) float64 { return n.Enabled }},
		{"running_seconds_total", "Time in which a counter did count it.", func(n Number) float64 { return n.Running }},
	}
	for _, family := range families {
		head(family.name, "counter", family.help)
		for _, key := range keys {
			for _, event := range e.events {
				if sum, found := e.sums[key][event]; found {
					fmt.Fprintf(out, "culprit_count_%s{by=%q,key=\"%s\",event=\"%s\",scope=%q,asleep=%q} %s\n", family.name,
						e.by, label(key), label(event), sum.Scope, sum.Asleep, number(family.value(sum)))
				}
			}
		}
	}
	head("ratio", "gauge", "A derived number of the last interval.")
	for _, key := range slices.Sorted(maps.Keys(e.last)) {
		for _, name := range slices.Sorted(maps.Keys(e.last[key])) {
			fmt.Fprintf(out, "culprit_count_ratio{by=%q,key=\"%s\",name=\"%s\"} %s\n", e.by, label(key), label(name),
				number(e.last[key][name].Value))
		}
	}
	head("seconds_total", "counter", "How long has been counted.")
	fmt.Fprintf(out, "culprit_count_seconds_total %s\n", number(e.seconds))
	head("lost_total", "counter", "What could not be booked, by place.")
	for _, what := range slices.Sorted(maps.Keys(e.lost)) {
		fmt.Fprintf(out, "culprit_count_lost_total{what=\"%s\"} %d\n", label(what), e.lost[what])
	}
	fmt.Fprintf(out, "culprit_count_lost_total{what=\"rows over the limit of this page\"} %d\n", e.dropped)
}

// label escapes a value as the format wants it.
func label(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text)
}

// Close ends it.
func (e *Endpoint) Close() error {
	err := e.server.Shutdown(context.Background())
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
