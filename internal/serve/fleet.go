package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/client"
	"culprit/internal/report"
)

// Limits of questions to a fleet.
const (
	hubQuestions = 4  // that a hub is asked at one time: more of one token it refuses
	questionsMax = 16 // that wait or are being answered
	fleetTime    = 4 * time.Minute
	linesHosts   = 4 // that are asked for cache lines at one time: one of each band, and as many to be sure
)

var errManyQuestions = errors.New("too many questions wait already; try again in a moment")

// fleet is who answers questions over many hosts. The token of a hub stays here: pages ask this
// server.
type fleet struct {
	where   client.Where
	turns   chan struct{}
	waiting atomic.Int64
}

// newFleet makes room for questions; a directory is asked by one child at a time, which locks it.
func newFleet(where client.Where) *fleet {
	f := &fleet{where: where, turns: make(chan struct{}, hubQuestions)}
	if where.IsDirectory() {
		f.turns = make(chan struct{}, 1)
	}
	return f
}

// FleetLine is one of an answer: the question as a command, what is being done, and in the end the
// answer or why there is none.
type FleetLine struct {
	At      float64 `json:"at"` // seconds since it was asked
	Command string  `json:"command,omitempty"`
	ask.Line
}

// fleetAnswer is what can be asked.
type fleetAnswer struct {
	Fleet string `json:"fleet"` // whose windows, in words
	Token bool   `json:"token"` // there is a session to end
	Lines bool   `json:"lines"` // agents can be asked for cache lines: a hub is there, and not only to look at
}

// tellFleet answers whose windows can be asked for.
func (s *server) tellFleet(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, fleetAnswer{s.fleet.where.Words(), s.door.token != "",
		s.fleet.where.Hub != "" && !s.options.ReadOnly})
}

// showFleet answers with the page, whose script asks.
func (s *server) showFleet(w http.ResponseWriter, r *http.Request) {
	if s.fleet.where.Words() == "" {
		fail(w, r, http.StatusNotFound, "this server has no fleet; serve with --hub URL or --store DIR")
		return
	}
	s.showFront(w, r)
}

// askFleet puts a question, and sends lines while it is answered. Who goes away ends it.
func (s *server) askFleet(w http.ResponseWriter, r *http.Request) {
	if s.fleet.where.Words() == "" {
		fail(w, r, http.StatusNotFound, "this server has no fleet; serve with --hub URL or --store DIR")
		return
	}
	var typed client.Typed
	if !readJSON(w, r, &typed) {
		return
	}
	request, err := typed.Request(time.Now())
	if err == nil && request.Service == "" && request.Question != ask.Services {
		err = errors.New("say which service is asked about")
	}
	if err != nil {
		fail(w, r, http.StatusBadRequest, report.Line(err))
		return
	}
	if s.fleet.waiting.Add(1) > questionsMax {
		s.fleet.waiting.Add(-1)
		fail(w, r, http.StatusServiceUnavailable, errManyQuestions.Error())
		return
	}
	defer s.fleet.waiting.Add(-1)
	began := time.Now()
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", ask.LinesType)
	w.Header().Set("X-Accel-Buffering", "no")
	write := func(line FleetLine) {
		line.At = time.Since(began).Seconds()
		text, err := json.Marshal(line)
		if err != nil {
			text = []byte(`{"at":0,"error":"the answer cannot be written as JSON"}`)
		}
		_, _ = w.Write(append(text, '\n')) // who asked may have gone
		_ = control.Flush()
	}
	write(FleetLine{Command: typed.Command(s.fleet.where), Line: ask.Line{Stage: "waiting for its turn"}})
	ctx, end := context.WithTimeout(r.Context(), fleetTime)
	defer end()
	answer, err := s.fleet.ask(ctx, request, func(stage string) { write(FleetLine{Line: ask.Line{Stage: stage}}) })
	s.metrics.question(err == nil, time.Since(began))
	if err != nil {
		write(FleetLine{Line: ask.Line{Error: report.Line(err)}})
		return
	}
	write(FleetLine{Line: ask.Line{Answer: answer}})
}

// linesRequest asks the agents of some hosts for a recording with cache lines.
type linesRequest struct {
	Service string   `json:"service"`
	Hosts   []string `json:"hosts"`
}

// askForLines has the hub ask agents, with the server's token: one that may put questions may ask
// for this, too.
func (s *server) askForLines(w http.ResponseWriter, r *http.Request) {
	if s.fleet.where.Hub == "" {
		fail(w, r, http.StatusNotFound, "agents are asked by their hub; serve with --hub URL")
		return
	}
	var asked linesRequest
	if !readJSON(w, r, &asked) {
		return
	}
	if asked.Service == "" || len(asked.Hosts) == 0 || len(asked.Hosts) > linesHosts || slices.Contains(asked.Hosts, "") {
		fail(w, r, http.StatusBadRequest, fmt.Sprintf("give a service and 1 to %d hosts", linesHosts))
		return
	}
	if err := s.fleet.where.AskForLines(r.Context(), asked.Service, asked.Hosts); err != nil {
		fail(w, r, http.StatusBadGateway, report.Line(err))
		return
	}
	answer(w, http.StatusOK, asked)
}

// ask waits for its turn and puts the question.
func (f *fleet) ask(ctx context.Context, request ask.Request, tell func(string)) (*ask.Answer, error) {
	select {
	case f.turns <- struct{}{}:
		defer func() { <-f.turns }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	tell("asking " + f.where.Words())
	return f.where.Telling(ctx, request, func(stage string) { tell(short(stage)) })
}
