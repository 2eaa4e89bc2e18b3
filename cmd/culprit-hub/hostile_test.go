package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode"

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/hub"
	"culprit/internal/fleet/store"
	"culprit/internal/fleet/window"
	"culprit/recording"
)

// uploadOf is an upload of any bytes as a recording.
func uploadOf(t *testing.T, file []byte, change func(*window.Window)) upload {
	t.Helper()
	id, size, err := window.ContentID(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	w := fleetOf(t, 1, 1)[0].w
	w.Content, w.Bytes = id, size
	if change != nil {
		change(&w)
	}
	line, err := json.Marshal(w) // not Manifest: that refuses what a hub is to refuse
	if err != nil {
		t.Fatal(err)
	}
	return upload{w, append(append(line, '\n'), file...)}
}

// packed is a zip of members that expand to so many zeros.
func packed(t *testing.T, members map[string]int64) []byte {
	t.Helper()
	var file bytes.Buffer
	writer := zip.NewWriter(&file)
	for name, size := range members {
		addZeros(t, writer, name, size)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func addZeros(t *testing.T, writer *zip.Writer, name string, size int64) {
	t.Helper()
	member, err := writer.Create(name)
	if err == nil {
		_, err = io.CopyN(member, zeros{}, size)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Uploads of some hundred KB that expand to as many MB are refused for good, and take no memory
// that is worth it. (Rows that repeat: TestReadWithin of package recording.)
func TestBombs(t *testing.T) {
	address, tokens := serveHub(t)
	const manifest = "manifest.json"
	for name, file := range map[string][]byte{
		"manifest": packed(t, map[string]int64{manifest: 64 << 20}),
		"table":    packedBeside(t, "frames.parquet", 260<<20),
	} {
		one := uploadOf(t, file, nil)
		if len(one.body) > 1<<20 {
			t.Errorf("%s: %d bytes are no bomb", name, len(one.body))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		status, text := request(t, "PUT", address+window.Path(one.w.Content), tokens["red write"], one.body)
		runtime.ReadMemStats(&after)
		if status != http.StatusUnprocessableEntity || !strings.Contains(text, `"again":false`) {
			t.Errorf("%s: %d %s", name, status, text)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 60<<20 {
			t.Errorf("%s: %d MB were taken", name, took>>20)
		}
	}
}

// packedBeside is a recording of which one table is that many zeros.
func packedBeside(t *testing.T, table string, size int64) []byte {
	t.Helper()
	var whole, file bytes.Buffer
	if err := recording.Encode(&whole, &recording.Recording{Manifest: recording.Manifest{Host: "h", StartedAt: day0,
		Schema: recording.SchemaVersion, WindowNs: 60e9}}); err != nil {
		t.Fatal(err)
	}
	reader, err := zip.NewReader(bytes.NewReader(whole.Bytes()), int64(whole.Len()))
	if err != nil {
		t.Fatal(err)
	}
	writer := zip.NewWriter(&file)
	for _, member := range reader.File {
		if member.Name != table {
			if err := writer.Copy(member); err != nil {
				t.Fatal(err)
			}
		}
	}
	addZeros(t, writer, table, size)
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// hostile are names as targets may have them.
var hostile = []string{"<script>alert(1)</script>", "\x1b[31mred\x1b]0;title\x07", "two\nlines\r\n", "\u202egnp.exe",
	"'; DROP TABLE windows; --", "\x00\xff\xfe", "../../etc/passwd", "$(reboot)", strings.Repeat("long", 4000)}

// Names of functions, modules, settings and commands that try to be something else come out as text
// in one line, and those that a manifest may not have are refused with a reason that is text, too.
func TestHostileNames(t *testing.T) {
	address, tokens := serveHub(t)
	hosts := 24
	for i := range hosts {
		for k := range 1 {
			one := fleetOf(t, 1, 1)[0]
			r := &recording.Recording{Manifest: recording.Manifest{Schema: recording.SchemaVersion, Host: "h",
				Kernel: hostile[i%len(hostile)], StartedAt: day0, WindowNs: 60e9}}
			for at, name := range hostile {
				r.Frames = append(r.Frames, recording.Frame{Name: name, Kind: "native", Module: name, File: name})
				r.Stacks = append(r.Stacks, recording.Stack{Frames: []int32{int32(at)}})
				r.Samples = append(r.Samples, recording.Sample{Signal: "cpu", Pid: 7, Stack: int32(at), Count: 1,
					ValueNs: int64(1e6 + at), Target: true, Comm: name})
				r.Facts = append(r.Facts, recording.Fact{Name: name, Value: hostile[(at+i/8)%len(hostile)], Source: name})
			}
			var file bytes.Buffer
			if err := recording.Encode(&file, r); err != nil {
				t.Fatal(err)
			}
			one = uploadOf(t, file.Bytes(), func(w *window.Window) {
				w.Host, w.Start = fmt.Sprintf("h-%02d", i), day0.Add(time.Duration(k)*time.Hour)
				w.End = w.Start.Add(time.Minute)
				w.Labels = map[string]string{"zone": "<b>z</b>"}
				w.Services[0].CPUNs = int64(1e9 * (1 + float64(i/8)*0.3 + 0.001*float64(i)))
				w.Services[0].Version = "'; DROP TABLE windows; --"
			})
			if status, text := request(t, "PUT", address+window.Path(one.w.Content), tokens["red write"],
				one.body); status != 200 {
				t.Fatalf("%d %s", status, text)
			}
		}
	}
	for _, question := range []string{ask.Bands, ask.Facts, ask.Top} {
		answer := answerOf(t, address, tokens["red read"], question)
		if answer.Hosts != hosts {
			t.Errorf("%s: %d hosts", question, answer.Hosts)
		}
		if question == ask.Top && answer.Top.Self[0].Name == "" {
			t.Errorf("%s: names are gone: %+v", question, answer.Top)
		}
	}
}

func answerOf(t *testing.T, address, token, question string) *ask.Answer {
	t.Helper()
	text, _ := json.Marshal(ask.Request{Question: question, Service: "web",
		Span: store.Span{From: day0.Unix(), Until: day0.Add(24 * time.Hour).Unix()}})
	status, body := request(t, "POST", address+"/v1/ask", token, text)
	answer := &ask.Answer{}
	if err := json.Unmarshal([]byte(body), answer); err != nil || status != 200 {
		t.Fatalf("%s: %d %.300s %v", question, status, body, err)
	}
	// In a page it is no mark, and in a terminal no escape.
	if strings.ContainsAny(body, "<>") || strings.ContainsFunc(strings.TrimSpace(body), unicode.IsControl) {
		t.Errorf("%s: marks or escapes are in the JSON", question)
	}
	return answer
}

// What a manifest may not have is refused for good; nothing of it is left, and the reason repeats
// none of it.
func TestHostileManifests(t *testing.T) {
	address, tokens := serveHub(t)
	var file bytes.Buffer
	r := &recording.Recording{Manifest: recording.Manifest{Schema: recording.SchemaVersion, Host: "h", StartedAt: day0,
		WindowNs: 60e9}}
	if err := recording.Encode(&file, r); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*window.Window){
		"escapes in the host":    func(w *window.Window) { w.Host = "\x1b[2Jweb" },
		"lines in the host":      func(w *window.Window) { w.Host = "web\nroot" },
		"lines in a service":     func(w *window.Window) { w.Services[0].Name = "web\r\nSet-Cookie: x" },
		"a label of 1 MB":        func(w *window.Window) { w.Labels = map[string]string{"zone": strings.Repeat("z", 1<<20)} },
		"a label of 1 KB":        func(w *window.Window) { w.Labels = map[string]string{"zone": strings.Repeat("z", 1<<10)} },
		"a label's name":         func(w *window.Window) { w.Labels = map[string]string{"zone'; --": "z"} },
		"escapes in a version":   func(w *window.Window) { w.Services[0].Version = "\x1b]52;c;cm0=\x07" },
		"escapes in a cgroup":    func(w *window.Window) { w.Services[0].Cgroup = "/a\x1b[1m" },
		"another writing order":  func(w *window.Window) { w.Host = "web\u202etxt" },
		"more services than 512": func(w *window.Window) { w.Services = make([]window.Service, 600) },
		"requests below 0":       func(w *window.Window) { *w.Services[0].Requests = -1 },
		"CPU time of centuries":  func(w *window.Window) { w.Services[0].CPUNs = 1 << 62 },
		"a later schema":         func(w *window.Window) { w.Schema = 99 },
	} {
		one := uploadOf(t, file.Bytes(), func(w *window.Window) {
			requests := int64(5)
			w.Services = []window.Service{{Name: "web", CPUNs: 1e9, Requests: &requests}}
			change(w)
		})
		status, text := request(t, "PUT", address+window.Path(one.w.Content), tokens["red write"], one.body)
		var refusal window.Refusal
		if json.Unmarshal([]byte(text), &refusal) != nil || status != http.StatusUnprocessableEntity || refusal.Again {
			t.Errorf("%s: %d %.200s", name, status, text)
		}
		if len(text) > 2000 || strings.ContainsFunc(refusal.Error, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%s: the reason is %q", name, refusal.Error)
		}
	}
	if _, text := request(t, "GET", address+"/v1/services", tokens["red read"], nil); !strings.Contains(text, "null") {
		t.Errorf("something is left: %s", text)
	}
}

// A token that sends or asks too often is told when to come again, and holds up nobody else.
func TestTooOften(t *testing.T) {
	directory := t.TempDir()
	secrets := map[string]string{}
	for _, scope := range []string{hub.Write, hub.Read} {
		for _, name := range []string{"greedy", "other"} {
			secret, err := hub.AddToken(directory, name, scope, "")
			if err != nil {
				t.Fatal(err)
			}
			secrets[name+scope] = secret
		}
	}
	h, err := hub.New(directory, openDuck, hub.Limits{Windows: 0.05, Questions: 0.05}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	server := serveHandler(t, h)
	send := func(who string) *http.Response {
		one := uploadOf(t, []byte("x"), nil)
		r, err := http.NewRequest("PUT", server+window.Path(one.w.Content), bytes.NewReader(one.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secrets[who+hub.Write])
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { answer.Body.Close() })
		return answer
	}
	for try := 0; ; try++ {
		answer := send("greedy")
		if answer.StatusCode == http.StatusUnprocessableEntity && try < 1000 {
			continue // taken, and no recording
		}
		var refusal window.Refusal
		if err := json.NewDecoder(answer.Body).Decode(&refusal); err != nil || !refusal.Again ||
			answer.StatusCode != http.StatusTooManyRequests || answer.Header.Get("Retry-After") == "" {
			t.Errorf("try %d: %d %+v %v %v", try, answer.StatusCode, refusal, answer.Header, err)
		}
		break
	}
	if answer := send("other"); answer.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("another token: %d", answer.StatusCode)
	}
	if status, text := request(t, "GET", server+"/v1/services", secrets["greedy"+hub.Read], nil); status != 200 {
		t.Errorf("the tenant's own questions: %d %s", status, text)
	}
}
