package serve

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"culprit/recording"
)

// records is a script that tells progress and writes the file that it was asked for.
const records = `for word in "$@"; do case $word in --out=*) out=${word#*=};; --case=*) out=${word#*=};; esac; done
echo '{"stage":"measuring","budget_s":9}' >&3
echo 'no JSON' >&3
echo '{"estimate":{"metric":"cpu","outcome":"worse","ratio":1.3,"low":1.1,"high":1.5,"pairs":4}}' >&3
echo '{"state":"done","suspects":[{"cause":"lock.contended","level":"explains","share":0.8}]}' >&3
echo "$@" > "$out"`

func TestRecord(t *testing.T) {
	s, h, dir := newTest(t, records, nil, "")
	j := jobOf(t, send(h, http.MethodPost, "/api/record", `{"command":"sleep 1; $(x)","seconds":2.5,"name":"one"}`))
	now := ended(t, s, j.ID)
	if now.State != stateDone || now.Href != "/recording/one.culprit" || now.Progress.Stage != "measuring" {
		t.Errorf("the job is told as %+v", now)
	}
	args, err := os.ReadFile(filepath.Join(dir, "one.culprit"))
	if err != nil {
		t.Fatal(err)
	}
	const asked = "record --progress-fd=3 --out=one.culprit --duration=2.5s -- /bin/sh -c sleep 1; $(x)\n"
	if string(args) != asked {
		t.Errorf("the child was asked %q, want %q", args, asked)
	}
	want(t, send(h, http.MethodPost, "/api/record", `{"all":true,"name":"one"}`), http.StatusBadRequest, "exists")
	for body, word := range map[string]string{
		`{}`: "one of pid", `{"all":true,"pid":1}`: "one of pid", `{"all":true,"seconds":-1}`: "seconds",
		`{"all":true,"seconds":1e9}`: "seconds", `{"cgroup":"/etc"}`: "below /sys/fs/cgroup", `{"pid":-1}`: "none",
		`{"cgroup":"/sys/fs/cgroup/../../etc"}`: "below", `{"all":true,"name":"../x"}`: "name", `{`: "read request",
		`{"all":true,"name":".x"}`: "name", `{"all":true,"name":"a/b"}`: "name", `{"all":true} {}`: "follows",
		`{"all":true,"name":"-o"}`: "name", `{"all":true,"unknown":1}`: "unknown", `{"command":"a\u0000b"}`: "zero byte",
		`{"command":"` + strings.Repeat("x", commandMax+1) + `"}`: "more than"} {
		want(t, send(h, http.MethodPost, "/api/record", body), http.StatusBadRequest, word)
	}
	want(t, send(h, http.MethodPost, "/api/record", strings.Repeat(" ", askMax)+"{}"),
		http.StatusRequestEntityTooLarge)
	want(t, send(h, http.MethodPost, "/api/record", `{"all":true}`, header("Content-Type", "text/plain")),
		http.StatusUnsupportedMediaType, "JSON")
}

func TestTail(t *testing.T) {
	s, h, dir := newTest(t, records, nil, "")
	j := jobOf(t, send(h, http.MethodPost, "/api/tail",
		`{"service":"port:8080","seconds":3,"over_s":0.05,"name":"slow"}`))
	if now := ended(t, s, j.ID); now.State != stateDone || now.Href != "/tail/slow.culprit" {
		t.Errorf("the job is told as %+v", now)
	}
	args, err := os.ReadFile(filepath.Join(dir, "slow.culprit"))
	if err != nil {
		t.Fatal(err)
	}
	const asked = "tail --progress-fd=3 --json=/dev/null --out=slow.culprit --duration=3s --over=50ms -- port:8080\n"
	if string(args) != asked {
		t.Errorf("the child was asked %q, want %q", args, asked)
	}
	for body, word := range map[string]string{`{}`: "one of pid", `{"pid":1,"service":"port:1"}`: "one of pid",
		`{"service":"--out=x"}`: "port:N", `{"service":"x.culprit"}`: "port:N", `{"pid":-1}`: "none",
		`{"cgroup":"/etc"}`: "below", `{"pid":1,"over_s":-1}`: "over_s", `{"pid":1,"seconds":1e9}`: "seconds"} {
		want(t, send(h, http.MethodPost, "/api/tail", body), http.StatusBadRequest, word)
	}
}

