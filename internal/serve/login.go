package serve

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// loginPath is the only path that is open to who has no token yet.
const loginPath = "/login"

const loginStyle = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;` +
	`margin:15vh auto;padding:0 1rem}input,button{font:inherit;padding:.4rem .6rem;width:100%;` +
	`box-sizing:border-box;margin-top:.5rem}`

var loginPage = template.Must(template.New("login").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>culprit: token</title><style>{{.Style}}</style></head>
<body><main><h1>culprit</h1>{{with .Wrong}}<p role="alert">{{.}}</p>{{end}}
<form method="post" action="{{.Action}}"><label>Token of this server
<input type="password" name="token" required autofocus autocomplete="current-password"></label>
<button>Open</button></form></main></body></html>
`))

// showLogin answers with the form for the token.
func (s *server) showLogin(w http.ResponseWriter, r *http.Request, wrong string) {
	hash := sha256.Sum256([]byte(loginStyle))
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+
		base64.StdEncoding.EncodeToString(hash[:])+"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if wrong != "" {
		w.WriteHeader(http.StatusForbidden)
	}
	// The reader may have gone.
	_ = loginPage.Execute(w, map[string]any{"Style": template.CSS(loginStyle), "Wrong": wrong,
		"Action": loginPath + "?next=" + url.QueryEscape(nextOf(r))})
}

// login opens a session for who knows the token.
func (s *server) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 8<<10)
	defer readWithin(w, bodyTime)()
	if err := r.ParseForm(); err != nil {
		fail(w, r, http.StatusBadRequest, "the form cannot be read")
		return
	}
	if s.door.token == "" || !s.door.right(r.PostForm.Get("token")) {
		time.Sleep(wrongToken)
		s.metrics.refuse("token")
		s.showLogin(w, r, "That is not the token.")
		return
	}
	cookie, err := s.door.open()
	if err != nil {
		fail(w, r, http.StatusInternalServerError, err.Error())
		return
	}
	http.SetCookie(w, cookie)
	http.Redirect(w, r, nextOf(r), http.StatusSeeOther)
}

// logout ends the session.
func (s *server) logout(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, s.door.end(r))
	w.WriteHeader(http.StatusNoContent)
}

// nextOf is where to go after the form: a path of this server, whatever was given.
func nextOf(r *http.Request) string {
	next, err := url.Parse(r.URL.Query().Get("next"))
	if err != nil || !strings.HasPrefix(next.Path, "/") || strings.HasPrefix(next.Path, "//") ||
		strings.Contains(next.Path, `\`) || next.Path == loginPath {
		return "/"
	}
	return (&url.URL{Path: next.Path, RawPath: next.RawPath, RawQuery: next.RawQuery}).String()
}
