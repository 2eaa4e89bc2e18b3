package agent

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"culprit/internal/agent/spool"
	"culprit/internal/fleet/window"
)

const token = "0123456789abcdef0123456789abcdef"

// hub takes windows as a real one does, and misbehaves as long as it is told to.
type hub struct {
	*httptest.Server
	mutex   sync.Mutex
	taken   []*window.Window // in the order in which they were acknowledged
	tries   int
	answers func(try int, w http.ResponseWriter, got *window.Window) bool // true: it has answered
	asks    []window.Ask
}

func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{}
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.Close)
	return h
}

func (h *hub) serve(w http.ResponseWriter, r *http.Request) {
	var content bytes.Buffer
	got, err := window.ReadBody(r.Body, &content)
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.tries++
	switch {
	case r.Header.Get("Authorization") != "Bearer "+token:
		refuse(w, http.StatusUnauthorized, "no such token", false)
		return
	case err != nil:
		refuse(w, http.StatusBadRequest, err.Error(), true)
		return
	case r.Method != http.MethodPut || r.URL.Path != window.Path(got.Content) ||
		r.Header.Get("Content-Type") != window.ContentType:
		refuse(w, http.StatusNotFound, "what is this", true)
		return
	case h.answers != nil && h.answers(h.tries, w, got):
		return
	}
	h.taken = append(h.taken, got)
	answer := window.Answer{Content: got.Content, Asks: h.asks}
	_ = json.NewEncoder(w).Encode(answer) // who asked may have gone
}

func refuse(w http.ResponseWriter, status int, why string, again bool) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(window.Refusal{Error: why, Again: again})
}

func (h *hub) sequences() (numbers []int64) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for _, w := range h.taken {
		numbers = append(numbers, w.Sequence)
	}
	return numbers
}

func tokenFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "token")
	writeFile(t, path, text+"\n")
	return path
}

// A hub that is away, breaks off, answers nonsense or is too busy gets every window all the same,
// in order.
func TestShipsUntilAcknowledged(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.answers = func(try int, w http.ResponseWriter, got *window.Window) bool {
		switch try {
		case 1:
			refuse(w, http.StatusServiceUnavailable, "too busy", true)
		case 2:
			panic(http.ErrAbortHandler)
		case 3:
			_, _ = io.WriteString(w, "<html>a proxy's own page</html>")
		case 4:
			_ = json.NewEncoder(w).Encode(window.Answer{Content: strings.Repeat("0", 64)})
		default:
			return false
		}
		return true
	}
	r := run(t, Options{start: with(newFake()), Hub: h.URL, TokenFile: tokenFile(t, token)})
	await(t, "six windows at the hub", func() bool { return len(h.sequences()) >= 6 })
	r.stop(t)
	if got := h.sequences(); !slices.IsSorted(got) || got[0] != 1 || got[len(got)-1] != int64(len(got)) {
		t.Errorf("the hub has %v", got)
	}
	log := r.log.String()
	for _, want := range []string{"too busy", "did not acknowledge it", "takes windows again"} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is not told: %s", want, log)
		}
	}
	status, err := ReadStatus(r.folder)
	if err != nil || status.Hub != h.URL || status.LastSent.IsZero() || status.Refused != 0 {
		t.Errorf("status %+v, %v", status, err)
	}
}

// A hub that says when to come again is left alone until then, also where the pause of its own
// would be shorter.
func TestComesAgainWhenTheHubSays(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	var refusedAt, nextAt time.Time
	h.answers = func(try int, w http.ResponseWriter, _ *window.Window) bool {
		if try > 1 {
			if nextAt.IsZero() {
				nextAt = time.Now()
			}
			return false
		}
		refusedAt = time.Now()
		w.Header().Set("Retry-After", "3")
		refuse(w, http.StatusTooManyRequests, "more than 1 request a second", true)
		return true
	}
	r := run(t, Options{start: with(newFake()), Hub: h.URL, TokenFile: tokenFile(t, token)})
	await(t, "two windows at the hub", func() bool { return len(h.sequences()) >= 2 })
	r.stop(t)
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if pause := nextAt.Sub(refusedAt); pause < 3*time.Second { // the first pause of its own is one at most
		t.Errorf("it came again after %v", pause)
	}
	if h.taken[0].Sequence != 1 || !strings.Contains(r.log.String(), "more than 1 request a second") {
		t.Errorf("window %d came first; told was %s", h.taken[0].Sequence, r.log.String())
	}
}

