package tail

import (
	"testing"

	"culprit/recording"
)

// Slow requests that began soon after a restart are counted: those before it, long after it, and
// after the end of a service that did not come back, are not.
func TestSlowAfterARestart(t *testing.T) {
	restarts := []recording.Restart{{TimeNs: 20e9, Pid: 1, NewPid: 2}, {TimeNs: 50e9, Pid: 2}}
	g := &group{}
	for _, second := range []int64{1, 19, 20, 25, 29, 31, 51} {
		g.slow = append(g.slow, &asked{row: &recording.SlowRequest{TimeNs: second * 1e9}})
	}
	if cold := afterRestarts(restarts, []*group{g}); cold != 3 {
		t.Errorf("%d, want those of seconds 20, 25 and 29", cold)
	}
}
