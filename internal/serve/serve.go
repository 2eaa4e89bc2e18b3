// Package serve shows the cases, experiments and recordings of a directory in a browser, and starts
// what makes more of them: the same page as a report, over HTTP.
//
// It judges nothing itself. Whatever reads a whole recording, compares, records or runs trials is a
// child process of culprit with limits of its own, so that a hostile file cannot take the server
// down. No path leads out of the directory: files are reached through os.Root alone.
//
// On a loopback address it serves its own user and root; elsewhere it demands a token.
//
//	err := serve.Run(ctx, serve.Options{Dir: ".", Listen: "127.0.0.1:8717", Ready: print})
package serve

//go:generate go test -run TypeScriptTypes -update .

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"culprit/internal/fleet/client"
	"culprit/internal/report"
)

// Options are what a user asks for.
type Options struct {
	Dir       string // its whole path: children are started in it
	Listen    string
	TokenFile string
	TLSCert   string
	TLSKey    string
	Insecure  bool         // a token may go over a network unencrypted
	ReadOnly  bool         // nothing is recorded, run or uploaded
	Hosts     []string     // names beside addresses and localhost that the server is called by
	Fleet     client.Where // whose windows are asked; the zero value: nobody's
	Program   string       // what children are: culprit itself
	Ready     func(address string)
}

// Limits of requests.
const (
	headerTime  = 5 * time.Second
	idleTime    = time.Minute
	headerBytes = 16 << 10
	bodyTime    = 10 * time.Second
	closeTime   = 5 * time.Second // for answers that are on their way when the server stops
)

// server is the state of one Run.
type server struct {
	options  Options
	library  *library
	door     *door
	metrics  *metrics
	pages    *pages
	jobs     *jobs
	uploads  chan struct{}
	fleet    *fleet
	started  time.Time
	front    []byte // the page of the library
	frontCSP string
	policy   string // of a case's page

	context context.Context // of all that children do; its cause is errShutdown in the end
	working sync.WaitGroup
}

// Run serves until the context ends. The error is one line that names the thing and the way out.
func Run(ctx context.Context, options Options) error {
	token, err := options.check()
	if err != nil {
		return err
	}
	local, err := loopback(options.Listen)
	if err != nil {
		return err
	}
	var certificate []tls.Certificate
	if options.TLSCert != "" {
		pair, err := tls.LoadX509KeyPair(options.TLSCert, options.TLSKey)
		if err != nil {
			return fmt.Errorf("read certificate: %w", err)
		}
		certificate = append(certificate, pair)
	}
	listener, err := net.Listen("tcp", options.Listen)
	if err != nil {
		return listenError(options.Listen, err)
	}
	defer func() { _ = listener.Close() }() // at the latest
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	s, err := newServer(ctx, options, newDoor(token, port, certificate != nil))
	if err != nil {
		return err
	}
	defer s.close()
	owner := peerOwner
	if token != "" || !local {
		owner = nil
	}
	var entrance net.Listener = newGate(listener, owner, s.metrics)
	scheme := "http"
	if certificate != nil {
		scheme = "https"
		entrance = tls.NewListener(entrance, &tls.Config{Certificates: certificate, MinVersion: tls.VersionTLS12})
	}
	if options.Ready != nil {
		options.Ready(scheme + "://" + listener.Addr().String() + "/")
	}
	return s.serve(ctx, entrance)
}

// check resolves what was asked for and reads the token.
func (o *Options) check() (token string, err error) {
	local, err := loopback(o.Listen)
	switch {
	case err != nil:
		return "", err
	case (o.TLSCert == "") != (o.TLSKey == ""):
		return "", errors.New("a certificate needs its key; give both --tls-cert and --tls-key")
	case !local && o.TokenFile == "":
		return "", fmt.Errorf("%s can be reached from other hosts; give --token-file FILE, "+
			"or an address such as 127.0.0.1:8717", o.Listen)
	case !local && o.TLSCert == "" && !o.Insecure:
		return "", fmt.Errorf("the token would go to %s unencrypted; give --tls-cert and --tls-key, or state --insecure",
			o.Listen)
	}
	if o.TokenFile != "" {
		if token, err = readToken(o.TokenFile); err != nil {
			return "", err
		}
	}
	return token, nil
}

// loopback tells whether only this host reaches an address. A name is looked at as what it stands
// for.
func loopback(listen string) (bool, error) {
	name, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false, fmt.Errorf("address %q: give HOST:PORT, such as 127.0.0.1:8717", listen)
	}
	if name == "localhost" {
		return true, nil
	}
	address, err := netip.ParseAddr(name)
	if err != nil {
		return false, nil // a name, or none: every address
	}
	return address.Unmap().IsLoopback(), nil
}

