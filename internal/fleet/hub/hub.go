// Package hub is the server of a fleet: it takes windows from agents and answers questions, each
// for the tenant of the token that came with the request.
//
//	PUT  /v1/windows/ID   a window (see package window); answered when it survives a crash
//	GET  /v1/windows/ID   its recording; as it was sent, with its manifest, where that is accepted
//	POST /v1/ask          a question as JSON, the answer as JSON, or as lines with stages where they are accepted
//	POST /v1/asks         asks the agents of a host for a full window
//	GET  /v1/services     what there is
//	GET  /v1/baselines[/NAME[/BATCH]], PUT /v1/baselines/NAME/BATCH   stored measurements of checks in CI
//	GET  /v1/health       without a token: "ok"
//
// It refuses requests without a token of the right scope, uploads above their limits or whose
// contents do not fit their id, and more at once than it can do (503, to come again). A tenant has
// a store of its own: no question can see another's rows.
package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/store"
	"culprit/internal/fleet/window"
)

// Limits of what the hub does at once.
const (
	maxUploads   = 64 // of one token
	maxQuestions = 4  // of one token
	allUploads   = 512
	allQuestions = 8
	maxRequest   = 64 << 10 // bytes of a question
	askTime      = 2 * time.Minute
	again        = 5 // seconds after which a refused agent comes again
)

// Hub serves one directory.
type Hub struct {
	directory string
	open      Open
	log       *slog.Logger
	access    *access
	uploads   chan struct{}
	questions chan struct{}
	mutex     sync.Mutex
	stores    map[string]*store.Store
	asks      *asks
	baselines baselines
}

// Open opens the engine of a tenant, whose directory it is.
type Open func(ctx context.Context, directory, tenant string) (store.Engine, error)

// New makes a hub of a directory with tokens.
func New(directory string, open Open, limits Limits, log *slog.Logger) (*Hub, error) {
	known, err := newAccess(directory, limits)
	if err != nil {
		return nil, err
	}
	return &Hub{directory: directory, open: open, log: log, access: known, stores: map[string]*store.Store{},
		uploads: make(chan struct{}, allUploads), questions: make(chan struct{}, allQuestions), asks: &asks{}}, nil
}

// TenantDirectory is where a tenant's store lies.
func TenantDirectory(directory, tenant string) string {
	return filepath.Join(directory, "tenants", tenant)
}

// Store opens a tenant's store, once.
func (h *Hub) Store(ctx context.Context, tenant string) (*store.Store, error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if s := h.stores[tenant]; s != nil {
		return s, nil
	}
	directory := TenantDirectory(h.directory, tenant)
	engine, err := h.open(ctx, directory, tenant)
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, directory, engine, h.log)
	if err != nil {
		return nil, err
	}
	h.stores[tenant] = s
	return s, nil
}

// Close ends all stores; what was acknowledged is on the disk.
func (h *Hub) Close() error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	var all []error
	for _, s := range h.stores {
		all = append(all, s.Close())
	}
	return errors.Join(all...)
}

// Handler is what a server serves.
func (h *Hub) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/health", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") })
	mux.HandleFunc("PUT /v1/windows/{id}", h.as(h.upload, Write))
	mux.HandleFunc("GET /v1/windows/{id}", h.as(h.download, Read))
	mux.HandleFunc("POST /v1/ask", h.as(h.ask, Read))
	mux.HandleFunc("POST /v1/asks", h.as(h.askAgents, Read))
	mux.HandleFunc("GET /v1/services", h.as(h.services, Read))
	mux.HandleFunc("GET /v1/baselines", h.as(h.listBaselines, Read, Baseline))
	mux.HandleFunc("GET /v1/baselines/{name}", h.as(h.showBaseline, Read, Baseline))
	mux.HandleFunc("GET /v1/baselines/{name}/{batch}", h.as(h.sendBatch, Read, Baseline))
	mux.HandleFunc("PUT /v1/baselines/{name}/{batch}", h.as(h.saveBatch, Baseline))
	return mux
}

// failure is an answer that is not 200.
type failure struct {
	status int
	again  bool
	err    error
}

func (f failure) Error() string { return f.err.Error() }

// serving answers one request of a tenant, or says in its error why not.
type serving func(*http.Request, Token, *store.Store, http.ResponseWriter) error

