package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"culprit/internal/report"
)

// recordingRequest is what is asked for by POST /api/record: one of pid, cgroup, all and command.
type recordingRequest struct {
	Pid     int     `json:"pid"`
	Cgroup  string  `json:"cgroup"`
	All     bool    `json:"all"`
	Command string  `json:"command"` // of the shell
	Seconds float64 `json:"seconds"`
	Name    string  `json:"name"`
}

// check returns the arguments of the verb, but for the file, and what is recorded in words.
func (q *recordingRequest) check() (args []string, title string, err error) {
	given := 0
	for _, set := range []bool{q.Pid != 0, q.Cgroup != "", q.All, q.Command != ""} {
		if set {
			given++
		}
	}
	if q.Seconds == 0 {
		q.Seconds = 10
	}
	switch {
	case given != 1:
		return nil, "", errors.New("give one of pid, cgroup, all and command")
	case !(q.Seconds >= 0.1) || q.Seconds > recordMax.Seconds():
		return nil, "", fmt.Errorf("seconds %g: give 0.1 to %g", q.Seconds, recordMax.Seconds())
	}
	if err := checkTarget(q.Pid, q.Cgroup); err != nil {
		return nil, "", err
	}
	if err := plainText("command", q.Command); err != nil {
		return nil, "", err
	}
	args = []string{"--duration=" + seconds(q.Seconds)}
	switch {
	case q.Pid != 0:
		return append(args, "--pid="+strconv.Itoa(q.Pid)), fmt.Sprintf("process %d", q.Pid), nil
	case q.Cgroup != "":
		return append(args, "--cgroup="+q.Cgroup), "cgroup " + q.Cgroup, nil
	case q.All:
		return append(args, "--all"), "the whole host", nil
	}
	return append(args, "--", "/bin/sh", "-c", q.Command), short(q.Command), nil
}

// checkTarget refuses what is no process and no cgroup; 0 and "" are not given.
func checkTarget(pid int, cgroup string) error {
	switch {
	case pid < 0:
		return fmt.Errorf("pid %d is none", pid)
	case cgroup != "" && !cgroupPath(cgroup):
		return fmt.Errorf("cgroup %s: give a directory below /sys/fs/cgroup", short(cgroup))
	}
	return nil
}

// cgroupPath tells a directory of the cgroup file system, spelled plainly.
func cgroupPath(name string) bool {
	return path.Clean(name) == name && strings.HasPrefix(name, "/sys/fs/cgroup/") && !strings.ContainsRune(name, 0)
}

// plainText refuses what cannot be an argument.
func plainText(what, text string) error {
	switch {
	case len(text) > commandMax:
		return fmt.Errorf("%s has more than %d bytes", what, commandMax)
	case strings.ContainsRune(text, 0):
		return fmt.Errorf("%s has a zero byte in it", what)
	}
	return nil
}

func seconds(value float64) string {
	return time.Duration(value * float64(time.Second)).Round(time.Millisecond).String()
}

// acting is what starts a job that a verb does.
type acting interface {
	check() (args []string, title string, err error)
	name() string // that was asked for, "" for one of ours
}

// asked reads and checks what is to be done, and finds a name for what comes of it. Where that
// fails it has answered.
func (s *server) asked(w http.ResponseWriter, r *http.Request, what acting, kind, suffix string) (args []string, title,
	name string, ok bool) {
	if !readJSON(w, r, what) {
		return nil, "", "", false
	}
	args, title, err := what.check()
	if err == nil {
		name, err = s.freeName(what.name(), kind, suffix)
	}
	if err != nil {
		fail(w, r, http.StatusBadRequest, report.Line(err))
		return nil, "", "", false
	}
	return args, title, name, true
}

func (q *recordingRequest) name() string { return q.Name }

