package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"culprit/internal/agent/spool"
	"culprit/internal/fleet/window"
)

// Between two attempts lies a pause that doubles, of which half is left to chance: a hub that comes
// back is not to hear of all hosts in one second.
const (
	firstPause  = time.Second
	longestWait = 5 * time.Minute
	sendTime    = 2 * time.Minute // for one window
	answerLimit = 1 << 20
)

// shipper brings windows to a hub, one after the other, the oldest first.
type shipper struct {
	agent  *Agent
	client *http.Client
	token  func() (string, error)
	sent   atomic.Int64 // when a window was taken last, as Unix time in ns
}

// startShipping begins to ship in the background; the function that it returns ends it.
func (a *Agent) startShipping(ctx context.Context) (stop func(), err error) {
	a.spool.ShipTo(a.options.Hub)
	if a.options.Hub == "" {
		return func() {}, nil
	}
	s := &shipper{agent: a, token: func() (string, error) { return readToken(a.options.TokenFile) },
		client: &http.Client{Timeout: sendTime, CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the hub sends elsewhere; give its own address") // with the token
		}}}
	if _, err := s.token(); err != nil { // now, not in a line of a log
		return nil, err
	}
	a.shipper = s
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}, nil
}

func (a *Agent) lastSent() time.Time {
	if a.shipper == nil || a.shipper.sent.Load() == 0 {
		return time.Time{}
	}
	return time.Unix(0, a.shipper.sent.Load()).UTC()
}

func (s *shipper) run(ctx context.Context) {
	failures := 0
	for ctx.Err() == nil {
		entry, there := s.agent.spool.Unsent()
		if !there {
			s.await(ctx)
			continue
		}
		wait, err := s.send(ctx, entry)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			failures = 0
			s.agent.log.better("hub", "the hub takes windows again")
			continue
		}
		s.agent.log.trouble("hub", err.Error())
		pause(ctx, max(wait, backOff(cmp.Or(s.agent.options.firstPause, firstPause), failures)), nil)
		failures++
	}
}

// await waits for the next window.
func (s *shipper) await(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-s.agent.kick:
	}
}

// backOff is the pause after so many failures in a row.
func backOff(first time.Duration, failures int) time.Duration {
	wait := first << min(failures, 16)
	wait = min(wait, longestWait)
	return wait/2 + rand.N(wait/2+1)
}

// send brings one window to the hub. An error means that it is to be tried again, after a pause of
// at least wait.
func (s *shipper) send(ctx context.Context, entry spool.Entry) (wait time.Duration, err error) {
	request, err := s.request(ctx, entry)
	switch {
	case errors.Is(err, os.ErrNotExist): // the bound has removed it meanwhile, and counted it
		return 0, nil
	case errors.Is(err, window.ErrRefused):
		s.agent.log.note(fmt.Sprintf("set aside %s: %v", entry.Name, err))
		s.agent.spool.SetAside(entry)
		return 0, nil
	case err != nil:
		return 0, err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("send window: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, answerLimit))
	if err != nil {
		return 0, fmt.Errorf("send window: %w", err)
	}
	if response.StatusCode == http.StatusOK {
		return 0, s.taken(entry, text, request.Header.Get(contentHeader))
	}
	return s.refused(entry, response, text)
}

// contentHeader carries the content id to where the answer is compared with it.
const contentHeader = "Culprit-Content"

func (s *shipper) request(ctx context.Context, entry spool.Entry) (*http.Request, error) {
	token, err := s.token()
	if err != nil {
		return nil, err
	}
	manifest, err := spool.ManifestOf(s.agent.options.Folder, entry)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(s.agent.spool.Recording(entry))
	if err != nil {
		return nil, fmt.Errorf("send window: %w", err)
	}
	if int64(len(content)) != manifest.Bytes {
		return nil, fmt.Errorf("%w: its recording has %d bytes and not %d", window.ErrRefused, len(content), manifest.Bytes)
	}
	body, length, err := manifest.Body(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPut,
		s.agent.options.Hub+window.Path(manifest.Content), body)
	if err != nil {
		return nil, fmt.Errorf("send window: %w", err)
	}
	request.ContentLength = length
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", window.ContentType)
	request.Header.Set("User-Agent", s.agent.options.Program)
	request.Header.Set(contentHeader, manifest.Content)
	return request, nil
}

// taken notes that the hub has a window. Only its own words count: a proxy that answers 200 to
// everything has none.
func (s *shipper) taken(entry spool.Entry, text []byte, content string) error {
	var answer window.Answer
	if err := json.Unmarshal(text, &answer); err != nil || answer.Content != content {
		return fmt.Errorf("send window: the hub did not acknowledge it (is there another server at %s?)",
			s.agent.options.Hub)
	}
	s.agent.spool.MarkSent(entry, false)
	s.sent.Store(time.Now().UnixNano())
	for _, ask := range answer.Asks {
		s.agent.ask(ask)
	}
	return nil
}

// refused reads why the hub did not take a window: for now, or for good.
func (s *shipper) refused(entry spool.Entry, response *http.Response, text []byte) (time.Duration, error) {
	var refusal window.Refusal
	known := json.Unmarshal(text, &refusal) == nil && refusal.Error != ""
	why := refusal.Error
	if !known {
		why = "status " + response.Status
	}
	// Who asks with a wrong token, or asks a server that is no hub, has windows that the right one
	// will take.
	final := known && !refusal.Again && response.StatusCode != http.StatusUnauthorized &&
		response.StatusCode != http.StatusForbidden
	if final {
		s.agent.log.note(fmt.Sprintf("the hub will never take window %s: %s", entry.Name, why))
		s.agent.spool.MarkSent(entry, true)
		return 0, nil
	}
	wait := time.Duration(0)
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		wait = min(time.Duration(seconds)*time.Second, longestWait)
	}
	return wait, fmt.Errorf("the hub does not take windows now: %s", why)
}

// ask takes a wish of the hub to heart, once.
func (a *Agent) ask(ask window.Ask) {
	if ask.ID == "" || len(ask.ID) > window.MaxName || !a.spool.Answer(ask.ID) {
		return
	}
	select {
	case a.asks <- ask:
	default:
		a.log.note("the hub asks for more full windows than there is time for; one is left out")
	}
}
