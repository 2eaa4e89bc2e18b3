package recording

import (
	"fmt"
	"strings"
	"time"
)

// Restart is the end of the process that stood for a recorded service, and the beginning of the one
// that came in its place.
type Restart struct {
	TimeNs int64 `json:"time_ns"` // on the recording's clock, when the first was found to be gone
	AwayNs int64 `json:"away_ns"` // from then until the next was followed, by the clock on the wall
	Pid    int   `json:"pid"`
	NewPid int   `json:"new_pid,omitempty"` // 0: none came in its place while it was recorded
}

// String says what happened, and when.
func (r Restart) String() string {
	at, away := time.Duration(r.TimeNs), time.Duration(r.AwayNs)
	round := func(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
	if r.NewPid == 0 {
		return fmt.Sprintf("process %d ended after %v and none came in its place within %v", r.Pid, round(at), round(away))
	}
	return fmt.Sprintf("process %d ended after %v, process %d was followed %v later", r.Pid, round(at), r.NewPid,
		round(away))
}

// restartsTold is how many restarts are told one by one.
const restartsTold = 3

// AddRestarts notes restarts of the service that was recorded, which also limit what can be said of
// it.
func (m *Manifest) AddRestarts(more ...Restart) {
	if m.Restarts = append(m.Restarts, more...); len(m.Restarts) == 0 {
		return
	}
	m.BlindSpots = withRestarts(m.BlindSpots, m.Restarts)
}

// WithoutRestarts are the blind spots but for what restarts are told in.
func (m *Manifest) WithoutRestarts() []BlindSpot { return withRestarts(m.BlindSpots, nil) }

// withRestarts tells of restarts in one blind spot, in place of those that told of some of them.
func withRestarts(spots []BlindSpot, restarts []Restart) []BlindSpot {
	others := []BlindSpot{}
	for _, spot := range spots {
		if spot.Kind != BlindRestart {
			others = append(others, spot)
		}
	}
	if len(restarts) == 0 {
		return others
	}
	var words []string
	for _, restart := range restarts[:min(len(restarts), restartsTold)] {
		words = append(words, restart.String())
	}
	if more := len(restarts) - restartsTold; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return append(others, BlindSpot{Kind: BlindRestart, Count: int64(len(restarts)), What: strings.Join(words, "; ")})
}

// Between are the restarts between two moments of a recording, on the clock of that part.
func Between(restarts []Restart, fromNs, toNs int64) (within []Restart) {
	for _, restart := range restarts {
		if restart.TimeNs >= fromNs && restart.TimeNs < toNs {
			restart.TimeNs -= fromNs
			within = append(within, restart)
		}
	}
	return within
}
