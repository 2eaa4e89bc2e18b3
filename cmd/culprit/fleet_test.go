package main

import (
	"strings"
	"testing"
	"time"

	"culprit/internal/fleet/ask"
)

// Each is refused with one line that names the thing.
func TestFleetRefuses(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"bands", "no SERVICE; give 'culprit fleet bands SERVICE'"},
		{"bands web", "--store DIR, or --hub URL"},
		{"bands web --store a --hub http://localhost:1 --token-file fleet_test.go", "two places"},
		{"bands web --hub http://example.com --token-file fleet_test.go", "https only"},
		{"bands web --hub http://localhost:1", "needs --token-file"},
		{"bands web --store a --since yesterday", `time "yesterday"`},
		{"compare web --store a --before 3h..2h", "go together"},
		{"compare web --store a --before 3h --after 1h..now", "FROM..TO"},
		{"worth web --store a --effect=-0.2", "--effect-low"},
	} {
		got := here(t, append([]string{"fleet"}, strings.Fields(c.args)...)...)
		if got.status != exitError || !strings.Contains(got.stderr, c.want) || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("fleet %s: %d %q, want %q", c.args, got.status, got.stderr, c.want)
		}
	}
}

func TestFleetTimes(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{"": now, "now": now, "24h": now.Add(-24 * time.Hour),
		"30d": now.AddDate(0, 0, -30), "2026-11-01": time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
		"2026-11-23T03:00": time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC)} {
		if got, err := fleetTime(text, now); err != nil || got != want.Unix() {
			t.Errorf("%q is %d (%v), want %d", text, got, err, want.Unix())
		}
	}
	f := fleetFlags{since: "48h", before: "4h..3h", after: "1h..now", request: ask.Request{Question: ask.Compare}}
	if err := f.resolve(now); err != nil || f.request.Span.From != now.Add(-time.Hour).Unix() ||
		f.request.Before.Until != now.Add(-3*time.Hour).Unix() {
		t.Errorf("%+v, %v", f.request, err)
	}
}
