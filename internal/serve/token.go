package serve

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Limits of tokens and of who is logged in.
const (
	tokenMin    = 16
	tokenMax    = 1024
	sessionsMax = 256
	sessionTime = 12 * time.Hour
	wrongToken  = 300 * time.Millisecond // before a wrong one is answered
)

// readToken reads the token of a file that nobody else may read.
func readToken(name string) (string, error) {
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	stat, _ := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("token file %s is no file; give one with the token in it", name)
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("token file %s can be read by others (mode %04o); chmod 600 %s", name,
			info.Mode().Perm(), name)
	case stat != nil && stat.Uid != 0 && int(stat.Uid) != os.Geteuid():
		return "", fmt.Errorf("token file %s belongs to user %d, who can change it; give one of your own", name, stat.Uid)
	}
	text, err := io.ReadAll(io.LimitReader(file, tokenMax+2))
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	odd := strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
	switch {
	case len(token) < tokenMin:
		return "", fmt.Errorf("the token in %s has %d characters, fewer than %d; "+
			"make one: (umask 077; openssl rand -hex 32 > %s)", name, len(token), tokenMin, name)
	case len(token) > tokenMax:
		return "", fmt.Errorf("the token in %s has more than %d characters", name, tokenMax)
	case odd:
		return "", fmt.Errorf("the token in %s has spaces or characters that are not ASCII; "+
			"make one: (umask 077; openssl rand -hex 32 > %s)", name, name)
	}
	return token, nil
}

// door lets in who has the token; the zero token lets in everybody, since the gate has looked
// already.
type door struct {
	token  string
	secure bool   // cookies go over TLS only
	cookie string // name: cookies of one host are not told apart by port

	mutex    sync.Mutex
	sessions map[[sha256.Size]byte]time.Time // until when
}

func newDoor(token, port string, secure bool) *door {
	return &door{token: token, secure: secure, cookie: "culprit_" + port, sessions: map[[sha256.Size]byte]time.Time{}}
}

// knows tells whether a request has the token or a session that it opened.
func (d *door) knows(r *http.Request) bool {
	if d.token == "" {
		return true
	}
	if given, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); found {
		return d.right(given)
	}
	cookie, err := r.Cookie(d.cookie)
	if err != nil {
		return false
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	until, known := d.sessions[sha256.Sum256([]byte(cookie.Value))]
	return known && time.Now().Before(until)
}

// right compares in constant time, also of the lengths.
func (d *door) right(given string) bool {
	want, got := sha256.Sum256([]byte(d.token)), sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// open begins a session.
func (d *door) open() (*http.Cookie, error) {
	var random [32]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, errors.New("begin session: no random numbers")
	}
	value := base64.RawURLEncoding.EncodeToString(random[:])
	d.mutex.Lock()
	defer d.mutex.Unlock()
	now := time.Now()
	var oldest [sha256.Size]byte
	for session, until := range d.sessions {
		if now.After(until) {
			delete(d.sessions, session)
		} else if first, set := d.sessions[oldest]; !set || until.Before(first) {
			oldest = session
		}
	}
	if len(d.sessions) >= sessionsMax {
		delete(d.sessions, oldest)
	}
	d.sessions[sha256.Sum256([]byte(value))] = now.Add(sessionTime)
	return &http.Cookie{Name: d.cookie, Value: value, Path: "/", HttpOnly: true, Secure: d.secure,
		SameSite: http.SameSiteStrictMode, MaxAge: int(sessionTime / time.Second)}, nil
}

// end ends the session of a request.
func (d *door) end(r *http.Request) *http.Cookie {
	if cookie, err := r.Cookie(d.cookie); err == nil {
		d.mutex.Lock()
		delete(d.sessions, sha256.Sum256([]byte(cookie.Value)))
		d.mutex.Unlock()
	}
	return &http.Cookie{Name: d.cookie, Path: "/", HttpOnly: true, Secure: d.secure,
		SameSite: http.SameSiteStrictMode, MaxAge: -1}
}
