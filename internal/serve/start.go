package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"culprit/internal/report"
	"culprit/internal/serve/child"
)

// Limits of what can be asked for.
const (
	sideMax     = 100 // recordings of one side
	commandMax  = 16 << 10
	recordMax   = time.Hour
	budgetMax   = 6 * time.Hour
	lineMax     = 64 << 10 // of one line of progress
	suspectsMax = 10       // in progress
)

var (
	nameAllowed = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$`)
	perAllowed  = regexp.MustCompile(`^[a-z][a-z-]{0,20}(=[A-Za-z0-9_,.]{1,60})?$`)
)

// comparison is what is asked for by POST /api/compare, and by the address of its page.
type comparison struct {
	A      []string `json:"a"`
	B      []string `json:"b"`
	Metric string   `json:"metric"`
	Per    string   `json:"per"`
}

func (c *comparison) check() error {
	for _, side := range [][]string{c.A, c.B} {
		if len(side) == 0 || len(side) > sideMax {
			return fmt.Errorf("give 1 to %d recordings for each of a and b", sideMax)
		}
		for _, name := range side {
			if !strings.HasSuffix(name, recordingSuffix) || !fs.ValidPath(name) {
				return fmt.Errorf("%s is no recording of the library", short(name))
			}
		}
	}
	if c.Metric != "" && c.Metric != "auto" && c.Metric != "wall" && c.Metric != "cpu" {
		return fmt.Errorf("metric %q: give auto, wall or cpu", short(c.Metric))
	}
	if c.Per != "" && !perAllowed.MatchString(c.Per) {
		return fmt.Errorf("per %q: give auto, run, second, cpu-second or request=N", short(c.Per))
	}
	return nil
}

// href is the page of the comparison: made again where it is gone.
func (c *comparison) href() string {
	query := url.Values{"a": c.A, "b": c.B}
	for name, value := range map[string]string{"metric": c.Metric, "per": c.Per} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return "/comparison?" + query.Encode()
}

// names are the files, each once.
func (c *comparison) names() []string {
	var names []string
	for _, name := range slices.Concat(c.A, c.B) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// args are those of the child.
func (c *comparison) args(target string) []string {
	args := []string{"compare", "--html=" + target}
	for _, name := range c.A {
		args = append(args, "--a=./"+name)
	}
	for _, name := range c.B {
		args = append(args, "--b=./"+name)
	}
	if c.Metric != "" {
		args = append(args, "--metric="+c.Metric)
	}
	if c.Per != "" {
		args = append(args, "--per="+c.Per)
	}
	return args
}

func (c *comparison) kind() string { return fmt.Sprintf("compare %q", c.args("")) }

// startComparison begins a job that makes the page of a comparison.
func (s *server) startComparison(w http.ResponseWriter, r *http.Request) {
	var asked comparison
	if !readJSON(w, r, &asked) {
		return
	}
	if err := asked.check(); err != nil {
		fail(w, r, http.StatusBadRequest, report.Line(err))
		return
	}
	title := sideTitle(asked.A) + " against " + sideTitle(asked.B)
	s.start(w, r, Job{Kind: "compare", Title: title}, false, func(ctx context.Context, _ *job) (string, error) {
		_, err := s.page(ctx, asked.kind(), asked.names(), asked.args)
		if err != nil {
			return "", err
		}
		return asked.href(), nil
	})
}

func sideTitle(side []string) string {
	if len(side) == 1 {
		return short(path.Base(side[0]))
	}
	return fmt.Sprintf("%s and %d more", short(path.Base(side[0])), len(side)-1)
}

// showComparison answers with the page that the address tells.
func (s *server) showComparison(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	asked := comparison{A: query["a"], B: query["b"], Metric: query.Get("metric"), Per: query.Get("per")}
	if err := asked.check(); err != nil {
		fail(w, r, http.StatusBadRequest, report.Line(err))
		return
	}
	s.showPage(w, r, asked.kind(), asked.names(), asked.args)
}

// start begins a job and answers with it.
func (s *server) start(w http.ResponseWriter, r *http.Request, shown Job, measures bool, do work) {
	begun, err := s.begin(shown, measures, do)
	switch {
	case errors.Is(err, errManyJobs), errors.Is(err, errShutdown):
		fail(w, r, http.StatusServiceUnavailable, err.Error())
	case err != nil:
		fail(w, r, http.StatusConflict, err.Error())
	default:
		now := begun.now()
		w.Header().Set("Location", "/api/jobs/"+now.ID)
		answer(w, http.StatusAccepted, now)
	}
}

// freeName checks a name that a job is to make in the directory, or makes one of the time.
func (s *server) freeName(asked, begin, suffix string) (string, error) {
	name := strings.TrimSuffix(asked, suffix)
	if name == "" {
		name = begin + time.Now().Format("-20060102-150405")
	}
	if !nameAllowed.MatchString(name) {
		return "", fmt.Errorf("name %q: give up to 100 letters, digits, dots, - and _, beginning with a letter or digit",
			short(asked))
	}
	name += suffix
	for _, taken := range []string{name, name + ".partial"} {
		if _, err := s.library.root.Lstat(taken); err == nil {
			return "", fmt.Errorf("%s exists; give another name", taken)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("look for %s: %w", taken, err)
		}
	}
	return name, nil
}

// act runs a child in the directory and passes its progress on.
func (s *server) act(ctx context.Context, j *job, args ...string) error {
	from, to, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("watch progress: %w", err)
	}
	defer from.Close()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		follow(from, j)
	}()
	err = s.run(ctx, child.Child{Args: args, Dir: s.library.dir, Files: []*os.File{to},
		Begun: func() { _ = to.Close() }})
	_ = to.Close() // where the child did not even begin
	select {
	case <-watched:
	case <-time.After(time.Second): // a grandchild may hold the other end
	}
	return err
}

// follow reads the lines of progress that a child writes. What is no such line is passed over: the
// commands of a trial could have written it.
func follow(from io.Reader, j *job) {
	in := bufio.NewReaderSize(from, lineMax)
	for {
		line, tooLong, err := in.ReadLine()
		if err != nil {
			return
		}
		var e News
		if tooLong || json.Unmarshal(line, &e) != nil {
			continue
		}
		e.State, e.Stage = "", short(e.Stage)
		e.Suspects = e.Suspects[:min(len(e.Suspects), suspectsMax)]
		for i := range e.Suspects {
			e.Suspects[i].Cause, e.Suspects[i].Level = short(e.Suspects[i].Cause), short(e.Suspects[i].Level)
		}
		if e.Estimate != nil {
			e.Estimate.Metric, e.Estimate.Outcome = short(e.Estimate.Metric), short(e.Estimate.Outcome)
		}
		j.tell(e)
	}
}
