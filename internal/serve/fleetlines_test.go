package serve

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"culprit/internal/fleet/client"
	"culprit/internal/fleet/window"
)

// Agents are asked for cache lines through a hub, by who may act: never by a page of elsewhere, on
// a server that only shows, or without a hub.
func TestFleetLines(t *testing.T) {
	asked, refuse := 0, false
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		var request window.AskRequest
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || r.URL.Path != "/v1/asks" || !request.Lines ||
			request.Service != "web" || strings.Join(request.Hosts, " ") != "h1 h2" || request.Seconds < 5 ||
			r.Header.Get("Authorization") != "Bearer the-token-of-the-hub" {
			t.Errorf("%s asked with %+v, %v", r.URL, request, err)
		}
		if refuse {
			w.WriteHeader(http.StatusForbidden)
			io.WriteString(w, `{"error":"the token is for write, this needs read"}`)
		}
	}))
	t.Cleanup(hub.Close)
	serve := func(where client.Where, readOnly bool) http.Handler {
		_, h, _ := newTest(t, "", func(o *Options) { o.Fleet, o.ReadOnly = where, readOnly }, "")
		return h
	}
	where := client.Where{Hub: hub.URL, Token: "the-token-of-the-hub"}
	const path, body = "/api/fleet/lines", `{"service":"web","hosts":["h1","h2"]}`
	h := serve(where, false)
	want(t, get(h, "/api/fleet"), http.StatusOK, `"lines":true`)
	want(t, send(h, http.MethodPost, path, body), http.StatusOK, `"hosts":["h1","h2"]`)
	if asked != 1 {
		t.Errorf("the hub was asked %d times", asked)
	}
	want(t, send(h, http.MethodPost, path, body, header("Origin", "https://elsewhere.example")),
		http.StatusForbidden, "another server")
	want(t, send(h, http.MethodPost, path, body, header("Sec-Fetch-Site", "cross-site")),
		http.StatusForbidden, "another server")
	for _, wrong := range []string{`{"service":"web"}`, `{"service":"","hosts":["h1"]}`, `{"service":"web","hosts":[""]}`,
		`{"service":"web","hosts":["1","2","3","4","5"]}`} {
		want(t, send(h, http.MethodPost, path, wrong), http.StatusBadRequest, "1 to 4 hosts")
	}
	shows := serve(where, true)
	want(t, get(shows, "/api/fleet"), http.StatusOK, `"lines":false`)
	want(t, send(shows, http.MethodPost, path, body), http.StatusForbidden, "only shows")
	store := serve(client.Where{Store: "/nowhere"}, false)
	want(t, get(store, "/api/fleet"), http.StatusOK, `"lines":false`)
	want(t, send(store, http.MethodPost, path, body), http.StatusNotFound, "--hub URL")
	if asked != 1 {
		t.Errorf("the hub was asked %d times", asked)
	}
	refuse = true
	want(t, send(h, http.MethodPost, path, body), http.StatusBadGateway, "hub: the token is for write, this needs read")
}
