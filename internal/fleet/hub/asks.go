package hub

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"culprit/internal/fleet/store"
	"culprit/internal/fleet/window"
)

// asks are full windows that somebody waits for, by tenant and host. They live in memory: after a
// restart of the hub the question is asked again.
type asks struct {
	mutex   sync.Mutex
	waiting map[[2]string][]waiting
	count   int
}

type waiting struct {
	ask   window.Ask
	until time.Time
}

const (
	maxAsks        = 10000
	maxAsksOfHost  = 4
	askLives       = time.Hour
	maxAskSeconds  = 120
	leastOfAsks    = 5
	maxHostsOfAsks = 100
)

func (h *Hub) askAgents(r *http.Request, token Token, _ *store.Store, w http.ResponseWriter) error {
	var request window.AskRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&request); err != nil {
		return failure{http.StatusBadRequest, false, fmt.Errorf("read request: %w", err)}
	}
	if request.Service == "" || len(request.Hosts) == 0 || len(request.Hosts) > maxHostsOfAsks ||
		request.Seconds < leastOfAsks || request.Seconds > maxAskSeconds {
		return failure{http.StatusBadRequest, false, fmt.Errorf(
			"give a service, 1 to %d hosts and %d to %d seconds", maxHostsOfAsks, leastOfAsks, maxAskSeconds)}
	}
	for _, host := range request.Hosts {
		if err := h.asks.add(token.Tenant, host, window.Ask{ID: rand.Text(), Service: request.Service,
			Seconds: request.Seconds, Lines: request.Lines, Why: request.Why}); err != nil {
			return failure{http.StatusServiceUnavailable, true, err}
		}
	}
	reply(w, http.StatusOK, map[string]int{"asked": len(request.Hosts)})
	return nil
}

func (a *asks) add(tenant, host string, ask window.Ask) error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.waiting == nil {
		a.waiting = map[[2]string][]waiting{}
	}
	at := [2]string{tenant, host}
	if a.count >= maxAsks || len(a.waiting[at]) >= maxAsksOfHost {
		return errors.New("too many windows are asked for already")
	}
	a.waiting[at] = append(a.waiting[at], waiting{ask, time.Now().Add(askLives)})
	a.count++
	return nil
}

// take gives the host's asks out, once.
func (a *asks) take(tenant, host string) []window.Ask {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	at := [2]string{tenant, host}
	var given []window.Ask
	for _, w := range a.waiting[at] {
		if a.count--; time.Now().Before(w.until) {
			given = append(given, w.ask)
		}
	}
	delete(a.waiting, at)
	return given
}
