package report

import (
	"bytes"
	"slices"
	"strings"

	"culprit/internal/cause"
	"culprit/internal/host"
	"culprit/internal/investigate"
	"culprit/internal/tail"
	"culprit/recording"
)

// TailHTML writes why slow requests are slow as a page: the suspects, latencies, the course of time
// with what the requests of a range did, and the slowest as lines of time.
func TailHTML(path string, r *tail.Result, rec *recording.Recording, options tail.Options) error {
	shown := tailCase(r, rec)
	words := verdictOf(shown)
	words.Headline, words.Detail, words.Others = upperFirst(tailHeadline(r)), tailDetail(r), []string{}
	words.Label, words.Whole, words.Per = "tail", "the extra time", "recording"
	words.Only = []string{"suspects", "requests", "limits"}
	words.Cost = []string{"The recorder used " + amount(float64(r.RecorderCost.StartCPUNs)/1e9, "s") +
		" of CPU to start and " + amount(float64(r.RecorderCost.RecorderCPUNs)/1e9, "s") + " while recording"}
	requests := requestPageOf(RequestSide{Title: shown.A.Command, Recordings: []*recording.Recording{rec},
		Options: options})
	data, err := scripts(shown, words, requests, r)
	if err != nil {
		return err
	}
	var fallback bytes.Buffer
	if err := Tail(&fallback, r, TextOptions{}); err != nil {
		return err
	}
	text, err := fill(data, fallback.String())
	if err != nil {
		return err
	}
	return writePage(path, text)
}

// tailCase shows what was found as a case of one side, whose page then shows it.
func tailCase(r *tail.Result, rec *recording.Recording) *investigate.Case {
	manifest := rec.Manifest
	c := &investigate.Case{Schema: tail.Schema, Outcome: investigate.Listed,
		Metric:   investigate.Metric{Name: "latency", Unit: "s", Better: "lower"},
		A:        investigate.SideSummary{Command: manifest.Target.Words(), Trials: 1},
		Suspects: tailSuspects(r.Suspects), BlindSpots: r.BlindSpots, Warnings: append([]string{}, r.Unseen.Why...),
		Host: investigate.Host{Name: manifest.Host, Kernel: manifest.Kernel, CPU: rec.Fact(host.FactCPUModel),
			Hypervisor: rec.Fact(host.FactHypervisor), ClockSource: rec.Fact(host.FactClockSource)},
		ElapsedS: r.Seconds}
	if len(r.Suspects) == 0 && r.Why != "" {
		c.Warnings = append([]string{"no suspect: " + r.Why}, c.Warnings...)
	}
	return c
}

// tailSuspects puts the amounts of the evidence where a page of one side shows them.
func tailSuspects(found []cause.Suspect) []cause.Suspect {
	var shown []cause.Suspect
	for _, suspect := range found {
		suspect.Evidence = slices.Clone(suspect.Evidence)
		for i := range suspect.Evidence {
			suspect.Evidence[i].A = suspect.Evidence[i].B
		}
		shown = append(shown, suspect)
	}
	return shown
}

// tailDetail says what the requests were, in one line.
func tailDetail(r *tail.Result) string {
	if len(r.Requests) == 0 {
		return "no request was answered"
	}
	most := &r.Requests[0]
	text := serviceTitle(&most.Kind) + ", " + visible(kindTitle(&most.Kind), nameRunesMax) + ": half took up to " +
		amount(most.Latency.P50, "s") + ", one in a hundred more than " + amount(most.Latency.P99, "s")
	if more := len(r.Requests) - 1; more > 0 {
		text += "; " + plural(more, "more kind")
	}
	return text
}

func upperFirst(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
