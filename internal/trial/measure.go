package trial

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// measured is one run as it was seen.
type measured struct {
	window        Window
	base          baseline
	before, after look
	status        unix.WaitStatus
	stop          stop
	tree          *tree
	runqueue      time.Duration // of the leader's first thread
	groupCPU      time.Duration
	groupCounts   bool
}

// measure opens the gate and returns when nothing of the tree is left.
func (r *Runner) measure(ctx context.Context, spec Spec, held *gate, tree *tree, out *outputs,
	spared []int) (measured, error) {
	m := measured{tree: tree, window: Window{Pid: held.pid}}
	var err error
	if m.base, err = readBaseline(held.pid, tree.group); err == nil {
		m.before, err = lookAtHost(r.root, spared)
	}
	if err == nil {
		m.window.Opened, err = held.release()
	}
	if err != nil {
		_, errReap := tree.reap(held.pid)
		return m, errors.Join(err, errReap)
	}
	if m.window.Ended, m.stop, err = r.await(ctx, spec, tree, held.pid, out); err != nil {
		return m, err
	}
	if _, m.runqueue, err = schedstat(held.pid); err != nil {
		m.runqueue = m.base.runqueue
	}
	if m.status, err = tree.reap(held.pid); err != nil {
		return m, err
	}
	m.groupCPU, m.groupCounts = tree.group.cpu()
	m.after, err = lookAtHost(r.root, spared)
	return m, err
}

// stop says why culprit ended a command; all zero when it ended by itself.
type stop struct {
	timeout   time.Duration
	flood     int64
	cancelled error
}

// watchInterval is how often culprit wakes during a run, to take what taskstats sent and to look at
// the output's size.
const watchInterval = 100 * time.Millisecond

// await returns when the command's process has ended, which is left as a zombie.
func (r *Runner) await(ctx context.Context, spec Spec, tree *tree, pid int, out *outputs) (time.Time, stop, error) {
	ended := make(chan time.Time, 1)
	go func() {
		for errors.Is(unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
		}
		ended <- time.Now()
	}()
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	var timeout, giveUp <-chan time.Time
	if spec.Timeout > 0 {
		timeout = time.After(spec.Timeout)
	}
	var why stop
	cancelled := ctx.Done()
	for {
		over := false
		select {
		case at := <-ended:
			return at, why, nil
		case <-giveUp:
			return time.Time{}, why, fmt.Errorf("kill process %d: it has not ended after %s; it waits in the kernel",
				pid, killTimeout)
		case <-ticker.C:
			r.exits.drain()
			if why == (stop{}) && out.flooded() {
				why.flood, over = out.maxBytes, true
			}
		case <-timeout:
			if why == (stop{}) {
				why.timeout, over = spec.Timeout, true
			}
		case <-cancelled:
			cancelled = nil
			why.cancelled, over = ctx.Err(), true
		}
		if over {
			tree.kill(pid)
			giveUp = time.After(killTimeout)
		}
	}
}