// startRecording begins a job that records.
func (s *server) startRecording(w http.ResponseWriter, r *http.Request) {
	var asked recordingRequest
	args, title, name, ok := s.asked(w, r, &asked, "recording", recordingSuffix)
	if !ok {
		return
	}
	shown := Job{Kind: "record", Title: title, Name: name, Expected: asked.Seconds}
	s.start(w, r, shown, true, func(ctx context.Context, j *job) (string, error) {
		err := s.act(ctx, j, append([]string{"record", "--progress-fd=3", "--out=" + name}, args...)...)
		if _, missing := s.library.root.Lstat(name); missing != nil {
			if err == nil {
				err = errors.New("nothing was recorded")
			}
			return "", err
		}
		return "/recording/" + name, nil // a command that failed was recorded all the same
	})
}

// investigationRequest is what is asked for by POST /api/investigate: a and b, or one of a, pid and
// cgroup.
type investigationRequest struct {
	A        string  `json:"a"`
	B        string  `json:"b"`
	Pid      int     `json:"pid"`
	Cgroup   string  `json:"cgroup"`
	Budget   float64 `json:"budget_s"`
	Metric   string  `json:"metric"`
	Smallest string  `json:"smallest"`
	Prove    string  `json:"prove"` // none (the default) or auto: settings of this host are flipped
	Name     string  `json:"name"`
}

// check returns the arguments of the verb, but for the case, and what is investigated in words.
func (q *investigationRequest) check() (args []string, title string, err error) {
	for what, text := range map[string]string{"a": q.A, "b": q.B, "metric": q.Metric, "smallest": q.Smallest} {
		if err := plainText(what, text); err != nil {
			return nil, "", err
		}
	}
	if q.Prove == "" {
		q.Prove = "none"
	}
	switch {
	case q.Prove != "none" && q.Prove != "auto":
		return nil, "", fmt.Errorf("prove %q: give none or auto", short(q.Prove))
	case !(q.Budget >= 0) || q.Budget > budgetMax.Seconds():
		return nil, "", fmt.Errorf("budget_s %g: give up to %g", q.Budget, budgetMax.Seconds())
	case q.Pid != 0 && q.Cgroup != "", (q.Pid != 0 || q.Cgroup != "") && q.A+q.B != "":
		return nil, "", errors.New("give a and b, or one of a, pid and cgroup")
	case q.A == "" && q.Pid == 0 && q.Cgroup == "":
		return nil, "", errors.New("nothing to investigate; give a and b, or one of a, pid and cgroup")
	}
	if err := checkTarget(q.Pid, q.Cgroup); err != nil {
		return nil, "", err
	}
	args = []string{"--prove=" + q.Prove}
	for flag, text := range map[string]string{"metric": q.Metric, "smallest": q.Smallest, "cgroup": q.Cgroup} {
		if text != "" {
			args = append(args, "--"+flag+"="+text)
		}
	}
	if q.Budget > 0 {
		args = append(args, "--budget="+seconds(q.Budget))
	}
	switch {
	case q.Pid != 0:
		return append(args, "--pid="+strconv.Itoa(q.Pid)), fmt.Sprintf("process %d", q.Pid), nil
	case q.Cgroup != "":
		return args, "cgroup " + q.Cgroup, nil
	case q.B == "":
		return append(args, "--", q.A), short(q.A), nil
	}
	return append(args, "--a="+q.A, "--b="+q.B), short(q.A) + " against " + short(q.B), nil
}

func (q *investigationRequest) name() string { return q.Name }

// startInvestigation begins a job that investigates.
func (s *server) startInvestigation(w http.ResponseWriter, r *http.Request) {
	var asked investigationRequest
	args, title, name, ok := s.asked(w, r, &asked, "case", "")
	if !ok {
		return
	}
	shown := Job{Kind: "investigate", Title: title, Name: name, Expected: asked.Budget}
	s.start(w, r, shown, true, func(ctx context.Context, j *job) (string, error) {
		begin := []string{"investigate", "--progress-fd=3", "--json=/dev/null", "--case=" + name}
		if err := s.act(ctx, j, append(begin, args...)...); err != nil {
			return "", err
		}
		return "/case/" + name, nil
	})
}
