package serve

import (
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const testToken = "0123456789abcdef-token"

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func TestHostAndOrigin(t *testing.T) {
	_, h, _ := newTest(t, "", func(o *Options) { o.Hosts = []string{"box.lan"} }, "")
	for host, status := range map[string]int{"127.0.0.1:8717": 200, "localhost:1": 200, "[::1]:8717": 200,
		"LOCALHOST": 200, "10.0.0.7": 200, "box.lan:80": 200, "evil.example": 403,
		"127.0.0.1.evil.example:8717": 403, "": 403, "localhost.": 403} {
		w := get(h, "/api/library", func(r *http.Request) { r.Host = host })
		want(t, w, status)
	}
	const here = "http://127.0.0.1:8717"
	for _, c := range []struct {
		method, path string
		headers      map[string]string
		status       int
	}{
		{"GET", "/api/library", map[string]string{"Origin": here}, 200},
		{"GET", "/api/library", map[string]string{"Origin": "http://127.0.0.1:9999"}, 403},
		{"GET", "/api/library", map[string]string{"Origin": "null"}, 403},
		{"GET", "/api/library", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403},
		{"GET", "/", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate",
			"Sec-Fetch-Dest": "document"}, 200},
		{"GET", "/", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate",
			"Sec-Fetch-Dest": "iframe"}, 403},
		{"GET", "/", map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403},
		{"POST", "/api/jobs/1/stop", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate",
			"Sec-Fetch-Dest": "document"}, 403},
		{"POST", "/api/jobs/1/stop", map[string]string{"Origin": "https://evil.example"}, 403},
		{"POST", "/api/jobs/1/stop", map[string]string{"Origin": here, "Sec-Fetch-Site": "same-origin"}, 404},
	} {
		w := send(h, c.method, c.path, "", func(r *http.Request) {
			for name, value := range c.headers {
				r.Header.Set(name, value)
			}
		})
		if w.Code != c.status {
			t.Errorf("%s %s with %v: status %d, want %d", c.method, c.path, c.headers, w.Code, c.status)
		}
	}
	for _, path := range []string{"/", "/api/library", "/none", "/metrics"} {
		answer := get(h, path).Header()
		for name, value := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
			"Content-Security-Policy": "frame-ancestors 'none'"} {
			if !strings.Contains(answer.Get(name), value) {
				t.Errorf("%s: %s is %q", path, name, answer.Get(name))
			}
		}
	}
}

func TestToken(t *testing.T) {
	_, h, _ := newTest(t, "", nil, testToken)
	want(t, get(h, "/api/library"), http.StatusUnauthorized, "token")
	want(t, get(h, "/metrics", header("Authorization", "Bearer wrong")), http.StatusUnauthorized)
	want(t, get(h, "/metrics", header("Authorization", "Bearer "+testToken)), http.StatusOK)
	toForm := get(h, "/case/x", header("Accept", "text/html"))
	if place := toForm.Header().Get("Location"); toForm.Code != http.StatusSeeOther || place != "/login?next=%2Fcase%2Fx" {
		t.Errorf("a reader is sent to %q", place)
	}
	login := func(token, next string) (int, http.Header) {
		w := send(h, http.MethodPost, "/login?next="+url.QueryEscape(next), url.Values{"token": {token}}.Encode(),
			header("Content-Type", "application/x-www-form-urlencoded"))
		return w.Code, w.Header()
	}
	status, answer := login("not the token at all", "/")
	if status != http.StatusForbidden || answer.Get("Set-Cookie") != "" {
		t.Errorf("a wrong token: %d %v", status, answer)
	}
	for next, place := range map[string]string{"/case/x?y=1": "/case/x?y=1", "//evil.example": "/",
		"https://evil.example/": "/", `/\evil.example`: "/", "": "/", "/login": "/"} {
		if status, answer := login(testToken, next); status != http.StatusSeeOther || answer.Get("Location") != place {
			t.Errorf("after login with next %q: %d to %q, want %q", next, status, answer.Get("Location"), place)
		}
	}
	_, answer = login(testToken, "/")
	cookie := answer.Get("Set-Cookie")
	for _, part := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, part) {
			t.Errorf("the cookie %q has no %s", cookie, part)
		}
	}
	if strings.Contains(cookie, testToken) {
		t.Error("the cookie holds the token")
	}
	pair, _, _ := strings.Cut(cookie, ";")
	want(t, get(h, "/api/library", header("Cookie", pair)), http.StatusOK)
	send(h, http.MethodPost, "/logout", "", header("Cookie", pair))
	want(t, get(h, "/api/library", header("Cookie", pair)), http.StatusUnauthorized)
}

