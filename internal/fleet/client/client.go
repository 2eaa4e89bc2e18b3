// Package client puts a question to a store: to a hub over HTTP, or to a directory or a cluster by
// a child "culprit-hub ask", since the embedded store needs cgo and culprit is static.
//
//	answer, err := client.Where{Store: "/var/lib/culprit-hub"}.Ask(ctx, request)
//
// It refuses hubs that are neither https nor on loopback, answers above a limit, and says where
// culprit-hub was looked for when there is none.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/window"
)

// Where is a store: of a hub, with a token to read, in a directory, or on a ClickHouse cluster that
// a hub fills.
type Where struct {
	Hub, Token    string
	Store, Tenant string
	most          int // bytes of an answer, for tests; 0: maxAnswer
}

const (
	maxAnswer  = 64 << 20
	maxRefusal = 64 << 10
	patience   = 3 * time.Minute
	program    = "culprit-hub"
	// cluster begins the DSN of a ClickHouse cluster.
	cluster = "clickhouse://"
)

// Ask puts a question.
func (w Where) Ask(ctx context.Context, request ask.Request) (*ask.Answer, error) {
	return w.Telling(ctx, request, func(string) {})
}

// Check refuses what is no store, or two.
func (w Where) Check() error {
	switch {
	case w.Hub != "" && w.Store != "":
		return errors.New("--hub and --store are two places: give one")
	case w.Hub == "" && w.Store == "":
		return errors.New("say where the windows are: --store DIR, or --hub URL with its token in --token-file")
	case w.Hub != "":
		_, err := w.address()
		return err
	}
	return nil
}

// isCluster: the rows are asked of the servers, with a DSN that may hold a password.
func (w Where) isCluster() bool { return strings.HasPrefix(w.Store, cluster) }

// Words say whose windows these are, without what is secret; empty: nobody's.
func (w Where) Words() string {
	switch {
	case w.Hub != "":
		if address, err := url.Parse(w.Hub); err == nil {
			return "hub " + address.Host
		}
		return "a hub"
	case w.isCluster():
		servers := strings.TrimPrefix(w.Store, cluster)
		servers = servers[strings.LastIndexByte(servers, '@')+1:] // behind user and password, whatever is in them
		return "cluster " + servers[:max(0, strings.IndexAny(servers+"/", "/?"))]
	case w.Store != "":
		return "store " + w.Store
	}
	return ""
}

// IsDirectory tells a store that lies on this host.
func (w Where) IsDirectory() bool { return w.Store != "" && !w.isCluster() }

// Telling puts a question and tells what is done to answer it, in words, while it is.
func (w Where) Telling(ctx context.Context, request ask.Request, tell func(stage string)) (*ask.Answer, error) {
	if err := w.Check(); err != nil {
		return nil, err
	}
	question, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("ask: %w", err)
	}
	if w.Hub != "" {
		return w.askHub(ctx, question, tell)
	}
	return w.askChild(ctx, question, tell)
}

// linesSeconds is how long agents record with cache lines: enough for some hundred samples of a
// line that two threads write, and a small part of an hour.
const linesSeconds = 60

// AskForLines has the agents of some hosts record a full window with cache lines: what no fact
// explains may be the layout of memory.
func (w Where) AskForLines(ctx context.Context, service string, hosts []string) error {
	if w.Hub == "" {
		return errors.New("agents are asked by their hub: give --hub URL")
	}
	text, err := json.Marshal(window.AskRequest{Service: service, Hosts: hosts, Seconds: linesSeconds, Lines: true,
		Why: "two bands"})
	if err != nil {
		return fmt.Errorf("ask agents: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := w.send(ctx, http.MethodPost, "/v1/asks", bytes.NewReader(text), "application/json")
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

func (w Where) askHub(ctx context.Context, question []byte, tell func(string)) (*ask.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := w.send(ctx, http.MethodPost, "/v1/ask", bytes.NewReader(question), ask.LinesType+", application/json")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body := w.bounded(answer.Body)
	if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); kind == ask.LinesType {
		found, err := readLines(body, tell)
		if err != nil {
			return nil, fmt.Errorf("hub: %w", err)
		}
		return w.fetched(found), nil
	}
	found := &ask.Answer{} // a hub that tells no stages
	if err := json.NewDecoder(body).Decode(found); err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	return w.fetched(found), nil
}

// address is the hub's, where a token may be sent to it.
func (w Where) address() (*url.URL, error) {
	address, err := url.Parse(w.Hub)
	if err != nil || address.Host == "" || address.User != nil {
		return nil, fmt.Errorf("hub %q is no address: https://hub.example:8430", w.Hub)
	}
	if address.Scheme != "https" && !(address.Scheme == "http" && isLoopback(address.Hostname())) {
		return nil, fmt.Errorf("hub %s: a token is sent over https only (http on loopback)", w.Hub)
	}
	return address, nil
}

// noRedirects: the token is the hub's alone.
var noRedirects = http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// send asks the hub and returns its answer, whose body the caller closes, or its refusal. The path
// may have a query.
func (w Where) send(ctx context.Context, method, path string, body io.Reader, accept string) (*http.Response, error) {
	address, err := w.address()
	if err != nil {
		return nil, err
	}
	path, query, _ := strings.Cut(path, "?")
	to := address.JoinPath(path)
	to.RawQuery = query
	request, err := http.NewRequestWithContext(ctx, method, to.String(), body)
	if err != nil {
		return nil, fmt.Errorf("ask hub: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+w.Token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", accept)
	answer, err := noRedirects.Do(request)
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err // without the address, which is told here
	}
	if err != nil {
		return nil, fmt.Errorf("hub %s does not answer: %w", w.Hub, err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, maxRefusal)) // what came of it
	var refusal window.Refusal
	if json.Unmarshal(text, &refusal) != nil || refusal.Error == "" {
		refusal.Error = answer.Status
	}
	return nil, fmt.Errorf("hub: %s", refusal.Error)
}

// readLines reads stages up to the answer.
func readLines(from io.Reader, tell func(string)) (*ask.Answer, error) {
	decoder := json.NewDecoder(from)
	for {
		var line ask.Line
		err := decoder.Decode(&line)
		switch {
		case errors.Is(err, io.EOF):
			return nil, errors.New("the answer broke off")
		case err != nil:
			return nil, fmt.Errorf("read answer: %w", err)
		case line.Error != "":
			return nil, errors.New(line.Error)
		case line.Answer != nil:
			return line.Answer, nil
		case line.Stage != "":
			tell(line.Stage)
		}
	}
}

// bounded fails where more comes than an answer may have.
type bounded struct {
	from io.Reader
	left int
}

func (w Where) bounded(from io.Reader) *bounded {
	return &bounded{from: from, left: cmp.Or(w.most, maxAnswer)}
}

// Read reads on.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errors.New("more bytes came than an answer may have")
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

func isLoopback(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}
