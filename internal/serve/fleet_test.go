package serve

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/client"
)

// newFleetTest is a server that asks a hub which answers as it is told.
func newFleetTest(t *testing.T, hub http.HandlerFunc, token string) http.Handler {
	t.Helper()
	fake := httptest.NewServer(hub)
	t.Cleanup(fake.Close)
	_, h, _ := newTest(t, "", func(o *Options) {
		o.Fleet, o.ReadOnly = client.Where{Hub: fake.URL, Token: "the-token-of-the-hub"}, true
	}, token)
	return h
}

// isWaiting is how many questions wait or are being answered.
func isWaiting(h http.Handler) int64 {
	text := get(h, "/metrics").Body.String()
	_, after, _ := strings.Cut(text, "\nculprit_serve_questions_waiting ")
	line, _, _ := strings.Cut(after, "\n")
	count, _ := strconv.ParseInt(line, 10, 64) // 0 where there is none
	return count
}

// linesOf reads the lines of an answer.
func linesOf(t *testing.T, text string) (lines []FleetLine) {
	t.Helper()
	for line := range strings.Lines(text) {
		var one FleetLine
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		lines = append(lines, one)
	}
	return lines
}

// A question goes to the hub with the server's token, and what comes goes to who asked, without it.
func TestFleet(t *testing.T) {
	h := newFleetTest(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer the-token-of-the-hub" || r.Header.Get("Cookie") != "" {
			t.Errorf("the hub was asked with %v", r.Header)
		}
		var request ask.Request
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || request.Span.Until-request.Span.From != 48*3600 {
			t.Errorf("the hub was asked %+v, %v", request, err)
		}
		w.Header().Set("Content-Type", ask.LinesType)
		io.WriteString(w, `{"stage":"reading hosts"}`+"\n"+
			`{"answer":{"question":"bands","service":"web","hosts":40,"incomplete":["shard 2 does not answer"]}}`+"\n")
	}, "")
	w := send(h, http.MethodPost, "/api/fleet/ask", `{"question":"bands","service":"web","since":"48h"}`,
		func(r *http.Request) { r.Header.Set("Cookie", "culprit_8717=x") })
	want(t, w, http.StatusOK)
	lines := linesOf(t, w.Body.String())
	last := lines[len(lines)-1]
	if len(lines) != 4 || lines[2].Stage != "reading hosts" || last.Answer == nil || last.Answer.Hosts != 40 ||
		len(last.Answer.Incomplete) != 1 {
		t.Errorf("told %+v", lines)
	}
	if command := lines[0].Command; !strings.HasPrefix(command, "culprit fleet bands web --hub http://127.0.0.1:") ||
		!strings.HasSuffix(command, " --token-file FILE --since=48h") {
		t.Errorf("the same as a command: %s", command)
	}
	all := w.Body.String() + get(h, "/fleet").Body.String() + get(h, "/api/fleet").Body.String() +
		get(h, "/api/library").Body.String() + get(h, "/metrics").Body.String()
	if strings.Contains(all, "the-token") {
		t.Error("the hub's token leaves the server")
	}
	want(t, get(h, "/metrics"), http.StatusOK, `culprit_serve_questions_total{end="done"} 1`)
	want(t, get(h, "/api/library"), http.StatusOK, `"fleet":"hub 127.0.0.1:`)
	if policy := get(h, "/fleet").Header().Get("Content-Security-Policy"); policy == "" ||
		policy != get(h, "/").Header().Get("Content-Security-Policy") {
		t.Errorf("the policy of the page is %q", policy)
	}
}

// What cannot be asked is refused in one line, before a hub hears of it.
func TestFleetRefuses(t *testing.T) {
	asked := 0
	h := newFleetTest(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"error":"the token is not known here"}`)
	}, "")
	for body, word := range map[string]string{`{"question":"bands"}`: "which service",
		`{"question":"bands","service":"web","since":"yesterday"}`:              "yesterday",
		`{"question":"compare","service":"web","before":"2h..1h"}`:              "go together",
		`{"question":"bands","service":"web","hub":"http://elsewhere.example"}`: "unknown field"} {
		want(t, send(h, http.MethodPost, "/api/fleet/ask", body), http.StatusBadRequest, word)
	}
	elsewhere := func(r *http.Request) { r.Header.Set("Origin", "https://elsewhere.example") }
	want(t, send(h, http.MethodPost, "/api/fleet/ask", `{"question":"services","service":""}`, elsewhere),
		http.StatusForbidden, "another server")
	if asked > 0 {
		t.Errorf("the hub was asked %d times", asked)
	}
	w := send(h, http.MethodPost, "/api/fleet/ask", `{"question":"services","service":""}`)
	lines := linesOf(t, w.Body.String())
	if last := lines[len(lines)-1]; last.Error != "hub: the token is not known here" {
		t.Errorf("a refusal of the hub is told as %+v", last)
	}
	locked := newFleetTest(t, nil, "0123456789abcdef")
	want(t, send(locked, http.MethodPost, "/api/fleet/ask", `{"question":"services","service":""}`),
		http.StatusUnauthorized, "token")
	_, without, _ := newTest(t, "", nil, "")
	want(t, get(without, "/fleet"), http.StatusNotFound, "--hub URL or --store DIR")
	want(t, send(without, http.MethodPost, "/api/fleet/ask", `{"question":"services","service":""}`),
		http.StatusNotFound, "--hub URL or --store DIR")
}

// A directory is asked one question at a time; more than wait are refused; who goes away leaves the
// place.
func TestFleetTurns(t *testing.T) {
	f := newFleet(client.Where{Store: "/nowhere"})
	if cap(f.turns) != 1 || f.where.Words() != "store /nowhere" {
		t.Errorf("%d at one time, %s", cap(f.turns), f.where.Words())
	}
	secret := newFleet(client.Where{Store: "clickhouse://me:secret@ch1:9000,ch2:9000/d?cluster=c"})
	if cap(secret.turns) != hubQuestions || secret.where.Words() != "cluster ch1:9000,ch2:9000" {
		t.Errorf("%d at one time, %s", cap(secret.turns), secret.where.Words())
	}
	release := make(chan struct{})
	h := newFleetTest(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		io.WriteString(w, `{"question":"services"}`)
	}, "")
	answers := make(chan int, questionsMax)
	for range questionsMax {
		go func() {
			answers <- send(h, http.MethodPost, "/api/fleet/ask", `{"question":"services","service":""}`).Code
		}()
	}
	for deadline := time.Now().Add(time.Minute); isWaiting(h) < questionsMax && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	want(t, send(h, http.MethodPost, "/api/fleet/ask", `{"question":"services","service":""}`),
		http.StatusServiceUnavailable, "too many questions")
	close(release)
	for range questionsMax {
		if code := <-answers; code != http.StatusOK {
			t.Errorf("one that waited got %d", code)
		}
	}
}
