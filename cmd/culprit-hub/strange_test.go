package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/store"
	"culprit/internal/fleet/window"
	"culprit/internal/stat"
)

// strangeFleets are those that nobody has in mind: none, one host, two, hosts that are all alike or
// did nothing.
func strangeFleets(t *testing.T) map[string][]upload {
	alike := func(hosts, windows int, cpu, requests, seen int64) (all []upload) {
		for i := range hosts {
			for k := range windows {
				at := day0.Add(time.Duration(k) * time.Hour)
				all = append(all, makeUpload(t, fmt.Sprintf("web-%03d", i), at, cpu, requests, 0, func(w *window.Window) {
					if seen == 0 {
						w.Services[0].Requests = nil
					}
					w.Labels["zone"] = fmt.Sprintf("z%d", i%2)
				}))
			}
		}
		return all
	}
	return map[string][]upload{
		"nothing": nil, "one window": alike(1, 1, 2e9, 1000, 1), "one host": alike(1, 6, 2e9, 1000, 1),
		"two hosts": alike(2, 6, 2e9, 1000, 1), "equal hosts": alike(24, 2, 2e9, 1000, 1),
		"no requests": alike(24, 2, 2e9, 0, 0), "no work": alike(24, 2, 0, 0, 1),
		"requests that cost nothing": alike(24, 1, 0, 10, 1),
	}
}

// strangeRequests are questions() and what people mistype.
func strangeRequests() map[string]ask.Request {
	all := questions()
	span := all["top"].Span
	for name, request := range map[string]ask.Request{
		"services":             {Question: ask.Services},
		"hosts":                {Question: ask.Hosts},
		"no question":          {Question: "why"},
		"no question at all":   {},
		"hosts of no zone":     {Question: ask.Hosts, A: "zone=z9"},
		"bands of no zone":     {Question: ask.Bands, A: "zone=z9,version!=1"},
		"top of no label":      {Question: ask.Top, A: "colour=red"},
		"half a choice":        {Question: ask.Top, A: "zone="},
		"no choice":            {Question: ask.Top, A: "zone"},
		"no sides":             {Question: ask.Compare},
		"one side":             {Question: ask.Compare, A: "zone=z0"},
		"sides alike":          {Question: ask.Compare, A: "zone=z0", B: "zone=z0"},
		"no such side":         {Question: ask.Compare, A: "zone=z0", B: "zone=z9"},
		"no such metric":       {Question: ask.Bands, Metric: "bogomips"},
		"latency":              {Question: ask.Bands, Metric: "latency"},
		"within no label":      {Question: ask.Facts, Within: []string{"colour"}},
		"within, of compare":   {Question: ask.Compare, A: "zone=z0", B: "zone=z1", Within: []string{"zone"}},
		"worth of nothing":     {Question: ask.Worth},
		"worth of no function": {Question: ask.Worth, Effect: &stat.Interval{Value: -0.1, Low: -0.2}, Frame: "nowhere"},
		"worth of half":        {Question: ask.Worth, Effect: &stat.Interval{Value: -0.1, Low: -0.2}, Setting: "thp"},
		"before, of no time":   {Question: ask.Compare, Before: &store.Span{From: 10, Until: 20}},
		"before, backwards":    {Question: ask.Compare, Before: &store.Span{From: 20, Until: 10}},
		"baseline, of no time": {Question: ask.Compare, A: "zone=z0", B: "zone=z1",
			Baseline: &store.Span{From: 10, Until: 20}},
		"before, the same time": {Question: ask.Compare, Before: &span},
		"many rows":             {Question: ask.Top, Most: 1 << 30},
		"minus many rows":       {Question: ask.Facts, Most: -1 << 30},
	} {
		request.Service, request.Span = "web", span
		all[name] = request
	}
	for name, service := range map[string]string{"no service": "", "a service with quotes": `'; DROP TABLE windows; --`} {
		request := all["top"]
		request.Service = service
		all[name] = request
	}
	backwards := all["bands"]
	backwards.Span = store.Span{From: span.Until, Until: span.From}
	all["backwards"] = backwards
	return all
}

// unsaid is what must not stand in an answer or an error: what Go prints where nobody thought of
// it.
var unsaid = regexp.MustCompile(`NaN|[+-]Inf|%!|<nil>|\bnil\b|runtime error|map\[`)

// wants are what the errors of some mistakes say, of fleets that have hosts.
var wants = map[string]string{
	"hosts of no zone":  "no host of web has zone=z9; zone is z",
	"bands of no zone":  "no host of web has zone=z9 and version!=1; zone is z0, z1, version is 1",
	"top of no label":   "no host of web has colour=red; none has a colour",
	"no such side":      "no host of web has zone=z9",
	"before, backwards": "is no time",
	"backwards":         "is no time",
	"before, of no time": "--before: no windows from 1970-01-01 00:00 until 1970-01-01 00:00: " +
		"it has some from 2026-11-20",
	"baseline, of no time": "--baseline: no windows from 1970-01-01 00:00",
	"no such service":      "no windows: the store has web",
	"no question":          `no question "why"`,
}

// Every question is answered of any fleet, as JSON, or refused in words.
func TestStrangeFleets(t *testing.T) {
	for name, all := range strangeFleets(t) {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			defer s.Close()
			takeAll(t, s, all)
			for asked, request := range strangeRequests() {
				answer, err := ask.Ask(t.Context(), s, request)
				said := saidOf(t, asked, answer, err)
				if want := wants[asked]; len(all) > 40 && want != "" && !strings.Contains(said, want) {
					t.Errorf("%s: %s, want %s", asked, said, want)
				}
				if unsaid.MatchString(said) {
					t.Errorf("%s: %s", asked, said)
				}
				if testing.Verbose() {
					t.Logf("%s:\n%s", asked, said)
				}
			}
		})
	}
}

// saidOf is all that somebody gets to read of an answer.
func saidOf(t *testing.T, asked string, answer *ask.Answer, err error) string {
	t.Helper()
	if err != nil {
		return err.Error()
	}
	text, err := json.Marshal(answer)
	if err != nil {
		t.Errorf("%s as JSON: %v", asked, err)
	}
	return string(text)
}