func TestInvestigateWithNews(t *testing.T) {
	s, h, _ := newTest(t, records, nil, "")
	j := jobOf(t, send(h, http.MethodPost, "/api/investigate",
		`{"a":"./old --x","b":"./new","budget_s":30,"metric":"wall","name":"case1"}`))
	now := ended(t, s, j.ID)
	if now.State != stateDone || now.Href != "/case/case1" || now.Expected != 9 || now.Progress.Estimate == nil ||
		now.Progress.Estimate.Pairs != 4 || len(now.Progress.Suspects) != 1 {
		t.Errorf("the job is told as %+v", now)
	}
	stream := get(h, "/api/jobs/"+j.ID+"/events")
	text := stream.Body.String()
	for _, part := range []string{`"state":"running"`, `"stage":"measuring"`, `"ratio":1.3`, "lock.contended",
		`"state":"done"}`, "event: end"} {
		if !strings.Contains(text, part) {
			t.Errorf("the stream has no %s:\n%s", part, text)
		}
	}
	if strings.Count(text, `"state":"done"`) != 1 {
		t.Errorf("a child told that the job is done:\n%s", text)
	}
	rest := get(h, "/api/jobs/"+j.ID+"/events", header("Last-Event-ID", "3")).Body.String()
	if strings.Contains(rest, "id: 3\n") || !strings.Contains(rest, "id: 4\n") {
		t.Errorf("the stream goes on with:\n%s", rest)
	}
	for body, word := range map[string]string{`{}`: "nothing to investigate", `{"a":"x","pid":3}`: "one of",
		`{"a":"x","prove":"ask"}`: "prove", `{"a":"x","budget_s":-1}`: "budget_s"} {
		want(t, send(h, http.MethodPost, "/api/investigate", body), http.StatusBadRequest, word)
	}
}

// A job that is stopped is interrupted, and what it wrote is kept. What measures runs alone.
func TestStopAndQueue(t *testing.T) {
	s, h, dir := newTest(t, `for word in "$@"; do case $word in --out=*) out=${word#*=};; esac; done
trap 'echo kept > "$out"; exit 0' INT; echo '{"stage":"recording"}' >&3; while :; do sleep 0.01; done`, nil, "")
	first := jobOf(t, send(h, http.MethodPost, "/api/record", `{"all":true,"name":"one"}`))
	second := jobOf(t, send(h, http.MethodPost, "/api/record", `{"all":true,"name":"two"}`))
	want(t, send(h, http.MethodPost, "/api/record", `{"all":true,"name":"two"}`), http.StatusConflict, "another job")
	for s.jobs.find(first.ID).now().Progress.Stage == "" {
		time.Sleep(time.Millisecond)
	}
	if state := s.jobs.find(second.ID).now().State; state != stateQueued {
		t.Errorf("the second job is %s while the first measures", state)
	}
	want(t, send(h, http.MethodPost, "/api/jobs/"+second.ID+"/stop", ""), http.StatusAccepted)
	want(t, send(h, http.MethodPost, "/api/jobs/"+first.ID+"/stop", ""), http.StatusAccepted)
	if now := ended(t, s, first.ID); now.State != stateStopped || now.Href != "/recording/one.culprit" {
		t.Errorf("a stopped job is told as %+v", now)
	}
	if now := ended(t, s, second.ID); now.State != stateStopped || now.Href != "" {
		t.Errorf("a job that was stopped before its turn is told as %+v", now)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "one.culprit")); err != nil || string(text) != "kept\n" {
		t.Errorf("kept %q, %v", text, err)
	}
	want(t, send(h, http.MethodPost, "/api/jobs/99/stop", ""), http.StatusNotFound)
}

func TestTooManyJobs(t *testing.T) {
	_, h, _ := newTest(t, `trap 'exit 0' INT; while :; do sleep 0.01; done`, nil, "")
	for range queuedMax {
		jobOf(t, send(h, http.MethodPost, "/api/investigate", `{"a":"x","name":"`+strings.Repeat("n", 1+len(t.Name())%7)+
			time.Now().Format("150405.000000000")+`"}`))
	}
	want(t, send(h, http.MethodPost, "/api/investigate", `{"a":"x","name":"more"}`), http.StatusServiceUnavailable)
}

func TestReadOnly(t *testing.T) {
	_, h, dir := newTest(t, writesPage, func(o *Options) { o.ReadOnly = true }, "")
	writeRecording(t, filepath.Join(dir, "x.culprit"), recording.Target{})
	for _, path := range []string{"/api/record", "/api/investigate", "/api/upload"} {
		want(t, send(h, http.MethodPost, path, `{"all":true}`), http.StatusForbidden, "only shows")
	}
	if !listing(t, h).ReadOnly {
		t.Error("the library does not say that it is only shown")
	}
	jobOf(t, send(h, http.MethodPost, "/api/compare", `{"a":["x.culprit"],"b":["x.culprit"]}`))
}

