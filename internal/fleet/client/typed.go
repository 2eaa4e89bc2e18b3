package client

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/store"
	"culprit/internal/stat"
)

// Typed is a question as people put it, on a command line or in a form: times are "24h", "30d" or
// in UTC. Each field is the flag of its name.
type Typed struct {
	Question string `json:"question"`
	Service  string `json:"service"`
	Since    string `json:"since,omitempty"`
	Until    string `json:"until,omitempty"`
	Metric   string `json:"metric,omitempty"`
	A        string `json:"a,omitempty"`
	B        string `json:"b,omitempty"`
	// Before, After and Baseline are FROM..TO.
	Before      string         `json:"before,omitempty"`
	After       string         `json:"after,omitempty"`
	Baseline    string         `json:"baseline,omitempty"`
	Within      []string       `json:"within,omitempty"`
	Frame       string         `json:"frame,omitempty"`
	Setting     string         `json:"setting,omitempty"`
	Effect      *stat.Interval `json:"effect,omitempty"`
	PerCoreHour float64        `json:"per_core_hour,omitempty"`
	Smallest    float64        `json:"smallest,omitempty"`
	Most        int            `json:"most,omitempty"`
}

// Request is the question that is asked of a store.
func (t Typed) Request(now time.Time) (request ask.Request, err error) {
	request = ask.Request{Question: t.Question, Service: t.Service, Metric: t.Metric, A: t.A, B: t.B, Within: t.Within,
		Frame: t.Frame, Setting: t.Setting, PerCoreHour: t.PerCoreHour, Smallest: t.Smallest, Most: t.Most}
	since := t.Since
	if since == "" {
		if since = "24h"; t.Question == ask.Changes {
			since = "30d"
		}
	}
	if request.Span.From, err = timeOf(since, now); err != nil {
		return request, err
	}
	if request.Span.Until, err = timeOf(t.Until, now); err != nil {
		return request, err
	}
	if (t.Before == "") != (t.After == "") {
		return request, errors.New("--before and --after go together: FROM..TO each")
	}
	if t.After != "" {
		span, err := spanOf(t.After, now)
		if err != nil {
			return request, err
		}
		request.Span = *span
	}
	if request.Before, err = spanOf(t.Before, now); err != nil {
		return request, err
	}
	if request.Baseline, err = spanOf(t.Baseline, now); err != nil {
		return request, err
	}
	if t.PerCoreHour < 0 || t.PerCoreHour > maxPrice || t.PerCoreHour != t.PerCoreHour {
		return request, fmt.Errorf("--per-core-hour %g is no price; give one such as 0.04", t.PerCoreHour)
	}
	if t.Smallest < 0 || t.Smallest >= 1 || t.Smallest != t.Smallest {
		return request, fmt.Errorf("--smallest %g: give a share such as 0.02 for 2 %%", t.Smallest)
	}
	if e := t.Effect; e != nil {
		if !(e.Low <= e.Value && e.Value <= e.High) {
			return request, errors.New("--effect needs its interval: --effect-low and --effect-high around it")
		}
		if e.Value < -1 {
			return request, fmt.Errorf("--effect=%g: nothing takes less than no time; -1 is all of it", e.Value)
		}
		request.Effect = e
	}
	return request, nil
}

// Command is the same question on a command line.
func (t Typed) Command(where Where) string {
	words := []string{"culprit", "fleet", t.Question}
	if t.Question != ask.Services {
		words = append(words, ask.Quote(t.Service))
	}
	flag := func(name, value string) {
		switch {
		case value == "":
		case ask.Quote("="+value) == "="+value:
			words = append(words, "--"+name+"="+value)
		default:
			words = append(words, "--"+name+"="+ask.Quote(value))
		}
	}
	number := func(name string, value float64) {
		if value != 0 {
			flag(name, fmt.Sprint(value))
		}
	}
	switch {
	case where.Hub != "":
		words = append(words, "--hub", ask.Quote(where.Hub), "--token-file", "FILE")
	case where.isCluster():
		words = append(words, "--store", "DSN") // it may hold a password
		flag("tenant", where.Tenant)
	default:
		words = append(words, "--store", ask.Quote(where.Store))
		flag("tenant", where.Tenant)
	}
	for _, one := range [][2]string{{"since", t.Since}, {"until", t.Until}, {"metric", t.Metric}, {"a", t.A}, {"b", t.B},
		{"before", t.Before}, {"after", t.After}, {"baseline", t.Baseline}, {"within", strings.Join(t.Within, ",")},
		{"frame", t.Frame}, {"setting", t.Setting}} {
		flag(one[0], one[1])
	}
	if t.Effect != nil {
		number("effect", t.Effect.Value)
		flag("effect-low", fmt.Sprint(t.Effect.Low))
		flag("effect-high", fmt.Sprint(t.Effect.High))
	}
	number("per-core-hour", t.PerCoreHour)
	number("smallest", t.Smallest)
	number("most", float64(t.Most))
	return strings.Join(words, " ")
}

// maxPrice is more than any core costs in an hour, in any unit.
const maxPrice = 1e9

// spanOf reads FROM..TO; nil for nothing.
func spanOf(text string, now time.Time) (*store.Span, error) {
	if text == "" {
		return nil, nil
	}
	from, to, found := strings.Cut(text, "..")
	if !found {
		return nil, fmt.Errorf("time %q: give FROM..TO, for example 48h..24h or 2026-11-22..2026-11-23", text)
	}
	start, err := timeOf(from, now)
	if err != nil {
		return nil, err
	}
	end, err := timeOf(to, now)
	if err != nil {
		return nil, err
	}
	return &store.Span{From: start, Until: end}, nil
}

// longest is how far back a time may lie: no store is older than ten years.
const longest = 10 * 365 * 24 * time.Hour

// timeOf reads how long ago something was, or when, in UTC; "" is now.
func timeOf(text string, now time.Time) (int64, error) {
	if text == "" || text == "now" {
		return now.Unix(), nil
	}
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		if ago, err := time.ParseDuration(days + "h"); err == nil && ago >= 0 && ago <= longest/24 {
			return now.Add(-24 * ago).Unix(), nil
		}
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 && ago <= longest {
		return now.Add(-ago).Unix(), nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04",
		time.DateOnly} {
		if at, err := time.Parse(form, text); err == nil && at.Unix() >= 0 {
			return at.Unix(), nil
		}
	}
	return 0, fmt.Errorf("time %q: give 24h, 30d, 2026-11-23 or 2026-11-23T03:00 (UTC, or with an offset: +01:00)", text)
}