func TestTokenFile(t *testing.T) {
	folder := t.TempDir()
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		word string
	}{
		"good":  {testToken + "\n", 0o600, ""},
		"open":  {testToken, 0o644, "chmod 600"},
		"group": {testToken, 0o640, "chmod 600"},
		"short": {"abc", 0o600, "fewer than 16"},
		"odd":   {"0123456789abcdef with spaces", 0o600, "spaces"},
		"long":  {strings.Repeat("x", tokenMax+1), 0o600, "more than"},
	} {
		path := filepath.Join(folder, name)
		write(t, path, c.text)
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		token, err := readToken(path)
		if c.word == "" && (err != nil || token != testToken) {
			t.Errorf("%s: %q, %v", name, token, err)
		}
		if c.word != "" && (err == nil || !strings.Contains(err.Error(), c.word)) {
			t.Errorf("%s: %v does not say %q", name, err, c.word)
		}
	}
	if _, err := readToken(folder); err == nil {
		t.Error("a folder is a token")
	}
}

func TestOptions(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	write(t, token, testToken)
	if err := os.Chmod(token, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o    Options
		word string
	}{
		{Options{Listen: "127.0.0.1:0"}, ""},
		{Options{Listen: "[::1]:0"}, ""},
		{Options{Listen: "nothing"}, "HOST:PORT"},
		{Options{Listen: "0.0.0.0:0"}, "--token-file"},
		{Options{Listen: ":0"}, "--token-file"},
		{Options{Listen: "box.lan:0"}, "--token-file"},
		{Options{Listen: "0.0.0.0:0", TokenFile: token}, "--insecure"},
		{Options{Listen: "0.0.0.0:0", TokenFile: token, Insecure: true}, ""},
		{Options{Listen: "127.0.0.1:0", TLSCert: "x"}, "--tls-key"},
	} {
		_, err := c.o.check()
		if (err == nil) != (c.word == "") || err != nil && !strings.Contains(err.Error(), c.word) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.word)
		}
	}
}

// The gate lets in its own user and root, looks at real sockets, and does not wait for anybody.
func TestGate(t *testing.T) {
	for name, c := range map[string]struct {
		owner func(net.Conn) (uint32, error)
		in    bool
	}{
		"own":     {peerOwner, true},
		"other":   {func(net.Conn) (uint32, error) { return 12345, nil }, false},
		"unknown": {func(net.Conn) (uint32, error) { return 0, os.ErrNotExist }, false},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			g := newGate(listener, c.owner, newMetrics())
			h := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusTeapot)
			})}
			go func() { _ = h.Serve(g) }() // ends with the listener
			answer, err := http.Get("http://" + listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			text := read(t, answer.Body)
			if in := answer.StatusCode == http.StatusTeapot; in != c.in {
				t.Errorf("status %d: %s", answer.StatusCode, text)
			}
			if !c.in && (answer.StatusCode != http.StatusForbidden || strings.Count(text, "\n") != 1) {
				t.Errorf("refused with %d %q", answer.StatusCode, text)
			}
		})
	}
}

// A socket that its process has closed belongs to nobody: the kernel would name root.
func TestClosedSocketHasNoOwner(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	connection, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if uid, err := peerOwner(connection); err != nil || int(uid) != os.Geteuid() {
		t.Errorf("owner %d, %v; want %d", uid, err, os.Geteuid())
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if uid, err := peerOwner(connection); err == nil {
		t.Errorf("a closed socket is said to be of user %d", uid)
	}
}

func TestTooManyConnections(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	g := newGate(listener, nil, newMetrics())
	g.slots = make(chan struct{}, 1)
	h := &http.Server{Handler: http.NotFoundHandler()}
	go func() { _ = h.Serve(g) }() // ends with the listener
	first, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if _, err := second.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if text := read(t, second); !strings.HasPrefix(text, "HTTP/1.1 503") {
		t.Errorf("the second connection got %q", text)
	}
}