func TestCompare(t *testing.T) {
	s, h, dir := newTest(t, writesPage, nil, "")
	writeRecording(t, filepath.Join(dir, "a b.culprit"), recording.Target{})
	writeRecording(t, filepath.Join(dir, "c/d&.culprit"), recording.Target{})
	j := jobOf(t, send(h, http.MethodPost, "/api/compare",
		`{"a":["a b.culprit"],"b":["c/d&.culprit","a b.culprit"],"metric":"cpu"}`))
	now := ended(t, s, j.ID)
	if now.State != stateDone || now.Href != "/comparison?a=a+b.culprit&b=c%2Fd%26.culprit&b=a+b.culprit&metric=cpu" {
		t.Fatalf("the job is told as %+v", now)
	}
	want(t, get(h, now.Href), http.StatusOK, "--a=./a b.culprit --b=./c/d&.culprit --b=./a b.culprit --metric=cpu")
	for _, body := range []string{`{"a":["a b.culprit"]}`, `{"a":["x"],"b":["y"]}`,
		`{"a":["../x.culprit"],"b":["x.culprit"]}`,
		`{"a":["a b.culprit"],"b":["a b.culprit"],"metric":"--html=/etc/x"}`} {
		want(t, send(h, http.MethodPost, "/api/compare", body), http.StatusBadRequest)
	}
	gone := jobOf(t, send(h, http.MethodPost, "/api/compare", `{"a":["gone.culprit"],"b":["a b.culprit"]}`))
	if now := ended(t, s, gone.ID); now.State != stateFailed || !strings.Contains(now.Error, "gone.culprit") {
		t.Errorf("the job is told as %+v", now)
	}
}

// imports is a script that accepts what it is given, or refuses what begins with "bad".
const imports = `for word in "$@"; do case $word in --out=*) out=${word#*=};; --*) ;; ./*) in=$word;; esac; done
case $(head -c 3 "$in") in bad) echo "culprit: $in: no format" >&2; exit 2;; esac
[ -z "$out" ] || cp "$in" "$out"`

func TestUpload(t *testing.T) {
	s, h, dir := newTest(t, imports, nil, "")
	put := func(name, body string) *httptest.ResponseRecorder {
		return send(h, http.MethodPost, "/api/upload?name="+name, body)
	}
	for name, made := range map[string]string{"a.folded": "a.folded.culprit", "x%2F..%2F..%2Fy.culprit": "y.culprit",
		"%3Cscript%3E.txt": "_script_.txt.culprit", "..%2F.hidden": "hidden.culprit", "-rf": "rf.culprit",
		"%00": "_.culprit", ".made.culprit.new": "made.culprit.new.culprit"} {
		now := ended(t, s, jobOf(t, put(name, "main;f 1\n")).ID)
		if text, err := os.ReadFile(filepath.Join(dir, made)); err != nil || string(text) != "main;f 1\n" ||
			now.Href != "/recording/"+made {
			t.Errorf("%s: %q, %v, %+v", name, text, err, now)
		}
	}
	want(t, put("a.folded", "again"), http.StatusBadRequest, "exists")
	want(t, put("empty", ""), http.StatusBadRequest, "empty")
	now := ended(t, s, jobOf(t, put("b.txt", "bad")).ID)
	if now.State != stateFailed || now.Error != "./b.txt: no format" {
		t.Errorf("what cannot be read: %+v", now)
	}
	if now := ended(t, s, jobOf(t, put("z.culprit", "PK\x03\x04")).ID); now.State != stateDone {
		t.Errorf("a recording: %+v", now)
	}
	large := send(h, http.MethodPost, "/api/upload?name=l", "x", func(r *http.Request) { r.ContentLength = uploadMax + 1 })
	want(t, large, http.StatusRequestEntityTooLarge)
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.Contains(name.Name(), "partial") {
			t.Errorf("%s was left behind", name.Name())
		}
	}
	if left, _ := filepath.Glob(filepath.Join(s.pages.folder, "upload-*", "*")); len(left) != 0 {
		t.Errorf("%v was left behind", left)
	}
}

// Two users at once: each sees what the other started, and pages are made once.
func TestTwoUsers(t *testing.T) {
	s, h, dir := newTest(t, "sleep 0.05\n"+writesPage, nil, "")
	writeRecording(t, filepath.Join(dir, "x.culprit"), recording.Target{})
	answers := make(chan int, 20)
	for range cap(answers) {
		go func() { answers <- get(h, "/recording/x.culprit").Code }()
	}
	for range cap(answers) {
		if status := <-answers; status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
	if made := s.metrics.children["done"]; made != 1 {
		t.Errorf("the page was made %d times", made)
	}
	job := jobOf(t, send(h, http.MethodPost, "/api/compare", `{"a":["x.culprit"],"b":["x.culprit"]}`))
	if !slices.ContainsFunc(s.jobs.list(), func(other Job) bool { return other.ID == job.ID }) ||
		!strings.Contains(get(h, "/api/jobs").Body.String(), "x.culprit against x.culprit") {
		t.Error("the other user does not see the job")
	}
}
