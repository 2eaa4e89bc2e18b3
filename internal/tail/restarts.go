package tail

import (
	"time"

	"culprit/recording"
)

// ColdFor is how long after a restart requests are told apart: caches fill, code is compiled,
// connections are made. Chosen.
const ColdFor = 10 * time.Second

// afterRestarts counts the slow requests that began soon after the service was restarted.
func afterRestarts(restarts []recording.Restart, groups []*group) (cold int) {
	for _, g := range groups {
		for _, a := range g.slow {
			if isCold(restarts, a.row.TimeNs) {
				cold++
			}
		}
	}
	return cold
}

// isCold tells whether a time lies soon after a restart.
func isCold(restarts []recording.Restart, timeNs int64) bool {
	for _, restart := range restarts {
		if restart.NewPid != 0 && timeNs >= restart.TimeNs && timeNs-restart.TimeNs < int64(ColdFor) {
			return true
		}
	}
	return false
}