// What a hub will never take is counted and holds up nothing; a wrong token holds up everything,
// and loses nothing.
func TestHubRefuses(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.answers = func(_ int, w http.ResponseWriter, got *window.Window) bool {
		if got.Sequence == 2 {
			refuse(w, http.StatusUnprocessableEntity, "not a window", false)
		}
		return got.Sequence == 2
	}
	file := tokenFile(t, strings.Repeat("x", 20))
	r := run(t, Options{start: with(newFake()), Hub: h.URL, TokenFile: file})
	await(t, "a complaint about the token", func() bool { return strings.Contains(r.log.String(), "no such token") })
	await(t, "two windows on disk", func() bool { return len(r.windows(t)) >= 2 })
	writeFile(t, file, token) // it is exchanged while the agent runs
	await(t, "the windows at the hub", func() bool { return len(h.sequences()) >= 2 })
	r.stop(t)
	if got := h.sequences(); got[0] != 1 || got[1] != 3 {
		t.Errorf("the hub has %v", got)
	}
	if status, err := ReadStatus(r.folder); err != nil || status.Refused != 1 || status.Dropped != 0 {
		t.Errorf("status %+v, %v", status, err)
	}
}

// While a hub is away the bound drops windows; the next one says how many.
func TestBoundWhileTheHubIsAway(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	kept, err := spool.Open(folder, spool.LeastKeep)
	if err != nil {
		t.Fatal(err)
	}
	recorder := newFake()
	a := &Agent{options: Options{Folder: folder, Every: time.Second}, spool: kept, log: newLog(nil), host: "h",
		budget: newBudget(0, 1), meter: newMeter(), namer: newNamer(t), bands: newBands()}
	a.status = newStatus(a)
	kept.ShipTo("https://away")
	const windows = 100
	for range windows {
		a.window(t.Context(), taken{recorder: recorder}, window.Light, time.Millisecond)
	}
	state, left := kept.State(), kept.All()
	if state.Dropped == 0 || int(state.Dropped)+len(left) != windows || kept.Bytes() > spool.LeastKeep {
		t.Fatalf("%d dropped, %d left in %d bytes", state.Dropped, len(left), kept.Bytes())
	}
	told := int64(0)
	for _, entry := range left {
		manifest, err := spool.ManifestOf(folder, entry)
		if err != nil {
			t.Fatal(err)
		}
		told += manifest.Dropped
	}
	if told == 0 {
		t.Error("no window tells of those that were dropped")
	}
	if err := kept.Close(); err != nil {
		t.Error(err)
	}
}

// A wish of the hub is answered by one full window, however often the hub repeats it.
func TestHubAsksForAFullWindow(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.asks = []window.Ask{{ID: "a7", Service: "web", Seconds: 1, Why: "web is in two bands"}}
	r := run(t, Options{start: with(newFake(), newFake(), newFake()), Hub: h.URL, TokenFile: tokenFile(t, token),
		FullFor: time.Second})
	await(t, "six windows at the hub", func() bool { return len(h.sequences()) >= 6 })
	r.stop(t)
	full := 0
	for _, w := range r.windows(t) {
		if w.Kind == window.Full {
			full++
			if w.Why != "asked by the hub (a7): web is in two bands" {
				t.Errorf("it was recorded because %q", w.Why)
			}
		}
	}
	if full != 1 {
		t.Errorf("%d full windows", full)
	}
}

func TestBackOff(t *testing.T) {
	for failures, most := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
		most *= time.Second
		for range 50 {
			if wait := backOff(firstPause, failures); wait < most/2 || wait > most {
				t.Errorf("after %d failures a pause of %v, want %v to %v", failures, wait, most/2, most)
			}
		}
	}
	if wait := backOff(firstPause, 1<<40); wait > longestWait {
		t.Errorf("a pause of %v", wait)
	}
}

func TestTokens(t *testing.T) {
	if text, err := readToken(tokenFile(t, token)); err != nil || text != token {
		t.Errorf("token %q, %v", text, err)
	}
	open := tokenFile(t, token)
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{open: "chmod 600", tokenFile(t, "short"): "16", t.TempDir(): "no file",
		tokenFile(t, strings.Repeat("a b", 20)): "spaces"} {
		if _, err := readToken(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is wanted in %v", want, err)
		}
	}
}
