package tail

import (
	"fmt"
	"time"

	"culprit/recording"
)

// coldFor is how long after a restart requests are told apart: caches fill, code is compiled, connections are made.
// Chosen.
const coldFor = 10 * time.Second

// afterRestarts says how many of the slow requests began soon after the service was restarted.
func afterRestarts(restarts []recording.Restart, groups []*group) (told []string) {
	slow, cold := 0, 0
	for _, g := range groups {
		for _, a := range g.slow {
			slow++
			if isCold(restarts, a.row.TimeNs) {
				cold++
			}
		}
	}
	if cold == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of the %d slow requests that were kept began within %v after a restart of the "+
		"service, when it was cold", cold, slow, coldFor)}
}

// isCold tells whether a time lies soon after a restart.
func isCold(restarts []recording.Restart, timeNs int64) bool {
	for _, restart := range restarts {
		if restart.NewPid != 0 && timeNs >= restart.TimeNs && timeNs-restart.TimeNs < int64(coldFor) {
			return true
		}
	}
	return false
}