func listenError(listen string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is in use; give another with --listen, or port 0 for any that is free", listen)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s may not be used by this user; give a port above 1023 with --listen", listen)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s is no address of this host; give another with --listen", listen)
	}
	var address *net.OpError
	if errors.As(err, &address) {
		err = address.Err
	}
	return fmt.Errorf("listen on %s: %w", listen, err)
}

func newServer(ctx context.Context, options Options, d *door) (*server, error) {
	l, err := openLibrary(options.Dir)
	if err != nil {
		return nil, err
	}
	s := &server{options: options, library: l, door: d, metrics: newMetrics(), started: time.Now()}
	if s.front, s.frontCSP, err = report.LibraryPage(); err == nil {
		s.policy, err = report.ServedPolicy()
	}
	if err != nil {
		_ = l.root.Close() // was only read
		return nil, err
	}
	folder, err := os.MkdirTemp("", "culprit-serve-")
	if err != nil {
		_ = l.root.Close() // was only read
		return nil, fmt.Errorf("make room for pages: %w", err)
	}
	s.pages = newPages(folder)
	stopping, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	s.context = stopping
	context.AfterFunc(ctx, func() { stop(errShutdown) })
	s.jobs, s.uploads, s.fleet = newJobs(), make(chan struct{}, uploadsMax), newFleet(options.Fleet)
	return s, nil
}

// close waits for the children, who were told to end, and removes what was kept.
func (s *server) close() {
	s.working.Wait()
	_ = s.library.root.Close()       // was only read
	_ = os.RemoveAll(s.pages.folder) // pages can be made again
}

// serve answers until the context ends.
func (s *server) serve(ctx context.Context, listener net.Listener) error {
	h := &http.Server{Handler: s.handler(), ReadHeaderTimeout: headerTime, IdleTimeout: idleTime,
		MaxHeaderBytes: headerBytes, ErrorLog: log.New(lines{}, "", 0),
		BaseContext: func(net.Listener) context.Context { return s.context }}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	bounded, end := context.WithTimeout(context.Background(), closeTime)
	defer end()
	if err := h.Shutdown(bounded); err != nil {
		_ = h.Close() // who still reads was waited for
	}
	return nil
}

// lines drops what net/http logs: a client that breaks off is no event of this host.
type lines struct{}

// Write drops it.
func (lines) Write(p []byte) (int, error) { return len(p), nil }

// handler is the table of paths.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.showFront)
	mux.HandleFunc("GET /case/{path...}", s.showCase)
	mux.HandleFunc("GET /recording/{path...}", s.showRecording)
	mux.HandleFunc("GET /tail/{path...}", s.showTail)
	mux.HandleFunc("GET /comparison", s.showComparison)
	mux.HandleFunc("GET /fleet", s.showFleet)
	mux.HandleFunc("GET /api/fleet", s.tellFleet)
	mux.HandleFunc("POST /api/fleet/ask", s.askFleet)
	mux.HandleFunc("POST /api/fleet/lines", s.acting(s.askForLines))
	mux.HandleFunc("GET /metrics", s.showMetrics)
	mux.HandleFunc("GET "+loginPath, func(w http.ResponseWriter, r *http.Request) { s.showLogin(w, r, "") })
	mux.HandleFunc("POST "+loginPath, s.login)
	mux.HandleFunc("POST /logout", s.logout)
	mux.HandleFunc("GET /api/library", s.listLibrary)
	mux.HandleFunc("GET /api/file/{path...}", s.sendFile)
	mux.HandleFunc("GET /api/jobs", s.listJobs)
	mux.HandleFunc("GET /api/jobs/{id}", s.showJob)
	mux.HandleFunc("GET /api/jobs/{id}/events", s.streamJob)
	mux.HandleFunc("POST /api/jobs/{id}/stop", s.stopJob)
	mux.HandleFunc("POST /api/compare", s.startComparison)
	mux.HandleFunc("POST /api/record", s.acting(s.startRecording))
	mux.HandleFunc("POST /api/investigate", s.acting(s.startInvestigation))
	mux.HandleFunc("POST /api/tail", s.acting(s.startTail))
	mux.HandleFunc("POST /api/upload", s.acting(s.upload))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, r, http.StatusNotFound, "there is nothing here; the library is at /")
	})
	return newGuard(s.door, s.options.Hosts, s.metrics, mux)
}

// acting refuses what a server that only shows does not do.
func (s *server) acting(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.options.ReadOnly {
			fail(w, r, http.StatusForbidden, "this server only shows (--read-only)")
			return
		}
		next(w, r)
	}
}
