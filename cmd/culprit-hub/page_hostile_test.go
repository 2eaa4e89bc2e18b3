package main

import (
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

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/bands"
	"culprit/internal/fleet/changes"
	"culprit/internal/fleet/compare"
	"culprit/internal/fleet/facts"
	"culprit/internal/fleet/store"
	"culprit/internal/fleet/weights"
	"culprit/internal/report/browser"
	"culprit/internal/stat"
)

// hostileName is a name that no view may take for anything else.
const hostileName = "<script>alert(1)</script>\u202e\x1b[31m\"'`${alert(1)}"

// A hub that tells hostile names, lacks a shard, is slow and then fails: names are text, what is
// missing comes first, the question can be stopped, and a failure is one line.
func TestFleetPagesOfAHostileHub(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds culprit and starts a browser: -short leaves it out")
	}
	hub := httptest.NewServer(http.HandlerFunc(answerHostile))
	t.Cleanup(hub.Close)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("a-token"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := serveFleet(t, "--hub", hub.URL, "--hub-token-file", token)
	b := browser.Start(t)
	b.Window(360, 740, "dark")
	for _, question := range []string{"services", "hosts", "bands", "compare", "changes", "facts", "top", "worth"} {
		text := look(b, address, "question="+question+"&service=web", question)
		if !strings.Contains(text, "<script>alert(1)</script>\\u202e\\x1b") ||
			!strings.Contains(text, "Incomplete: not all windows could be read") {
			t.Errorf("%s shows %.1500s", question, text)
		}
		if bad := b.Eval("String(/\u202e|\x1b/.test(document.body.innerHTML)) + document.querySelectorAll('main img, " +
			"main script, iframe').length"); bad != "false0" {
			t.Errorf("%s takes a name for what it is not: %s", question, bad)
		}
		if width := b.Eval("document.documentElement.scrollWidth"); width != "360" {
			t.Errorf("%s is %s pixels wide on a telephone", question, width)
		}
	}
	b.Keep("fleet-hostile")
	b.Go(address + "/fleet?question=bands&service=slow")
	b.Wait("document.querySelector('progress') !== null && document.body.innerText.includes('fitting')")
	b.Keep("fleet-progress")
	b.Eval("([...document.querySelectorAll('.progress button')][0].click(), '')")
	b.Wait("document.querySelector('[role=alert]')?.innerText.includes('Stopped') === true")
	b.Go(address + "/fleet?question=bands&service=fails")
	b.Wait("document.querySelector('[role=alert]')?.innerText.includes('hub: it fails') === true")
	if trouble, _ := b.Troubles(); len(trouble) > 0 {
		t.Errorf("the pages complain: %.3000s", strings.Join(trouble, "\n"))
	}
}

// answerHostile is a hub that says what no good one would.
func answerHostile(w http.ResponseWriter, r *http.Request) {
	var request ask.Request
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", ask.LinesType)
	line := func(one ask.Line) {
		text, _ := json.Marshal(one)
		w.Write(append(text, '\n'))
		http.NewResponseController(w).Flush()
	}
	line(ask.Line{Stage: "fitting " + hostileName})
	switch request.Service {
	case "slow":
		select {
		case <-r.Context().Done():
		case <-time.After(time.Minute):
		}
	case "fails":
		line(ask.Line{Error: "it fails " + hostileName})
	default:
		line(ask.Line{Answer: hostileAnswer(request)})
	}
	_, _ = io.Copy(io.Discard, r.Body)
}

// hostileAnswer has names that are hostile and long, and numbers at the ends of what there is.
func hostileAnswer(request ask.Request) *ask.Answer {
	long := hostileName + strings.Repeat("x", 10_000)
	answer := &ask.Answer{Question: request.Question, Service: hostileName, From: request.Span.From,
		Until: request.Span.Until, Unit: "CPU time per request, ns", Hosts: 30, Windows: 1 << 40,
		Incomplete: []string{long}, Notes: []string{long},
		Look: []ask.Look{{Host: long, Why: hostileName, Commands: []string{"culprit record " + long}}}}
	groups := []string{"cheap", "dear", "between", "apart", hostileName}
	for i := range 30 {
		answer.Each = append(answer.Each, ask.HostValue{Host: fmt.Sprint(i, long), Value: float64(i) * 1e300, Load: 1e-300,
			Group: groups[i%5], Version: long, Labels: map[string]string{hostileName: long}, Windows: int64(i),
			Last: 1 << 60})
	}
	some := stat.Interval{Value: -1e300, Low: -1e308, High: 1e308}
	found := &facts.Answer{Facts: 3, Partitions: 2, Findings: []facts.Finding{{With: []int{1, 2, 1 << 40},
		Facts: []facts.Name{{Fact: long, Value: hostileName}}, Effect: 1e9}}}
	code := []ask.Difference{{Name: long, Module: hostileName, Change: some}}
	all := &ask.FactsFound{Answer: found, Names: []string{hostileName}}
	switch request.Question {
	case ask.Services:
		answer.Services = []store.Service{{Name: hostileName, Hosts: -1, Windows: 1 << 60, First: -1 << 60,
			Last: 1 << 60}}
	case ask.Bands:
		answer.Bands = &ask.BandsFound{Answer: &bands.Answer{Two: true, Low: bands.Band{Value: 1},
			High: bands.Band{Value: 1e300}}, Facts: all, Frames: code, Lasts: &ask.Lasts{Restarted: 3, Moved: 2}}
	case ask.Compare:
		effect := &compare.Effect{Change: some, Adjusted: []string{long}, Units: hostileName}
		answer.Compare = &ask.ComparisonFound{Effect: effect, NameA: long, NameB: hostileName,
			Confounded: []string{long}, Frames: code}
	case ask.Changes:
		at := time.Unix(request.Span.From, 0)
		answer.Changes = &ask.ChangesFound{
			Watch: &changes.Answer{Changes: []changes.Change{{At: at, Low: at, High: at.AddDate(1, 0, 0), Size: some}}},
			Rollouts: []ask.Rollout{{Version: long, Start: 1 << 40, Told: true, Effect: &changes.Rollout{Change: some}},
				{Version: hostileName, Why: long}},
			Together: []ask.Together{{What: long, Hosts: 3}, {Change: 7, What: hostileName}},
			Course:   []ask.LevelHour{{At: request.Span.From, Level: 1}, {At: request.Span.Until, Level: 1e300}}}
	case ask.Facts:
		answer.Facts = all
	case ask.Top:
		part := weights.Part{Name: long, Share: some, Cores: some, Most: hostileName}
		answer.Top = &ask.TopFound{Cores: 1e300, Self: []weights.Part{part}, Total: []weights.Part{part}, PerYear: 1e300}
	case ask.Worth:
		answer.Worth = &ask.WorthFound{What: long, Spent: some, Effect: some,
			Saving: weights.Saving{Cores: some, PerYear: some}}
	}
	return answer
}
