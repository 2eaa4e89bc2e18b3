package main

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/store"
	"culprit/internal/fleet/window"
)

// Hosts whose clocks are wrong by seconds or hours change no answer; one that is wrong by years
// stands at the time that it says, and counts for nothing there where nobody asks.
func TestSkewedClocks(t *testing.T) {
	const windows = 8
	straight := fleetOf(t, 40, windows)
	skewed := make([]upload, len(straight))
	for i, one := range straight {
		host := i / windows
		by := []time.Duration{0, 90 * time.Second, -90 * time.Second, 3 * time.Hour, -3 * time.Hour}[host%5]
		switch host {
		case 38:
			by = -25 * 365 * 24 * time.Hour
		case 39:
			by = 100 * 365 * 24 * time.Hour
		}
		w := one.w
		skewed[i] = makeUpload(t, w.Host, w.Start.Add(by), w.Services[0].CPUNs, *w.Services[0].Requests,
			map[bool]float64{true: 0.3}[host < 5], func(made *window.Window) {
				made.Sequence = int64(i%windows + 1)
				made.Services[0].Version = w.Services[0].Version
			})
	}
	s := openStore(t, t.TempDir())
	defer s.Close()
	takeAll(t, s, skewed)
	put := func(question string, from, until time.Time) *ask.Answer {
		t.Helper()
		answer, err := ask.Ask(t.Context(), s, ask.Request{Question: question, Service: "web",
			Span: store.Span{From: from.Unix(), Until: until.Unix()}})
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	from, until := day0.Add(-4*time.Hour), day0.Add(17*time.Hour)
	found := put(ask.Bands, from, until)
	if found.Hosts != 38 || found.Windows != 38*windows || !found.Bands.Two || len(found.Bands.High.Hosts) != 5 ||
		math.Abs(found.Bands.Ratio-1.3) > 0.04 || len(found.Bands.Facts.Findings) != 1 {
		t.Errorf("bands: %d hosts, %d windows, %+v", found.Hosts, found.Windows, found.Bands.Answer)
	}
	changes := put(ask.Changes, from, until).Changes
	if len(changes.Rollouts) != 1 || changes.Rollouts[0].Version != "2" || changes.Rollouts[0].Hosts != 19 {
		t.Errorf("changes: %+v", changes)
	}
	for _, ago := range []int{-25, 100} {
		at := day0.AddDate(ago, 0, 0)
		if top := put(ask.Top, at.AddDate(0, -3, 0), at.AddDate(0, 3, 0)); top.Hosts != 1 || top.Windows != windows {
			t.Errorf("%d years off: %d hosts, %d windows", ago, top.Hosts, top.Windows)
		}
	}
}

// Days older than those to keep go from every answer and from the disk; the others stay as they
// are, also those of a host that has nothing older, and facts that were told once, before.
func TestRetention(t *testing.T) {
	directory := t.TempDir()
	s := openStore(t, directory)
	defer func() { s.Close() }()
	const days = 5
	var all []upload
	for day := range days {
		for host := range 3 {
			if host == 2 && day < 3 {
				continue
			}
			at := day0.AddDate(0, 0, day).Add(23*time.Hour + 59*time.Minute)
			all = append(all, makeUpload(t, fmt.Sprintf("web-%03d", host), at, 1e9, 1000, float64(host%2), nil))
		}
	}
	takeAll(t, s, all)
	files := func() int {
		found, err := filepath.Glob(filepath.Join(directory, "raw", "*", "*"+window.RecordingSuffix))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	count := func() (windows int64, facts int) {
		t.Helper()
		span := store.Span{From: day0.Unix(), Until: day0.AddDate(0, 0, days).Unix()}
		found, err := ask.Ask(t.Context(), s, ask.Request{Question: ask.Top, Service: "web", Span: span})
		if err != nil {
			t.Fatal(err)
		}
		told, err := s.Asking().Facts(t.Context(), span.Until)
		if err != nil {
			t.Fatal(err)
		}
		return found.Windows, len(told)
	}
	_, before := count()
	// The third day has begun when the first two are older.
	if err := s.Forget(t.Context(), day0.AddDate(0, 0, 2).Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	left := slices.DeleteFunc(slices.Clone(all), func(one upload) bool {
		return one.w.Start.Before(day0.AddDate(0, 0, 2))
	})
	check := func(when string) {
		t.Helper()
		if windows, facts := count(); windows != int64(len(left)) || facts != before || files() != len(left) {
			t.Errorf("%s: %d windows in %d files with %d facts, want %d with %d", when, windows, files(), facts, len(left),
				before)
		}
	}
	check("after forgetting")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, directory)
	check("after opening it again")
	if known := takeAll(t, s, left); known != len(left) {
		t.Errorf("%d of %d are known", known, len(left))
	}
}

// What one tenant asks of its agents, and what it has, no other tenant's token sees or reaches.
func TestAnotherTenantsToken(t *testing.T) {
	address, tokens := serveHub(t)
	one := fleetOf(t, 1, 2)
	for _, tenant := range []string{"red", "blue"} { // both have a host of that name
		if status, text := request(t, "PUT", address+window.Path(one[0].w.Content), tokens[tenant+" write"],
			one[0].body); status != http.StatusOK || !strings.Contains(text, `"known":false`) {
			t.Errorf("%s: %d %s", tenant, status, text)
		}
	}
	asked := []byte(`{"service":"web","hosts":["web-000"],"seconds":30,"why":"bands"}`)
	if status, text := request(t, "POST", address+"/v1/asks", tokens["red read"], asked); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	for _, c := range []struct {
		tenant string
		asks   bool
	}{{"blue", false}, {"red", true}} {
		_, text := request(t, "PUT", address+window.Path(one[1].w.Content), tokens[c.tenant+" write"], one[1].body)
		if strings.Contains(text, "bands") != c.asks {
			t.Errorf("the host of %s is asked: %s", c.tenant, text)
		}
	}
	for _, c := range []struct {
		method, path, token string
		status              int
	}{
		{"POST", "/v1/asks", "blue write", http.StatusForbidden}, {"POST", "/v1/ask", "blue write", http.StatusForbidden},
		{"POST", "/v1/ask", "", http.StatusUnauthorized}, {"GET", "/v1/windows/" + one[0].w.Content, "", 401},
		{"GET", "/v1/windows/..%2f..%2fred%2fraw", "blue read", http.StatusNotFound},
		{"GET", "/v1/windows/*", "blue read", http.StatusNotFound},
	} {
		if status, text := request(t, c.method, address+c.path, tokens[c.token], asked); status != c.status {
			t.Errorf("%s %s with %q: %d, want %d: %.100s", c.method, c.path, c.token, status, c.status, text)
		}
	}
}

// A file that was named by somebody else is no way out of a tenant's folder.
func TestContentIsNoPath(t *testing.T) {
	directory := t.TempDir()
	s := openStore(t, directory)
	defer s.Close()
	if err := os.WriteFile(filepath.Join(directory, "secret"+window.RecordingSuffix), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../secret", "../../secret", "*", "", "/etc/passwd", strings.Repeat("?", 64)} {
		if file, err := s.Recording(name); err == nil {
			file.Close()
			t.Errorf("%q is read", name)
		}
	}
}
