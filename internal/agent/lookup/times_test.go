package lookup

import (
	"strings"
	"testing"
	"time"
)

func TestTimes(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skipf("no time zones here: %v", err)
	}
	now := time.Date(2026, 11, 23, 12, 30, 0, 0, zone)
	for _, test := range []struct{ text, from, to string }{
		{"", "2026-11-23 12:20:00", "2026-11-23 12:30:00"},
		{"03:00..03:10", "2026-11-23 03:00:00", "2026-11-23 03:10:00"},
		{"12:00..13:00", "2026-11-23 12:00:00", "2026-11-23 13:00:00"},
		{"13:00..14:00", "2026-11-22 13:00:00", "2026-11-22 14:00:00"}, // it has not been so late today
		{"23:55..00:05", "2026-11-22 23:55:00", "2026-11-23 00:05:00"},
		{"yesterday", "2026-11-22 00:00:00", "2026-11-23 00:00:00"},
		{"yesterday 03:00..03:10", "2026-11-22 03:00:00", "2026-11-22 03:10:00"},
		{"yesterdayT23:00..01:00", "2026-11-22 23:00:00", "2026-11-23 01:00:00"},
		{"yesterday..today", "2026-11-22 00:00:00", "2026-11-24 00:00:00"},
		{"2026-11-20", "2026-11-20 00:00:00", "2026-11-21 00:00:00"},
		{"2026-11-20T03:00..04:00", "2026-11-20 03:00:00", "2026-11-20 04:00:00"},
		{"2026-11-20T03:00..2026-11-21T03:00:30", "2026-11-20 03:00:00", "2026-11-21 03:00:30"},
		{"2026-11-20T03:00Z..2026-11-20T04:00Z", "2026-11-20 04:00:00", "2026-11-20 05:00:00"},
		{"-2h", "2026-11-23 10:30:00", "2026-11-23 12:30:00"},
		{"-2h..-1h", "2026-11-23 10:30:00", "2026-11-23 11:30:00"},
		{"11:00..now", "2026-11-23 11:00:00", "2026-11-23 12:30:00"},
		// The night in which the clock is put back has 25 hours.
		{"2026-10-25", "2026-10-25 00:00:00", "2026-10-26 00:00:00"},
	} {
		got, err := parseSpan(test.text, now)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		if from, to := got.from.In(zone).Format(shown), got.to.In(zone).Format(shown); from != test.from || to != test.to {
			t.Errorf("%q is %s to %s, want %s to %s", test.text, from, to, test.from, test.to)
		}
	}
	if day, _ := parseSpan("2026-10-25", now); day.to.Sub(day.from) != 25*time.Hour {
		t.Errorf("that night is %v long", day.to.Sub(day.from))
	}
	for _, wrong := range []string{"soon", "3..4", "25:00..26:00", "yesterday noon", "-2", "--2h", "04:00..2026-11-20",
		"2026-13-01", "..", "now..-1h"} {
		if got, err := parseSpan(wrong, now); err == nil {
			t.Errorf("%q is taken for %v", wrong, got)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

func FuzzTimes(f *testing.F) {
	for _, text := range []string{"03:00..03:10", "yesterday", "-2h", "2026-11-22T03:00..04:00", "today 1"} {
		f.Add(text)
	}
	now := time.Date(2026, 11, 23, 12, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := parseSpan(text, now); err == nil && !got.to.After(got.from) {
			t.Errorf("%q is from %v to %v", text, got.from, got.to)
		}
	})
}
