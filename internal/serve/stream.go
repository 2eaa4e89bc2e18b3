package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Limits of streams.
const (
	streamBeat = 15 * time.Second // a sign of life, so that a reader who is gone is noticed
	streamTime = 30 * time.Second // for one piece of news to be taken
)

// jobsAnswer is the document of all jobs.
type jobsAnswer struct {
	Schema string `json:"schema"`
	Jobs   []Job  `json:"jobs"`
}

// listJobs answers with all jobs.
func (s *server) listJobs(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, jobsAnswer{"culprit.jobs/1", s.jobs.list()})
}

// job finds the job that a request names; where there is none it has answered.
func (s *server) job(w http.ResponseWriter, r *http.Request) *job {
	found := s.jobs.find(r.PathValue("id"))
	if found == nil {
		fail(w, r, http.StatusNotFound, "there is no job of that number")
	}
	return found
}

func (s *server) showJob(w http.ResponseWriter, r *http.Request) {
	if j := s.job(w, r); j != nil {
		answer(w, http.StatusOK, j.now())
	}
}

// stopJob ends a job as an interrupt would: what was recorded is kept.
func (s *server) stopJob(w http.ResponseWriter, r *http.Request) {
	if j := s.job(w, r); j != nil {
		j.stop(errStopped)
		answer(w, http.StatusAccepted, j.now())
	}
}

// streamJob sends the news of a job as server-sent events until it ends. Last-Event-ID goes on
// where a stream broke.
func (s *server) streamJob(w http.ResponseWriter, r *http.Request) {
	j := s.job(w, r)
	if j == nil {
		return
	}
	next := 0
	if last, err := strconv.Atoi(r.Header.Get("Last-Event-ID")); err == nil && last >= 0 {
		next = last + 1
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	control := http.NewResponseController(w)
	beat := time.NewTicker(streamBeat)
	defer beat.Stop()
	for {
		events, after, changed := j.since(next)
		next = max(next, after-len(events))
		_ = control.SetWriteDeadline(time.Now().Add(streamTime)) // a connection that has none is one of a test
		for _, e := range events {
			text, err := json.Marshal(e)
			if err != nil {
				return
			}
			if _, err := fmt.Fprintf(w, "id: %d\nevent: news\ndata: %s\n\n", next, text); err != nil {
				return
			}
			next++
			if over(e.State) {
				fmt.Fprint(w, "event: end\ndata: {}\n\n")
				return
			}
		}
		if control.Flush() != nil {
			return
		}
		select {
		case <-changed:
		case <-beat.C:
			if _, err := fmt.Fprint(w, ": here\n\n"); err != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}
