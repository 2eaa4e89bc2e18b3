package client

import (
	"math"
	"testing"
	"time"

	"culprit/internal/fleet/ask"
	"culprit/internal/stat"
)

func TestTimes(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{"": now, "now": now, "24h": now.Add(-24 * time.Hour),
		"30d": now.AddDate(0, 0, -30), "2026-11-01": time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
		"2026-11-23T03:00": time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC),
		// As answers name times of an agent, and with an offset.
		"2026-11-23T03:00Z":      time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC),
		"2026-11-23T03:00+01:00": time.Date(2026, 11, 23, 2, 0, 0, 0, time.UTC)} {
		if got, err := timeOf(text, now); err != nil || got != want.Unix() {
			t.Errorf("%q is %d (%v), want %d", text, got, err, want.Unix())
		}
	}
	typed := Typed{Question: ask.Compare, Since: "48h", Before: "4h..3h", After: "1h..now"}
	request, err := typed.Request(now)
	if err != nil || request.Span.From != now.Add(-time.Hour).Unix() ||
		request.Before.Until != now.Add(-3*time.Hour).Unix() {
		t.Errorf("%+v, %v", request, err)
	}
	for _, wrong := range []Typed{{Since: "yesterday"}, {Until: "-1h"}, {Before: "3h..2h"},
		{Before: "3h", After: "1h..now"}, {Baseline: "1h"}, {Effect: &stat.Interval{Value: 1, Low: 2, High: 3}},
		{Effect: &stat.Interval{Value: -1.5, Low: -2, High: -1}}, {Since: "200000d"}, {Since: "2000000h"}, {Since: "-3d"},
		{Since: "1900-01-01"}, {PerCoreHour: -1}, {PerCoreHour: math.NaN()}, {Smallest: -0.1}, {Smallest: math.Inf(1)}} {
		if _, err := wrong.Request(now); err == nil {
			t.Errorf("%+v was taken", wrong)
		}
	}
}

// What is told as a command is one, whatever stands in a form.
func TestCommand(t *testing.T) {
	typed := Typed{Question: ask.Worth, Service: "it's; reboot", Since: "48h", A: "zone=a b",
		Within: []string{"zone", "rack"},
		Frame:  "work (web)", Effect: &stat.Interval{Value: -0.2, Low: -0.25, High: 0}, PerCoreHour: 0.04}
	want := `culprit fleet worth 'it'\''s; reboot' --store '/srv/my store' --since=48h --a='zone=a b' ` +
		`--within='zone,rack' --frame='work (web)' --effect=-0.2 --effect-low=-0.25 --effect-high=0 --per-core-hour=0.04`
	if got := typed.Command(Where{Store: "/srv/my store"}); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	cluster := Where{Store: "clickhouse://me:secret@ch1:9000/d?cluster=c"}
	if got := (Typed{Question: ask.Top, Service: "web", Setting: "version"}).Command(cluster); got !=
		"culprit fleet top web --store DSN --setting=version" {
		t.Errorf("of a cluster %s", got)
	}
	want = "culprit fleet services --hub https://hub.example:8430 --token-file FILE"
	hub := Where{Hub: "https://hub.example:8430", Token: "secret"}
	if got := (Typed{Question: ask.Services}).Command(hub); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}
