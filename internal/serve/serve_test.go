package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"culprit/recording"
)

// newTest makes a server over a directory; its children are a shell script.
func newTest(t *testing.T, script string, change func(*Options), token string) (*server, http.Handler, string) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(t.TempDir(), "culprit")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	o := Options{Dir: dir, Program: program}
	if change != nil {
		change(&o)
	}
	ctx, stop := context.WithCancel(t.Context())
	s, err := newServer(ctx, o, newDoor(token, "8717", false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		s.close()
		if _, err := os.Stat(s.pages.folder); err == nil {
			t.Error("the server's own folder was left behind")
		}
	})
	return s, s.handler(), dir
}

// page is a script that writes the page that it was asked for.
const writesPage = `for word in "$@"; do case $word in
--output=*|--html=*) printf '<!doctype html>\n<html lang="en">\n<head>\n</head>%s' "$*" > "${word#*=}";; esac; done`

// get asks as a program on the same host does.
func get(h http.Handler, path string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	return send(h, http.MethodGet, path, "", change...)
}

func send(h http.Handler, method, path, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/", strings.NewReader(body))
	r.URL.Path, r.URL.RawQuery, _ = strings.Cut(path, "?")
	r.Host = "127.0.0.1:8717"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// want checks the status, and that an error is one line.
func want(t *testing.T, w *httptest.ResponseRecorder, status int, words ...string) {
	t.Helper()
	text := w.Body.String()
	if w.Code != status {
		t.Errorf("status %d, want %d: %s", w.Code, status, text)
	}
	if status >= 400 {
		if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
			t.Errorf("the error is not one line: %q", text)
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
			var document struct{ Error string }
			if err := json.Unmarshal([]byte(text), &document); err != nil || document.Error == "" {
				t.Errorf("the error is no document: %q", text)
			}
		}
	}
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%q does not say %q", text, word)
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = os.WriteFile(name, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func writeRecording(t *testing.T, name string, target recording.Target) {
	t.Helper()
	rec := &recording.Recording{Manifest: recording.Manifest{Schema: recording.SchemaVersion, Host: "h1",
		StartedAt: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), WindowNs: 2e9, Target: target}}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := recording.Write(name, rec); err != nil {
		t.Fatal(err)
	}
}

const someCase = `{"schema":"culprit.case/2","outcome":"worse","metric":{"name":"cpu","unit":"s"},
"a":{"command":"./old"},"b":{"command":"./new"},"effect":{"ratio":1.3,"low":1.2,"high":1.4},
"suspects":[{"cause":"lock.contended","level":"explains","evidence":[{"text":"}]\"{"}]}],
"profile":{"nodes":[[1,2,"}"]]},"host":{"name":"h1"},"elapsed_s":12.5}`

func listing(t *testing.T, h http.Handler) libraryAnswer {
	t.Helper()
	w := get(h, "/api/library")
	want(t, w, http.StatusOK)
	var found libraryAnswer
	if err := json.Unmarshal(w.Body.Bytes(), &found); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestLibrary(t *testing.T) {
	s, h, dir := newTest(t, writesPage, nil, "")
	if found := listing(t, h); len(found.Entries) != 0 || found.Entries == nil {
		t.Errorf("an empty directory has %v", found.Entries)
	}
	write(t, filepath.Join(dir, "one/case.json"), someCase)
	writeRecording(t, filepath.Join(dir, "one/recordings/A-1.culprit"), recording.Target{Kind: "pid", Pid: 7})
	writeRecording(t, filepath.Join(dir, "x.culprit"), recording.Target{Kind: "command", Command: "sleep 1"})
	write(t, filepath.Join(dir, "cut.culprit"), "PK\x03\x04 and no more")
	write(t, filepath.Join(dir, "cut/case.json"), someCase[:200])
	write(t, filepath.Join(dir, "alien/case.json"), `{"schema":"alien/1"}`)
	write(t, filepath.Join(dir, "try/result.json"), `{"schema":"culprit.experiment/1","outcome":"same","command":"x"}`)
	write(t, filepath.Join(dir, "notes.txt"), "not listed")
	if err := os.Symlink("/etc", filepath.Join(dir, "etc")); err != nil {
		t.Fatal(err)
	}
	s.library.forget()
	entries := map[string]Entry{}
	for _, entry := range listing(t, h).Entries {
		entries[entry.Path] = entry
	}
	if len(entries) != 7 {
		t.Errorf("%d entries, want 7: %v", len(entries), entries)
	}
	one := entries["one"]
	if one.Kind != kindCase || one.Title != "./old" || one.Against != "./new" || one.Outcome != "worse" ||
		one.Suspect != "lock.contended" || one.Effect == nil || one.Effect.Ratio != 1.3 || one.Seconds != 12.5 {
		t.Errorf("the case is told as %+v", one)
	}
	if inside := entries["one/recordings/A-1.culprit"]; inside.Of != "one" || inside.Title != "process 7" {
		t.Errorf("a recording of the case is told as %+v", inside)
	}
	if x := entries["x.culprit"]; x.Title != "sleep 1" || x.Host != "h1" || x.Seconds != 2 || x.Started.Year() != 2026 {
		t.Errorf("a recording is told as %+v", x)
	}
	for _, name := range []string{"cut.culprit", "cut", "alien"} {
		if entries[name].Damaged == "" {
			t.Errorf("%s is not told as damaged: %+v", name, entries[name])
		}
	}
	if entries["try"].Kind != kindExperiment || entries["try"].Outcome != "same" {
		t.Errorf("the experiment is told as %+v", entries["try"])
	}
}

// A file that is as it was is not read again; one that changed is.
func TestLibraryReadsWhatChanged(t *testing.T) {
	s, h, dir := newTest(t, "", nil, "")
	name := filepath.Join(dir, "one/case.json")
	write(t, name, someCase)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(name, old, old); err != nil {
		t.Fatal(err)
	}
	listing(t, h)
	known := s.library.known["one/case.json"]
	known.entry.Title = "from memory"
	s.library.known["one/case.json"] = known
	s.library.forget()
	if got := listing(t, h).Entries[0].Title; got != "from memory" {
		t.Errorf("an unchanged file was read again: %q", got)
	}
	write(t, name, strings.Replace(someCase, "./old", "./older", 1))
	s.library.forget()
	if got := listing(t, h).Entries[0].Title; got != "./older" {
		t.Errorf("a changed file was not read again: %q", got)
	}
}

func TestNoPathLeadsOut(t *testing.T) {
	_, h, dir := newTest(t, writesPage, nil, "")
	outside := t.TempDir()
	write(t, filepath.Join(outside, "case.json"), someCase)
	writeRecording(t, filepath.Join(outside, "x.culprit"), recording.Target{})
	for link, to := range map[string]string{"out": outside, "out.culprit": filepath.Join(outside, "x.culprit"),
		"up": "..", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	base := filepath.Base(outside)
	for _, path := range []string{"/recording/../" + base + "/x.culprit", "/recording/out/x.culprit",
		"/recording/out.culprit", "/case/out", "/case/../" + base, "/case/up/" + base, "/api/file/out/x.culprit",
		"/api/file/out/case.json", "/api/file//etc/x.culprit", "/recording//etc/hosts.culprit", "/recording/loop/x.culprit",
		"/recording/a\x00.culprit", "/comparison?a=out.culprit&b=out.culprit", "/api/file/loop/case.json",
		"/comparison?a=" + outside + "/x.culprit&b=/x.culprit", "/comparison?a=../x.culprit&b=../x.culprit"} {
		w := get(h, path)
		if w.Code < 300 || strings.Contains(w.Body.String(), outside) && !strings.Contains(path, outside) {
			t.Errorf("%q: status %d, %.200s", path, w.Code, w.Body)
		}
	}
	if found := listing(t, h); len(found.Entries) != 0 {
		t.Errorf("links are listed: %v", found.Entries)
	}
}

func TestPages(t *testing.T) {
	s, h, dir := newTest(t, writesPage, nil, "")
	write(t, filepath.Join(dir, "one/case.json"), someCase)
	writeRecording(t, filepath.Join(dir, "deep/@1s..2s.culprit"), recording.Target{})
	writeRecording(t, filepath.Join(dir, "-x.culprit"), recording.Target{})
	w := get(h, "/case/one")
	want(t, w, http.StatusOK, "culprit-served", "report --output=", "-- one/case.json")
	if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'sha256-") ||
		!strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the page's policy is %q", policy)
	}
	want(t, get(h, "/recording/-x.culprit"), http.StatusOK, "explain --html=", "-- ./-x.culprit")
	want(t, get(h, "/comparison?a=-x.culprit&b=deep/@1s..2s.culprit&b=-x.culprit&metric=wall"), http.StatusOK,
		"--a=./-x.culprit --b=./deep/@1s..2s.culprit --b=./-x.culprit --metric=wall")
	before := s.metrics.children["done"]
	want(t, get(h, "/case/one"), http.StatusOK)
	if s.metrics.children["done"] != before {
		t.Error("the same page was made twice")
	}
	front := get(h, "/")
	want(t, front, http.StatusOK, "culprit-served")
	if policy := front.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "connect-src 'self'") ||
		strings.Contains(front.Body.String(), `http-equiv="Content-Security-Policy"`) {
		t.Errorf("the library's policy is %q", policy)
	}
	want(t, get(h, "/comparison?a=-x.culprit"), http.StatusBadRequest, "each of a and b")
	want(t, get(h, "/comparison?a=-x.culprit&b=-x.culprit&per=--html"), http.StatusBadRequest, "per")
	want(t, get(h, "/case/none"), http.StatusNotFound)
	want(t, get(h, "/none"), http.StatusNotFound)
	want(t, get(h, "/api/none"), http.StatusNotFound)
	write(t, filepath.Join(dir, "try/result.json"), `{"schema":"culprit.experiment/1"}`)
	write(t, filepath.Join(dir, "try/report.html"), "<script>alert(1)</script>")
	experiment := get(h, "/case/try")
	want(t, experiment, http.StatusOK, "culprit-served", "report --output=", "-- try/result.json")
	if policy := experiment.Header().Get("Content-Security-Policy"); strings.Contains(policy, "unsafe") ||
		strings.Contains(experiment.Body.String(), "alert(1)") {
		t.Errorf("the page that lies there is shown, or the policy is %q", policy)
	}
}

func TestPagesThatFail(t *testing.T) {
	_, h, dir := newTest(t, `echo noise; echo "culprit: read recording x.culprit: not whole
more" >&2; exit 2`, nil, "")
	writeRecording(t, filepath.Join(dir, "x.culprit"), recording.Target{})
	want(t, get(h, "/recording/x.culprit"), http.StatusUnprocessableEntity, "read recording x.culprit: not whole")
	for script, line := range map[string]string{
		"echo 'fatal error: runtime: out of memory' >&2; exit 2": "memory",
		"exit 0": "no page", "exit 3": "exit status 3", "kill -9 $$": "killed"} {
		_, h, dir := newTest(t, script, nil, "")
		writeRecording(t, filepath.Join(dir, "x.culprit"), recording.Target{})
		want(t, get(h, "/recording/x.culprit"), http.StatusUnprocessableEntity, line)
	}
}

// A hostile name is only ever data.
func TestHostileNames(t *testing.T) {
	s, h, dir := newTest(t, writesPage, nil, "")
	names := []string{"<script>alert(1)</script>.culprit", "\u202egnp.culprit", "a\nb.culprit", "$(touch x).culprit",
		"--force.culprit", strings.Repeat("n", 200) + ".culprit", "%2e%2e.culprit"}
	for _, name := range names {
		writeRecording(t, filepath.Join(dir, name), recording.Target{Command: name + "</script><img src=x>"})
	}
	found := listing(t, h)
	if len(found.Entries) != len(names) {
		t.Errorf("%d entries, want %d", len(found.Entries), len(names))
	}
	for _, name := range names {
		want(t, get(h, "/recording/"+name), http.StatusOK)
		w := get(h, "/api/file/"+name)
		told := w.Header().Get("Content-Disposition")
		if w.Code != http.StatusOK || strings.Contains(told, "\n") || !strings.HasPrefix(told, "attachment") {
			t.Errorf("%q: status %d, %q", name, w.Code, w.Header())
		}
	}
	writeRecording(t, filepath.Join(dir, "\xff\xfe.culprit"), recording.Target{})
	want(t, get(h, "/recording/\xff\xfe.culprit"), http.StatusNotFound, "UTF-8")
	s.library.forget()
	text := get(h, "/api/library").Body.String()
	if strings.Contains(text, "<script>") {
		t.Error("the listing has a bare < in it")
	}
}

func TestLimitsOfLibrary(t *testing.T) {
	s, h, dir := newTest(t, "", nil, "")
	write(t, filepath.Join(dir, strings.Repeat("d/", depthMax+2)+"case.json"), someCase)
	if found := listing(t, h); len(found.Entries) != 0 || !strings.Contains(found.LeftOut, "deeper") {
		t.Errorf("a deep case: %+v", found)
	}
	write(t, filepath.Join(dir, "big/case.json"),
		`{"schema":"culprit.case/2","suspects":[`+strings.Repeat(" ", valueMax+1))
	write(t, filepath.Join(dir, "nest/case.json"), `{"schema":`+strings.Repeat("[", 1<<20))
	s.library.forget()
	for _, entry := range listing(t, h).Entries {
		if entry.Damaged == "" || len(entry.Damaged) > textMax {
			t.Errorf("%s: %q", entry.Path, entry.Damaged)
		}
	}
}

func TestMetrics(t *testing.T) {
	_, h, _ := newTest(t, "", nil, "")
	get(h, "/", func(r *http.Request) { r.Host = "evil.example" })
	w := get(h, "/metrics")
	want(t, w, http.StatusOK, `culprit_serve_refused_total{why="host"} 1`, `culprit_serve_requests_total{status="403"} 1`)
	for line := range strings.Lines(w.Body.String()) {
		if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "culprit_serve_") {
			t.Errorf("a metric of another name: %q", line)
		}
	}
}

// read reads a stream of events until it ends.
func read(t *testing.T, from io.Reader) string {
	t.Helper()
	text, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func jobOf(t *testing.T, w *httptest.ResponseRecorder) Job {
	t.Helper()
	want(t, w, http.StatusAccepted)
	var j Job
	if err := json.Unmarshal(w.Body.Bytes(), &j); err != nil {
		t.Fatal(err)
	}
	return j
}

// ended waits for a job.
func ended(t *testing.T, s *server, id string) Job {
	t.Helper()
	for range 1000 {
		if now := s.jobs.find(id).now(); over(now.State) {
			return now
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal(fmt.Sprint("job ", id, " does not end"))
	return Job{}
}
