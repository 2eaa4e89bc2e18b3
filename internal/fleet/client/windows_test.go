package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/window"
)

// sent is a window as a hub sends it.
func sent(t *testing.T, recording string) (w window.Window, body []byte) {
	t.Helper()
	sum := sha256.Sum256([]byte(recording))
	at := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	w = window.Window{Schema: window.Schema, Content: hex.EncodeToString(sum[:]), Bytes: int64(len(recording)),
		Kind: window.Light, Host: "web-1", Start: at, End: at.Add(time.Minute), LengthNs: 60e9,
		Services: []window.Service{{Name: "web"}}}
	reader, _, err := w.Body(strings.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	body, _ = io.ReadAll(reader)
	return w, body
}

// A window that is fetched is whole, with its manifest beside it; one that is not leaves nothing
// behind.
func TestFetch(t *testing.T) {
	w, body := sent(t, "a recording")
	other, otherBody := sent(t, "another recording")
	for name, test := range map[string]struct {
		answer []byte
		status int
		want   string
	}{
		"whole":       {answer: body, status: http.StatusOK},
		"cut off":     {answer: body[:len(body)-3], status: http.StatusOK, want: "unexpected EOF"},
		"another one": {answer: otherBody, status: http.StatusOK, want: "the hub sent window " + other.Content},
		"damaged": {answer: append(slices.Clone(body[:len(body)-1]), 'X'), status: http.StatusOK,
			want: "the recording's sum is"},
		"longer":      {answer: append(slices.Clone(body), 'X'), status: http.StatusOK, want: "more than the"},
		"no manifest": {answer: []byte("PK\x03\x04"), status: http.StatusOK, want: "unexpected EOF"},
		"not there": {answer: []byte(`{"error":"there is no such window"}`), status: http.StatusNotFound,
			want: "there is no such window"},
	} {
		where := hubThat(t, func(to http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || r.URL.Path != window.Path(w.Content) ||
				r.Header.Get("Accept") != window.ContentType {
				t.Errorf("%s: asked %s %s", name, r.Method, r.URL)
			}
			to.WriteHeader(test.status)
			_, _ = to.Write(test.answer) // it may have gone
		})
		folder := t.TempDir()
		path, err := where.Fetch(t.Context(), w.Content, folder)
		left, _ := filepath.Glob(filepath.Join(folder, "*"))
		hidden, _ := filepath.Glob(filepath.Join(folder, ".*"))
		if test.want != "" {
			if err == nil || !strings.Contains(err.Error(), test.want) || len(left)+len(hidden) > 0 {
				t.Errorf("%s: %v, left %v %v", name, err, left, hidden)
			}
			continue
		}
		text, _ := os.ReadFile(path)
		manifest, _ := os.ReadFile(filepath.Join(folder, w.Content+window.ManifestSuffix))
		whole := string(text) == "a recording" && len(manifest) > 0 && bytes.HasPrefix(body, manifest)
		if err != nil || !whole || len(left) != 2 || len(hidden) > 0 {
			t.Errorf("%s: %v, %q, %q, %v %v", name, err, text, manifest, left, hidden)
		}
	}
	for id, where := range map[string]Where{"../../etc/passwd": {Hub: "http://localhost:1", Token: "x"},
		w.Content: {Store: "/srv"}} {
		if _, err := where.Fetch(t.Context(), id, t.TempDir()); err == nil {
			t.Errorf("%s was fetched", id)
		}
	}
}

// What an answer of a hub compares is fetched first; what is no window is left as it is.
func TestWindowsOfAnAnswerAreFetched(t *testing.T) {
	a, b := strings.Repeat("a1", 32), strings.Repeat("b2", 32)
	looks := []ask.Look{
		{Host: "h1", Commands: []string{"culprit record"}},
		{Host: "h2", Commands: []string{"culprit record", "culprit compare --a …"},
			Sides: [][]string{{"/srv/d/" + b + ".culprit", "/srv/d/" + a + ".culprit"}, {"/srv/e/" + a + ".culprit"}}},
		{Host: "h3", Commands: []string{"culprit compare"}, Sides: [][]string{{"$(reboot).culprit"}, {a + ".culprit"}}},
	}
	text, err := json.Marshal(ask.Answer{Service: "it's", Look: looks})
	if err != nil {
		t.Fatal(err)
	}
	where := hubThat(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
	})
	answer, err := where.Ask(t.Context(), ask.Request{Question: ask.Bands})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"culprit record"}, {"culprit record",
		"culprit fleet fetch " + a + " " + b + " --hub " + where.Hub + " --token-file FILE",
		`culprit compare --service 'it'\''s' --a ` + b + ".culprit " + a + ".culprit --b " + a + ".culprit"},
		{"culprit compare"}}
	for i, look := range answer.Look {
		if !slices.Equal(look.Commands, want[i]) {
			t.Errorf("%s: %q, want %q", look.Host, look.Commands, want[i])
		}
	}
}
