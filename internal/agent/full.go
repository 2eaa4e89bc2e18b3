package agent

import (
	"context"
	"fmt"
	"time"

	"culprit/internal/fleet/window"
)

// patienceFull is how many light windows there are after a full one that failed, before the next is
// tried.
const patienceFull = 10

// fullDue tells whether the next window is a full one: it is time, a service left its band, or
// somebody asked; and the budget has room for it.
func (a *Agent) fullDue() bool {
	if a.options.FullFor <= 0 || a.budget.share > 0 && a.budget.purse < a.budget.most()/4 {
		return false
	}
	return len(a.asks) > 0 || a.left != "" || a.options.Full > 0 && clockNow() >= a.fullAt
}

// full records one full window, by a recorder of its own: the light one stays as small as it is.
func (a *Agent) full(ctx context.Context) {
	why, length := "every "+a.options.Full.String(), a.options.FullFor
	select {
	case ask := <-a.asks:
		why = fmt.Sprintf("asked by the hub (%s): %s", ask.ID, ask.Why)
		if ask.Seconds > 0 {
			length = min(time.Duration(min(ask.Seconds, 3600))*time.Second, max(a.options.Every, a.options.FullFor))
		}
	default:
		if a.left != "" {
			why, a.left = a.left, ""
		}
	}
	a.fullAt = clockNow() + a.options.Full
	started, err := a.options.start(ctx, a.recording(false))
	if err != nil {
		a.fullAt = clockNow() + max(a.options.Full, patienceFull*a.options.Every)
		a.log.trouble("full", err.Error())
		a.light(ctx)
		return
	}
	defer started.Close()
	a.window(ctx, taken{recorder: started, why: why, maps: mapsOf(started.Pid())}, window.Full, length)
}
