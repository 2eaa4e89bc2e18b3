package hub

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits are how much one token may ask of the hub, a second.
type Limits struct {
	Windows   float64 // uploads
	Questions float64
}

// Burst is how many seconds' worth may come at once: all agents begin their minute together.
const burst = 60

// access is what the hub knows of its tokens. The file is read again when it has changed.
type access struct {
	path   string
	limits Limits
	mutex  sync.Mutex
	looked time.Time
	seen   os.FileInfo
	tokens map[string]*guest // by hash
}

// guest is a token with what it has used of its limits.
type guest struct {
	Token
	rate   *rate.Limiter
	places chan struct{} // uploads, or questions, at once
}

// lookEvery is how often the file of tokens is looked at.
const lookEvery = 2 * time.Second

func newAccess(directory string, limits Limits) (*access, error) {
	a := &access{path: filepath.Join(directory, tokensFile), limits: limits, tokens: map[string]*guest{}}
	return a, a.read(time.Now())
}

// read takes up tokens that were added, and forgets those that are gone; the others keep what they
// have used.
func (a *access) read(now time.Time) error {
	if now.Sub(a.looked) < lookEvery {
		return nil
	}
	a.looked = now
	info, err := os.Stat(a.path)
	if errors.Is(err, os.ErrNotExist) {
		a.tokens, a.seen = map[string]*guest{}, nil
		return nil
	}
	if err != nil {
		return fmt.Errorf("read tokens: %w", err)
	}
	if a.seen != nil && os.SameFile(a.seen, info) && info.ModTime().Equal(a.seen.ModTime()) {
		return nil
	}
	all, err := ReadTokens(filepath.Dir(a.path))
	if err != nil {
		return err
	}
	a.seen = info
	tokens := map[string]*guest{}
	for _, token := range all {
		if tokens[token.Hash] = a.tokens[token.Hash]; tokens[token.Hash] != nil {
			continue
		}
		each, places := a.limits.Windows, maxUploads
		if token.Scope != Write {
			each, places = a.limits.Questions, maxQuestions
		}
		tokens[token.Hash] = &guest{token, rate.NewLimiter(rate.Limit(each), int(math.Ceil(each*burst))),
			make(chan struct{}, places)}
	}
	a.tokens = tokens
	return nil
}

// all are the tokens that there are now.
func (a *access) all() (tokens []Token) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for _, guest := range a.tokens {
		tokens = append(tokens, guest.Token)
	}
	return tokens
}

func (a *access) guest(secret string) (*guest, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	// With a file that cannot be read, those that were known stay.
	err := a.read(time.Now())
	return a.tokens[hashOf(secret)], err
}

func (h *Hub) authorised(scopes []string, serve serving, w http.ResponseWriter, r *http.Request) error {
	secret, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !isBearer || len(secret) > 256 {
		return failure{http.StatusUnauthorized, false, errors.New("no token: Authorization: Bearer TOKEN")}
	}
	guest, err := h.access.guest(secret)
	if err != nil {
		h.log.Error("tokens could not be read again", "error", err)
	}
	switch {
	case guest == nil:
		return failure{http.StatusUnauthorized, false, errors.New("the token is not known here")}
	case !slices.Contains(scopes, guest.Scope):
		return failure{http.StatusForbidden, false, fmt.Errorf("the token is for %s, this needs %s", guest.Scope,
			strings.Join(scopes, " or "))}
	case !guest.rate.Allow():
		return failure{http.StatusTooManyRequests, true, fmt.Errorf("more than %g requests a second with this token",
			float64(guest.rate.Limit()))}
	}
	// One token that is slow, or that asks for much, leaves places for the others.
	select {
	case guest.places <- struct{}{}:
		defer func() { <-guest.places }()
	default:
		return failure{http.StatusServiceUnavailable, true, errors.New("too many requests at once with this token")}
	}
	s, err := h.Store(r.Context(), guest.Tenant)
	if err != nil {
		return err
	}
	return serve(r, guest.Token, s, w)
}

// Tenants are those that have tokens.
func (h *Hub) Tenants() []string {
	seen := map[string]bool{}
	var all []string
	for _, token := range h.access.all() {
		if !seen[token.Tenant] {
			seen[token.Tenant] = true
			all = append(all, token.Tenant)
		}
	}
	return all
}

// enter takes a place of all tokens together, or says that there is none.
func enter(places chan struct{}) (leave func(), err error) {
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	default:
		return nil, failure{http.StatusServiceUnavailable, true, errors.New("too many requests at once")}
	}
}
