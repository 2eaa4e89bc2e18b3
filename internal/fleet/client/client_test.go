package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"culprit/internal/fleet/ask"
)

// most is how many bytes an answer may have here.
const most = 1 << 20

// hubThat is a hub that answers as it is told, and where it is asked.
func hubThat(t *testing.T, answer http.HandlerFunc) Where {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return Where{Hub: server.URL, Token: "the-token", most: most}
}

// Stages are told as they come; a hub that knows none gives the answer alone.
func TestAskHub(t *testing.T) {
	for name, text := range map[string]string{
		ask.LinesType: `{"stage":"reading hosts"}` + "\n" + `{"stage":"fitting"}` + "\n" +
			`{"answer":{"question":"bands","hosts":3}}` + "\n",
		"application/json": `{"question":"bands","hosts":3}`,
	} {
		where := hubThat(t, func(w http.ResponseWriter, r *http.Request) {
			var request ask.Request
			if json.NewDecoder(r.Body).Decode(&request) != nil || request.Service != "web" || r.URL.Path != "/v1/ask" ||
				r.Header.Get("Authorization") != "Bearer the-token" {
				t.Errorf("asked %s %+v", r.URL, request)
			}
			w.Header().Set("Content-Type", name)
			io.WriteString(w, text)
		})
		var stages []string
		answer, err := where.Telling(t.Context(), ask.Request{Question: ask.Bands, Service: "web"},
			func(stage string) { stages = append(stages, stage) })
		if err != nil || answer.Hosts != 3 {
			t.Errorf("%s: %+v, %v", name, answer, err)
		}
		if told := strings.Join(stages, ", "); (name == ask.LinesType) != (told == "reading hosts, fitting") {
			t.Errorf("%s: told %q", name, told)
		}
	}
}

// Each fault is one line that names the thing, and never the token.
func TestAskHubFails(t *testing.T) {
	elsewhere := hubThat(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("followed to %s", r.URL) })
	for want, answer := range map[string]http.HandlerFunc{
		"the token is not known here": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"error":"the token is not known here","again":false}`)
		},
		"502 Bad Gateway": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			io.WriteString(w, "<html>"+strings.Repeat("x", 1<<20))
		},
		"307 Temporary Redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.Hub, http.StatusTemporaryRedirect)
		},
		"too few hosts": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", ask.LinesType)
			io.WriteString(w, `{"stage":"fitting"}`+"\n"+`{"error":"too few hosts"}`+"\n")
		},
		"broke off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", ask.LinesType)
			io.WriteString(w, `{"stage":"fitting"}`+"\n")
		},
		"invalid character": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") },
		"more bytes came": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", ask.LinesType)
			io.WriteString(w, `{"stage":"`+strings.Repeat("x", most))
		},
	} {
		_, err := hubThat(t, answer).Ask(t.Context(), ask.Request{Question: ask.Bands, Service: "web"})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "the-token") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for hub, want := range map[string]string{"http://hub.example": "https only", "hub": "no address",
		"https://user:secret@hub.example": "no address"} {
		if err := (Where{Hub: hub}).Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", hub, err)
		}
	}
}

// A directory is asked by a child, whose last line says what went wrong.
func TestAskChild(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	child := func(script string) {
		text := "#!/bin/sh\necho \"$@\" >" + folder + "/asked\n" + script + "\n"
		if err := os.WriteFile(filepath.Join(folder, program), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	where := Where{Store: "/a store", Tenant: "red", most: most}
	child(`echo '{"stage":"reading"}'; echo '{"answer":{"hosts":7}}'`)
	var stages []string
	answer, err := where.Telling(t.Context(), ask.Request{}, func(stage string) { stages = append(stages, stage) })
	asked, _ := os.ReadFile(filepath.Join(folder, "asked"))
	if err != nil || answer.Hosts != 7 || !slices.Equal(stages, []string{"reading"}) ||
		string(asked) != "ask --lines --store=/a store --tenant=red\n" {
		t.Errorf("%+v, %v, told %v, asked %q", answer, err, stages, asked)
	}
	for script, want := range map[string]string{
		`echo "time=x level=WARN" >&2; echo "culprit-hub: open /a store: a hub has it open" >&2; exit 2`: "a hub has it open",
		`echo '{"stage":"x"}'; exit 3`:                                             "broke off",
		`echo '{"answer":{}}'; exit 3`:                                             "exit status 3",
		fmt.Sprintf(`printf '{"stage":"'; head -c %d /dev/zero | tr '\0' x`, most): "more bytes came",
	} {
		child(script)
		if _, err := where.Ask(t.Context(), ask.Request{}); err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v, want %q", script, err, want)
		}
	}
	child("exec sleep 60")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := where.Ask(ctx, ask.Request{}); err == nil {
		t.Error("a question that nobody waits for was answered")
	}
}