// as lets requests with a token of one of the scopes through, to the tenant's store.
func (h *Hub) as(serve serving, scopes ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := h.authorised(scopes, serve, w, r)
		if err == nil {
			return
		}
		var f failure
		switch {
		case errors.As(err, &f):
		case errors.Is(err, window.ErrRefused):
			f = failure{http.StatusUnprocessableEntity, false, err}
		case errors.Is(err, store.ErrBusy):
			f = failure{http.StatusServiceUnavailable, true, err}
		default:
			h.log.Error("request failed", "path", r.URL.Path, "error", err)
			f = failure{http.StatusInternalServerError, true, err}
		}
		if f.again {
			w.Header().Set("Retry-After", strconv.Itoa(again))
		}
		if f.status != http.StatusOK {
			// What was not read of a body is not read now: the connection ends.
			w.Header().Set("Connection", "close")
		}
		reply(w, f.status, window.Refusal{Error: oneLine(f.err), Again: f.again})
	}
}

func oneLine(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	return text[:min(len(text), 1000)]
}

func reply(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil { // a number that JSON has not
		status, text = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written","again":false}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(text, '\n'))
}

func (h *Hub) upload(r *http.Request, token Token, s *store.Store, w http.ResponseWriter) error {
	leave, err := enter(h.uploads)
	if err != nil {
		return err
	}
	defer leave()
	id := r.PathValue("id")
	if !window.IsContentID(id) {
		return failure{http.StatusBadRequest, false, errors.New("the path's id is no SHA-256")}
	}
	const most = window.MaxManifestBytes + window.MaxRecordingBytes
	if r.ContentLength > most {
		return failure{http.StatusRequestEntityTooLarge, false, fmt.Errorf("%d bytes, at most %d", r.ContentLength, most)}
	}
	came, known, err := s.Take(r.Context(), http.MaxBytesReader(w, r.Body, most+1), id)
	if err != nil {
		return err
	}
	reply(w, http.StatusOK, window.Answer{Content: came.Content, Known: known, Asks: h.asks.take(token.Tenant, came.Host)})
	return nil
}

func (h *Hub) download(r *http.Request, _ Token, s *store.Store, w http.ResponseWriter) error {
	if strings.Contains(r.Header.Get("Accept"), window.ContentType) {
		return sendWhole(r.PathValue("id"), s, w)
	}
	file, err := s.Recording(r.PathValue("id"))
	if err != nil {
		return failure{http.StatusNotFound, false, err}
	}
	defer file.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	_, err = io.Copy(w, file)
	return err
}

// sendWhole sends a window as its agent did.
func sendWhole(content string, s *store.Store, w http.ResponseWriter) error {
	manifest, file, err := s.Window(content)
	if err != nil {
		return failure{http.StatusNotFound, false, err}
	}
	defer file.Close()
	body, length, err := manifest.Body(file)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", window.ContentType)
	w.Header().Set("Content-Length", strconv.FormatInt(length, 10))
	_, err = io.Copy(w, body)
	return err
}

func (h *Hub) ask(r *http.Request, _ Token, s *store.Store, w http.ResponseWriter) error {
	leave, err := enter(h.questions)
	if err != nil {
		return err
	}
	defer leave()
	var request ask.Request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&request); err != nil {
		return failure{http.StatusBadRequest, false, fmt.Errorf("read question: %w", err)}
	}
	ctx, cancel := context.WithTimeout(r.Context(), askTime)
	defer cancel()
	if strings.Contains(r.Header.Get("Accept"), ask.LinesType) {
		tellAnswer(ctx, w, s, request)
		return nil
	}
	answer, err := ask.Ask(ctx, s, request)
	if err != nil {
		return failure{http.StatusUnprocessableEntity, false, err}
	}
	reply(w, http.StatusOK, answer)
	return nil
}

// tellAnswer answers in lines: what is being done, and then the answer or why there is none.
func tellAnswer(ctx context.Context, w http.ResponseWriter, s *store.Store, request ask.Request) {
	control := http.NewResponseController(w)
	write := func(line ask.Line) {
		text, err := json.Marshal(line)
		if err != nil { // a number that JSON has not
			text = []byte(`{"error":"the answer cannot be written"}`)
		}
		w.Write(append(text, '\n')) // who asked may have gone
		control.Flush()
	}
	w.Header().Set("Content-Type", ask.LinesType)
	answer, err := ask.Telling(ctx, s, request, func(stage string) { write(ask.Line{Stage: stage}) })
	if err != nil {
		write(ask.Line{Error: oneLine(err)})
		return
	}
	write(ask.Line{Answer: answer})
}

func (h *Hub) services(r *http.Request, _ Token, s *store.Store, w http.ResponseWriter) error {
	asking := s.Asking()
	services, err := asking.Services(r.Context())
	if err != nil {
		return err
	}
	reply(w, http.StatusOK, map[string]any{"services": services, "incomplete": asking.Incomplete()})
	return nil
}
