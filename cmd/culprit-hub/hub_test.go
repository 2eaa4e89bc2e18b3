package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/client"
	"culprit/internal/fleet/hub"
	"culprit/internal/fleet/store"
	"culprit/internal/fleet/window"
	"culprit/internal/stat"
	"culprit/recording"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// day0 is the first second of the simulated fleet's windows.
var day0 = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// upload is a window ready to be sent.
type upload struct {
	w    window.Window
	body []byte
}

// makeUpload makes an upload of a recording in which a second function takes the dear part of the
// time.
func makeUpload(t testing.TB, host string, at time.Time, cpu, requests int64, dear float64,
	change func(*window.Window)) upload {
	t.Helper()
	r := &recording.Recording{Manifest: recording.Manifest{Schema: recording.SchemaVersion, Host: host, StartedAt: at,
		WindowNs: 60e9},
		Frames: []recording.Frame{{Name: "main", Kind: "native"}, {Name: "work", Kind: "native"},
			{Name: "scan", Kind: "native"}},
		Stacks:  []recording.Stack{{Frames: []int32{0, 1}}, {Frames: []int32{0, 2}}},
		Samples: []recording.Sample{{Signal: "cpu", Pid: 7, Stack: 0, Count: 9, ValueNs: 1e6, Target: true}},
		Facts:   []recording.Fact{{Name: "thp", Value: "always"}, {Name: "kernel", Value: "6.1"}}}
	if dear > 0 {
		r.Samples = append(r.Samples, recording.Sample{Signal: "cpu", Pid: 7, Stack: 1, Count: 3,
			ValueNs: int64(1e6 * dear), Target: true})
		r.Facts[0].Value = "never"
	}
	var file bytes.Buffer
	if err := recording.Encode(&file, r); err != nil {
		t.Fatal(err)
	}
	id, size, err := window.ContentID(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	w := window.Window{Schema: 1, Content: id, Bytes: size, Kind: window.Light, Host: host, Start: at,
		End: at.Add(time.Minute), LengthNs: 60e9, Labels: map[string]string{"zone": "z" + host[len(host)-1:]},
		Services: []window.Service{{Name: "web", Version: "1", CPUNs: cpu, Requests: &requests, Process: "7",
			Started: at.Add(-time.Hour), Cgroup: "/web"}}}
	if change != nil {
		change(&w)
	}
	body, _, err := w.Body(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(body)
	return upload{w, text}
}

// fleetOf are windows of hosts of which the first eighth is dearer by 1.3 in one function, where a
// fact is otherwise.
func fleetOf(t testing.TB, hosts, windows int) (all []upload) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range hosts {
		own := 0.03 * random.NormFloat64()
		for k := range windows {
			extra := 0.0
			if i < hosts/8 {
				extra = 0.3
			}
			cost := 2e6 * (1 + extra) * math.Exp(own+0.01*random.NormFloat64())
			version := "1"
			if k >= windows*2/3 && i%2 == 1 {
				version, cost = "2", cost*1.02
			}
			at := day0.Add(time.Duration(k) * time.Hour)
			all = append(all, makeUpload(t, fmt.Sprintf("web-%03d", i), at, int64(1000*cost), 1000, extra,
				func(w *window.Window) {
					w.Services[0].Version = version
					w.Services[0].Metrics = map[string]float64{"cycles": 3 * cost}
				}))
		}
	}
	return all
}

func openStore(t testing.TB, directory string) *store.Store {
	t.Helper()
	engine, err := openDuck(t.Context(), directory, "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), directory, engine, quiet)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func takeAll(t testing.TB, s *store.Store, all []upload) (known int) {
	t.Helper()
	var wait sync.WaitGroup
	var mutex sync.Mutex
	places := make(chan struct{}, 32)
	for _, one := range all {
		places <- struct{}{}
		wait.Go(func() {
			defer func() { <-places }()
			_, there, err := s.Take(context.Background(), bytes.NewReader(one.body), one.w.Content)
			mutex.Lock()
			defer mutex.Unlock()
			if err != nil {
				t.Error(err)
			}
			if there {
				known++
			}
		})
	}
	wait.Wait()
	return known
}

// All questions, asked of one fleet in which the truth is planted.
func TestQuestions(t *testing.T) {
	s := openStore(t, t.TempDir())
	defer s.Close()
	all := fleetOf(t, 64, 12)
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	takeAll(t, s, all)
	span := store.Span{From: day0.Unix(), Until: day0.Add(13 * time.Hour).Unix()}
	put := func(request ask.Request) *ask.Answer {
		t.Helper()
		request.Service, request.Span = "web", span
		answer, err := ask.Ask(t.Context(), s, request)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Windows == 0 || answer.Hosts == 0 {
			t.Errorf("%s: %d windows of %d hosts", request.Question, answer.Windows, answer.Hosts)
		}
		return answer
	}
	b := put(ask.Request{Question: ask.Bands}).Bands
	if !b.Two || len(b.High.Hosts) != 8 || math.Abs(b.Ratio-1.3) > 0.04 || !b.Separated || b.Lasts.Same < 0.99 {
		t.Errorf("bands: two %v, %v, %.3f, separated %v", b.Two, b.High.Hosts, b.Ratio, b.Separated)
	}
	if f := b.Facts.Findings; len(f) != 1 || f[0].Facts[0].Fact != "thp" || f[0].Facts[0].Value != "= never" {
		t.Errorf("facts of the bands: %+v", f)
	}
	if f := b.Frames; len(f) == 0 || !slices.ContainsFunc(f, func(d ask.Difference) bool {
		return d.Name == "scan" && d.Self && math.Abs(d.Change.Value-0.3) < 0.04
	}) {
		t.Errorf("frames of the bands: %+v", f)
	}
	if f := put(ask.Request{Question: ask.Facts}).Facts.Findings; len(f) == 0 || f[0].Facts[0].Fact != "thp" {
		t.Errorf("facts: %+v", f)
	}
	answer := put(ask.Request{Question: ask.Changes})
	if len(answer.Look) != 1 || !strings.Contains(answer.Look[0].Why, "version 2") || len(answer.Look[0].Commands) != 2 ||
		answer.Look[0].Commands[0] != "culprit compare agent:web@2026-11-20T02:00Z..2026-11-20T08:00Z "+
			"agent:web@2026-11-20T09:00Z..2026-11-20T15:00Z" ||
		strings.Count(answer.Look[0].Commands[1], ".culprit") < 2 {
		t.Errorf("where to look back: %+v", answer.Look)
	}
	changes := answer.Changes
	if changes.Short == "" || len(changes.Rollouts) != 1 || changes.Rollouts[0].Version != "2" ||
		changes.Rollouts[0].Hosts != 32 || !changes.Rollouts[0].Told ||
		math.Abs(changes.Rollouts[0].Effect.Change.Value-0.02) > 0.006 {
		t.Errorf("changes: %+v", changes)
	}
	top := put(ask.Request{Question: ask.Top, PerCoreHour: 0.04}).Top
	if len(top.Total) != 3 || top.Total[0].Name != "main" || math.Abs(top.Total[0].Share.Value-1) > 1e-6 ||
		top.Self[0].Name != "work" || top.PerYear <= 0 {
		t.Errorf("top: %+v", top)
	}
	topBySetting(t, put, top.Cores)
	before := &store.Span{From: span.From, Until: day0.Add(6 * time.Hour).Unix()}
	span.From = day0.Add(9 * time.Hour).Unix()
	c := put(ask.Request{Question: ask.Compare, A: "version=1", B: "version=2", Baseline: before}).Compare
	if c.P > 1e-6 || math.Abs(c.Change.Value-0.02) > 0.005 || c.Adjusted[0] != "before" || c.A != 32 {
		t.Errorf("compare: %+v", c.Effect)
	}
	same := put(ask.Request{Question: ask.Compare, A: "version=1", Before: before}).Compare
	if same.Change.Contains(0.01) {
		t.Errorf("before and after of what did not change: %+v", same.Effect)
	}
}

// topBySetting holds the parts of a fact's values against the whole, and what one of them is worth
// against its part.
func topBySetting(t *testing.T, put func(ask.Request) *ask.Answer, cores float64) {
	t.Helper()
	settings := put(ask.Request{Question: ask.Top, Setting: "thp"}).Top
	never := put(ask.Request{Question: ask.Worth, Setting: "thp=never", Effect: &stat.Interval{Value: -0.2, Low: -0.25,
		High: -0.15}}).Worth
	if v := settings.Values; len(v) != 2 || v[0].Name != "always" || v[0].Hosts+v[1].Hosts != 64 ||
		math.Abs(v[0].Share.Value+v[1].Share.Value-1) > 1e-9 || math.Abs(settings.Cores-cores) > 1e-9 ||
		never.Spent != v[1].Cores || math.Abs(never.Cores.Value-0.2*never.Spent.Value) > 1e-9 {
		t.Errorf("by a setting: %+v, %+v", settings, never)
	}
}

// A window counts once however often it comes, side by side, and after the store was opened again.
func TestWindowsCountOnce(t *testing.T) {
	directory := t.TempDir()
	s := openStore(t, directory)
	all := fleetOf(t, 8, 3)
	takeAll(t, s, append(append([]upload{}, all[12:]...), all[:12]...))
	if known := takeAll(t, s, all); known != len(all) {
		t.Errorf("%d of %d were known", known, len(all))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, directory)
	defer s.Close()
	if known := takeAll(t, s, all[:5]); known != 5 {
		t.Errorf("after opening it again %d of 5 were known", known)
	}
	services, err := s.Asking().Services(t.Context())
	if err != nil || len(services) != 1 || services[0].Windows != int64(len(all)) || services[0].Hosts != 8 {
		t.Errorf("%+v, %v", services, err)
	}
	if err := s.Forget(t.Context(), day0.Add(48*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if services, err = s.Asking().Services(t.Context()); err != nil || len(services) != 0 {
		t.Errorf("after forgetting %+v, %v", services, err)
	}
	if left, _ := filepath.Glob(filepath.Join(directory, "raw", "*", "*")); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
}

// failing is an engine that dies once while it writes, before or after.
type failing struct {
	store.Engine
	after bool
	dead  *bool
}

func (f failing) Append(ctx context.Context, shard int, attempt int64, batches []store.Batch) error {
	if f.after || *f.dead {
		if err := f.Engine.Append(ctx, shard, attempt, batches); *f.dead {
			return err
		}
	}
	*f.dead = true
	return errors.New("no space left on device")
}

// What a crash leaves in incoming is taken up by the next start, and counted once.
func TestWhatACrashLeaves(t *testing.T) {
	for _, committed := range []bool{false, true} {
		directory := t.TempDir()
		engine, err := openDuck(t.Context(), directory, "")
		if err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(t.Context(), directory, failing{engine, committed, new(bool)}, quiet)
		if err != nil {
			t.Fatal(err)
		}
		one := fleetOf(t, 1, 1)[0]
		if _, _, err := s.Take(t.Context(), bytes.NewReader(one.body), one.w.Content); err == nil {
			t.Fatal("acknowledged though it was not written")
		}
		// The agent comes again: what was committed all the same is not written twice.
		if _, known, err := s.Take(t.Context(), bytes.NewReader(one.body), one.w.Content); err != nil || known != committed {
			t.Errorf("committed %v: known %v, %v", committed, known, err)
		}
		s.Close()
		if kept, _ := filepath.Glob(filepath.Join(directory, "raw", "*", "*")); len(kept) != 2 {
			t.Errorf("committed %v: kept %v", committed, kept)
		}
		os.RemoveAll(filepath.Join(directory, "raw"))
		if !committed { // as if it had died before its rows were
			for _, name := range []string{databaseFile, databaseFile + ".wal"} {
				os.Remove(filepath.Join(directory, name))
			}
		}
		// The files as a kill leaves them, beside half of another upload.
		at := filepath.Join(directory, "incoming", one.w.Content)
		line, rest, _ := bytes.Cut(one.body, []byte("\n"))
		for name, text := range map[string][]byte{at + window.ManifestSuffix: line, at + window.RecordingSuffix: rest,
			filepath.Join(directory, "incoming", "upload-123"): rest[:50]} {
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s = openStore(t, directory)
		services, err := s.Asking().Services(t.Context())
		if err != nil || len(services) != 1 || services[0].Windows != 1 {
			t.Errorf("committed %v: %+v, %v", committed, services, err)
		}
		if left, _ := os.ReadDir(filepath.Join(directory, "incoming")); len(left) > 0 {
			t.Errorf("committed %v: %v is left", committed, left)
		}
		s.Close()
	}
}

// serveHub is a hub of two tenants.
func serveHub(t *testing.T) (address string, tokens map[string]string) {
	t.Helper()
	directory := t.TempDir()
	tokens = map[string]string{}
	for _, tenant := range []string{"red", "blue"} {
		for _, scope := range []string{hub.Write, hub.Read} {
			secret, err := hub.AddToken(directory, tenant, scope, "")
			if err != nil {
				t.Fatal(err)
			}
			tokens[tenant+" "+scope] = secret
		}
	}
	h, err := hub.New(directory, openDuck, hub.Limits{Windows: 1e6, Questions: 1e6}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	return serveHandler(t, h), tokens
}

func serveHandler(t *testing.T, h *hub.Hub) (address string) {
	server := httptest.NewServer(h.Handler())
	t.Cleanup(func() { server.Close(); h.Close() })
	return server.URL
}

func request(t *testing.T, method, address, token string, body []byte) (status int, text string) {
	t.Helper()
	r, err := http.NewRequest(method, address, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	all, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(all)
}

// No request of one tenant sees another's rows, for each question; a token does what its scope
// says.
func TestTenantsAreApart(t *testing.T) {
	address, tokens := serveHub(t)
	all := fleetOf(t, 24, 8)
	var wait sync.WaitGroup
	for part := range slices.Chunk(all, 12) {
		wait.Go(func() {
			for _, one := range part {
				status, text := request(t, "PUT", address+window.Path(one.w.Content), tokens["red write"], one.body)
				if status != 200 {
					t.Errorf("%d %s", status, text)
				}
			}
		})
	}
	wait.Wait()
	one := all[0]
	for _, question := range []string{ask.Bands, ask.Compare, ask.Changes, ask.Facts, ask.Top, ask.Worth} {
		text, _ := json.Marshal(map[string]any{"question": question, "service": "web", "a": "version=1", "b": "version=2",
			"span":   store.Span{From: day0.Unix(), Until: day0.Add(9 * time.Hour).Unix()},
			"effect": map[string]float64{"value": -0.2, "low": -0.3, "high": -0.1}})
		if question == ask.Bands || question == ask.Facts || question == ask.Top || question == ask.Worth {
			text = bytes.Replace(text, []byte(`"a":"version=1",`), nil, 1)
		}
		if status, answer := request(t, "POST", address+"/v1/ask", tokens["red read"], text); status != 200 {
			t.Errorf("%s: %d %s", question, status, answer)
		}
		status, answer := request(t, "POST", address+"/v1/ask", tokens["blue read"], text)
		if status != 422 || !strings.Contains(answer, "the store is empty") || strings.Contains(answer, "web-0") {
			t.Errorf("%s of another tenant: %d %s", question, status, answer)
		}
	}
	for _, c := range []struct {
		method, path, token string
		status              int
	}{
		{"GET", "/v1/services", "red write", 403}, {"GET", "/v1/services", "", 401}, {"GET", "/v1/services", "red read", 200},
		{"PUT", window.Path(one.w.Content), "red read", 403}, {"GET", window.Path(one.w.Content), "red read", 200},
		{"GET", window.Path(one.w.Content), "blue read", 404}, {"GET", "/v1/windows/..%2f..%2ftokens", "red read", 404},
	} {
		if status, text := request(t, c.method, address+c.path, tokens[c.token], one.body); status != c.status {
			t.Errorf("%s %s with %q: %d, want %d: %.100s", c.method, c.path, c.token, status, c.status, text)
		}
	}
	// Windows that are fetched come whole, to who they belong to.
	folder := t.TempDir()
	path, err := client.Where{Hub: address, Token: tokens["red read"]}.Fetch(t.Context(), one.w.Content, folder)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.Open(strings.TrimSuffix(path, window.RecordingSuffix) + window.ManifestSuffix)
	if err != nil {
		t.Fatal(err)
	}
	defer manifest.Close()
	w, err := window.ReadManifest(manifest)
	rec, open := recording.Open(path)
	if err != nil || open != nil || len(rec.Samples) == 0 || w.Services[0].Name != "web" {
		t.Errorf("a window that was fetched: %v, %v, %+v", err, open, w)
	}
	_, err = client.Where{Hub: address, Token: tokens["blue read"]}.Fetch(t.Context(), one.w.Content, folder)
	if err == nil || !strings.Contains(err.Error(), "there is no such window") {
		t.Errorf("a window of another tenant: %v", err)
	}
}

func TestHostileUploads(t *testing.T) {
	address, tokens := serveHub(t)
	good := fleetOf(t, 1, 1)[0]
	put := func(id string, body []byte) (int, window.Refusal) {
		status, text := request(t, "PUT", address+window.Path(id), tokens["red write"], body)
		var refusal window.Refusal
		if err := json.Unmarshal([]byte(text), &refusal); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return status, refusal
	}
	junk := bytes.Repeat([]byte("junk"), 100)
	id, size, _ := window.ContentID(bytes.NewReader(junk))
	w := good.w
	w.Content, w.Bytes = id, size
	line, _ := w.Manifest()
	for _, c := range []struct {
		name, id string
		body     []byte
		status   int
		again    bool
		want     string
	}{
		{"no recording", id, append(line, junk...), 422, false, "not a whole recording"},
		{"another id", id, good.body, 422, false, "it came as"},
		{"cut", good.w.Content, good.body[:len(good.body)-9], 500, true, "unexpected EOF"},
		{"no manifest", good.w.Content, []byte("{}\n"), 422, false, "names no schema"},
		{"no id", "abc", good.body, 400, false, "no SHA-256"},
	} {
		status, refusal := put(c.id, c.body)
		if status != c.status || refusal.Again != c.again || !strings.Contains(refusal.Error, c.want) {
			t.Errorf("%s: %d %+v, want %d with %q", c.name, status, refusal, c.status, c.want)
		}
	}
	if status, text := request(t, "GET", address+"/v1/services", tokens["red read"], nil); status != 200 ||
		strings.TrimSpace(text) != `{"incomplete":[],"services":null}` {
		t.Errorf("something of it is left: %s", text)
	}
}

// A host's answer to its next window has what somebody asks it for, once.
func TestAsksReachTheAgent(t *testing.T) {
	address, tokens := serveHub(t)
	all := fleetOf(t, 1, 3)
	text, _ := json.Marshal(window.AskRequest{Service: "web", Hosts: []string{"web-000"}, Seconds: 30, Lines: true,
		Why: "bands"})
	if status, answer := request(t, "POST", address+"/v1/asks", tokens["red read"], text); status != 200 {
		t.Fatal(answer)
	}
	for i, want := range []int{1, 0} {
		_, answer := request(t, "PUT", address+window.Path(all[i].w.Content), tokens["red write"], all[i].body)
		var got window.Answer
		if err := json.Unmarshal([]byte(answer), &got); err != nil || len(got.Asks) != want {
			t.Errorf("upload %d: %s", i, answer)
		}
	}
}
