package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// serviceAllowed is a service by its port or its unit.
var serviceAllowed = regexp.MustCompile(`^(port:[0-9]{1,5}|unit:[A-Za-z0-9@_][A-Za-z0-9@:._\\-]{0,200})$`)

// tailRequest is what is asked for by POST /api/tail: one of pid, cgroup and service.
type tailRequest struct {
	Pid     int     `json:"pid"`
	Cgroup  string  `json:"cgroup"`
	Service string  `json:"service"` // port:N or unit:NAME
	Seconds float64 `json:"seconds"`
	Over    float64 `json:"over_s"` // requests that took as long are slow; 0: the slowest of each kind
	Name    string  `json:"name"`
}

// check returns the arguments of the verb, but for the file, and what is watched in words.
func (q *tailRequest) check() (args []string, title string, err error) {
	given := 0
	for _, set := range []bool{q.Pid != 0, q.Cgroup != "", q.Service != ""} {
		if set {
			given++
		}
	}
	if q.Seconds == 0 {
		q.Seconds = 60
	}
	switch {
	case given != 1:
		return nil, "", errors.New("give one of pid, cgroup and service")
	case !(q.Seconds >= 0.1) || q.Seconds > recordMax.Seconds():
		return nil, "", fmt.Errorf("seconds %g: give 0.1 to %g", q.Seconds, recordMax.Seconds())
	case !(q.Over >= 0) || q.Over > recordMax.Seconds():
		return nil, "", fmt.Errorf("over_s %g: give up to %g", q.Over, recordMax.Seconds())
	case q.Service != "" && !serviceAllowed.MatchString(q.Service):
		return nil, "", fmt.Errorf("service %s: give port:N or unit:NAME", short(q.Service))
	}
	if err := checkTarget(q.Pid, q.Cgroup); err != nil {
		return nil, "", err
	}
	args = []string{"--duration=" + seconds(q.Seconds)}
	if q.Over > 0 {
		args = append(args, "--over="+time.Duration(q.Over*float64(time.Second)).String())
	}
	switch {
	case q.Pid != 0:
		return append(args, "--pid="+strconv.Itoa(q.Pid)), fmt.Sprintf("process %d", q.Pid), nil
	case q.Cgroup != "":
		return append(args, "--cgroup="+q.Cgroup), "cgroup " + q.Cgroup, nil
	}
	return append(args, "--", q.Service), q.Service, nil
}

func (q *tailRequest) name() string { return q.Name }

// startTail begins a job that follows the requests of a service, and keeps the recording.
func (s *server) startTail(w http.ResponseWriter, r *http.Request) {
	var asked tailRequest
	args, title, name, ok := s.asked(w, r, &asked, "tail", recordingSuffix)
	if !ok {
		return
	}
	shown := Job{Kind: "tail", Title: title, Name: name, Expected: asked.Seconds}
	s.start(w, r, shown, true, func(ctx context.Context, j *job) (string, error) {
		begin := []string{"tail", "--progress-fd=3", "--json=/dev/null", "--out=" + name}
		if err := s.act(ctx, j, append(begin, args...)...); err != nil {
			return "", err
		}
		return "/tail/" + name, nil
	})
}

// showTail answers with the page of the slow requests of a recording.
func (s *server) showTail(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("path")
	if !strings.HasSuffix(name, recordingSuffix) {
		fail(w, r, http.StatusNotFound, "there is no recording of that name")
		return
	}
	s.showPage(w, r, "tail", []string{name}, func(target string) []string {
		return []string{"tail", "--html=" + target, "--json=/dev/null", "--", "./" + name}
	})
}
