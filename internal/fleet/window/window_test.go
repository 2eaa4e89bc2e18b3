package window

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"
)

// example is a window of a recording of these bytes.
func example(t testing.TB, recording []byte) Window {
	id, size, err := ContentID(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC)
	requests := int64(1200)
	return Window{Schema: Schema, Content: id, Bytes: size, Kind: Light, Host: "web-17", Sequence: 41,
		Labels: map[string]string{"zone": "eu-1a"}, Start: start, End: start.Add(time.Minute), LengthNs: int64(time.Minute),
		Cost: Cost{CPUNs: 1e8, MemoryBytes: 80 << 20, BudgetShare: 0.005},
		Services: []Service{{Name: "nginx.service", Version: "1.24.0-2", CPUNs: 3e9, Requests: &requests,
			Pids: []int32{7, 8}}}}
}

func TestBodyComesBack(t *testing.T) {
	recording := bytes.Repeat([]byte("recording\n"), 20000)
	w := example(t, recording)
	body, length, err := w.Body(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	sent, err := io.ReadAll(body)
	if err != nil || int64(len(sent)) != length {
		t.Fatalf("%d bytes of %d: %v", len(sent), length, err)
	}
	var came bytes.Buffer
	got, err := ReadBody(bytes.NewReader(sent), &came)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(*got, w) || !bytes.Equal(came.Bytes(), recording) {
		t.Errorf("sent %+v, got %+v and %d bytes", w, *got, came.Len())
	}
}

// A connection that broke is sent again; what is wrong in itself is not.
func TestBrokenBodies(t *testing.T) {
	recording := []byte("the bytes of a recording")
	w := example(t, recording)
	body, _, err := w.Body(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := io.ReadAll(body)
	changed := bytes.Clone(whole)
	changed[len(changed)-1] ^= 1
	for _, c := range []struct {
		name    string
		body    []byte
		refused bool
		want    string
	}{
		{"cut in the recording", whole[:len(whole)-3], false, "unexpected EOF"},
		{"cut in the manifest", whole[:20], false, "unexpected EOF"},
		{"empty", nil, false, "unexpected EOF"},
		{"one byte changed", changed, true, "sum is"},
		{"more bytes", append(bytes.Clone(whole), "more"...), true, "more than the 24 bytes"},
		{"no manifest", append([]byte("[1,2]\n"), whole...), true, "manifest"},
		{"endless manifest", bytes.Repeat([]byte("x"), MaxManifestBytes+100), true, "more than 262144 bytes"},
	} {
		_, err := ReadBody(bytes.NewReader(c.body), io.Discard)
		if err == nil || errors.Is(err, ErrRefused) != c.refused || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want one with %q, refused %v", c.name, err, c.want, c.refused)
		}
	}
}

func TestHostileManifests(t *testing.T) {
	far := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	minus := int64(-1)
	for name, change := range map[string]func(*Window){
		"take a later culprit-hub": func(w *Window) { w.Schema = 2 },
		"names no schema":          func(w *Window) { w.Schema = 0 },
		"content id":               func(w *Window) { w.Content = "../../../etc/passwd" },
		"SHA-256":                  func(w *Window) { w.Content = strings.ToUpper(w.Content) },
		"bytes, the limit":         func(w *Window) { w.Bytes = 1 << 40 },
		"kind":                     func(w *Window) { w.Kind = "heavy" },
		"no host":                  func(w *Window) { w.Host = "" },
		"the host \"web\\n":        func(w *Window) { w.Host = "web\nx" },
		"the host has 300 bytes":   func(w *Window) { w.Host = strings.Repeat("a", 300) },
		"not printable":            func(w *Window) { w.Services[0].Version = "\x1b[31m" },
		"below 0":                  func(w *Window) { w.Dropped = -1 },
		"recorded from":            func(w *Window) { w.Start = far },
		"a length of":              func(w *Window) { w.LengthNs = 1 << 60 },
		"no cost":                  func(w *Window) { w.Cost.CPUNs = -5 },
		"0 services":               func(w *Window) { w.Services = nil },
		"there twice":              func(w *Window) { w.Services = append(w.Services, w.Services[0]) },
		"CPU time":                 func(w *Window) { w.Services[0].CPUNs = -1 },
		"requests or latencies":    func(w *Window) { w.Services[0].Requests = &minus },
		"process below 0":          func(w *Window) { w.Services[0].Pids = []int32{-4} },
		"more than 16384":          func(w *Window) { w.Services[0].Pids = make([]int32, MaxPids+1) },
		"a metric":                 func(w *Window) { w.Services[0].Metrics = map[string]float64{"a b": 1} },
		"label":                    func(w *Window) { w.Labels = map[string]string{"a=b": "c"} },
		"no line":                  func(w *Window) { w.Labels = map[string]string{"a": "c\td"} },
		"is no path":               func(w *Window) { w.Services[0].Cgroup = "/a\x00b" },
		"was started in":           func(w *Window) { w.Services[0].Started = far },
	} {
		w := example(t, []byte("recording"))
		w.Labels = maps.Clone(w.Labels)
		change(&w)
		if err := w.Check(); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want one with %q", err, name)
		}
		if _, err := w.Manifest(); err == nil {
			t.Errorf("%s: a manifest was written that cannot be read", name)
		}
	}
}

func FuzzReadManifest(f *testing.F) {
	w := example(f, []byte("recording"))
	line, err := w.Manifest()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add([]byte(`{"schema":1,"services":[{}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := ReadManifest(bytes.NewReader(text))
		if (got == nil) == (err == nil) {
			t.Fatalf("both or none: %v, %v", got, err)
		}
		if err != nil {
			return
		}
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := ReadManifest(bytes.NewReader(again)); err != nil && len(again) <= MaxManifestBytes {
			t.Fatalf("what was read is refused when it is written again: %v, %v", back, err)
		}
	})
}
