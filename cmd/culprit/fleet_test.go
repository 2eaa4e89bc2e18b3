package main

import (
	"strings"
	"testing"
)

// Each is refused with one line that names the thing.
func TestFleetRefuses(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"bands", "no SERVICE; give 'culprit fleet bands SERVICE'"},
		{"bands web", "--store DIR, or --hub URL"},
		{"bands web --store a --hub http://localhost:1 --token-file fleet_test.go", "two places"},
		{"bands web --hub http://example.com --token-file fleet_test.go", "https only"},
		{"bands web --hub http://localhost:1", "needs --token-file"},
		{"hosts web --store a --token-file fleet_test.go", "give --hub URL"},
		{"services --hub http://localhost:1 --token-file fleet_test.go", "does not hold one token"},
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
