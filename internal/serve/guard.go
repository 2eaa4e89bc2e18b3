package serve

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// answerTime is how long an answer may take to be taken; streams set their own.
const answerTime = 10 * time.Minute

// guard stands before every handler: who asks under which name, from which page, and with which
// token.
type guard struct {
	door    *door
	hosts   []string // names beside addresses that the server is called by
	cross   *http.CrossOriginProtection
	metrics *metrics
	next    http.Handler
}

func newGuard(d *door, hosts []string, m *metrics, next http.Handler) *guard {
	return &guard{door: d, hosts: append([]string{"localhost"}, hosts...), cross: http.NewCrossOriginProtection(),
		metrics: m, next: next}
}

// ServeHTTP refuses, or passes on.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	// Not no-referrer: a browser would say that the form of the token comes from nowhere, as a
	// stranger's does.
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	header.Set("Cache-Control", "no-store")
	counted := &counting{ResponseWriter: w}
	defer func() { g.metrics.answered(counted.status) }()
	control := http.NewResponseController(w)
	// A connection that cannot have deadlines is one of a test.
	_ = control.SetWriteDeadline(time.Now().Add(answerTime))
	if why, text := g.stranger(r); why != "" {
		g.metrics.refuse(why)
		fail(counted, r, http.StatusForbidden, text)
		return
	}
	if open := r.URL.Path == loginPath; !open && !g.door.knows(r) {
		g.metrics.refuse("token")
		g.askToken(counted, r)
		return
	}
	g.next.ServeHTTP(counted, r)
}

// stranger says what a request is refused for, as a word for the metrics and as a line for who
// asks.
func (g *guard) stranger(r *http.Request) (why, text string) {
	if !g.named(r.Host) {
		return "host", fmt.Sprintf("this server is not called %q; use its address, or serve with --host", short(r.Host))
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		from, err := url.Parse(origin)
		if err != nil || from.Host != r.Host {
			return "origin", "a page of another server may not ask this one"
		}
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
	default:
		// A link to a page may be followed. Nothing else may come from elsewhere, not even from
		// another port.
		if !reads || r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document" {
			return "origin", "a page of another server may not ask this one"
		}
	}
	if err := g.cross.Check(r); err != nil {
		return "origin", "a page of another server may not ask this one"
	}
	return "", ""
}

// named tells the names that are the server's from those that somebody may have pointed at it: an
// address cannot be pointed elsewhere.
func (g *guard) named(host string) bool {
	name := host
	if without, _, err := net.SplitHostPort(host); err == nil {
		name = without
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return slices.ContainsFunc(g.hosts, func(known string) bool { return strings.EqualFold(known, name) })
}

// askToken sends a reader to the form, and a program away.
func (g *guard) askToken(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Redirect(w, r, loginPath+"?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
		return
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	fail(w, r, http.StatusUnauthorized, "give the token: Authorization: Bearer …")
}

// fail answers with one line: as JSON where a program asked.
func fail(w http.ResponseWriter, r *http.Request, status int, line string) {
	line = strings.Join(strings.Fields(line), " ")
	if strings.HasPrefix(r.URL.Path, "/api/") {
		answer(w, status, map[string]string{"error": line})
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintln(w, line)
}

// answer writes a document as JSON.
func answer(w http.ResponseWriter, status int, document any) {
	text, err := json.Marshal(document)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // who asked may have gone
}

// counting remembers the status of an answer.
type counting struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status.
func (c *counting) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

// Unwrap lets a response controller reach the connection.
func (c *counting) Unwrap() http.ResponseWriter { return c.ResponseWriter }
