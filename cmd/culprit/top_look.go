package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"culprit/internal/record"
	"culprit/internal/top"
	"culprit/recording"
)

// looker records one window after another.
type looker struct {
	recorder *record.Recorder
	target   record.Target
	folder   string
	number   int
	interval time.Duration
	service  *record.Service    // nil: the target ends with its process
	restart  *recording.Restart // before the window that is open
	say      func(string)       // takes what is to be known while nothing is seen
	took     time.Duration      // of this process's CPU time, at the look before
	taken    time.Time          // when that was
}

// begin opens the next window, of a service that was restarted as soon as it is back; pause lets
// time go by until then, and says whether it is over.
func (l *looker) begin(ctx context.Context, pause func(time.Duration) (over bool)) (over bool, err error) {
	for {
		if over, err := l.find(pause); over || err != nil {
			return over, err
		}
		l.number++
		// The time may be over just now: the window is then a short one.
		err := l.recorder.Begin(context.WithoutCancel(ctx), l.target)
		if err == nil {
			l.target.Resume = true
			return false, nil
		}
		if l.service == nil || !errors.Is(err, record.ErrGone) {
			return false, fmt.Errorf("look at %s: %w", l.target, err)
		}
		if pause(awayPause) {
			return true, nil
		}
	}
}

// awayPause is between two tries to look at what ended just now.
const awayPause = 100 * time.Millisecond

// find has the next window be of the service as it is now.
func (l *looker) find(pause func(time.Duration) bool) (over bool, err error) {
	if l.service == nil || l.number == 0 || !l.service.Due() {
		return false, nil
	}
	for began, said := time.Now(), false; ; {
		found, restart, wait := l.service.Find()
		if found.Kind != "" {
			l.target.MoveTo(found)
			if restart != nil {
				l.restart = restart
			}
			return false, nil
		}
		if !said && time.Since(began) >= record.SaidAfter {
			said = true
			l.say(fmt.Sprintf("%s has ended and nothing came in its place yet: waiting", l.target.Name()))
		}
		if pause(wait) {
			return true, nil
		}
	}
}

// end closes the window and gives what it saw as a file.
func (l *looker) end(goesOn bool) (string, error) {
	path := filepath.Join(l.folder, fmt.Sprintf("%d.culprit", l.number))
	// An interrupt ends the window, not its writing.
	_, err := l.recorder.End(context.Background(), record.Finish{Path: path, Part: true, GoesOn: goesOn})
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", l.target, err)
	}
	return path, nil
}

// read makes a look of a window's file, which is then removed.
func (l *looker) read(path string, before *top.View) (*look, error) {
	rec, err := recording.Open(path)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil {
		return nil, fmt.Errorf("remove a window: %w", err)
	}
	view, err := top.Of(rec, before)
	if err != nil {
		return nil, err
	}
	view.Restart, l.restart = l.restart, nil
	found := &look{view: view, rec: rec, own: l.own(ownTime(), time.Now())}
	return found, nil
}

// own is what this process took of a CPU since the look before.
func (l *looker) own(took time.Duration, now time.Time) (cpus float64) {
	if passed := now.Sub(l.taken); passed > 0 {
		cpus = float64(took-l.took) / float64(passed)
	}
	l.took, l.taken = took, now
	return cpus
}

// isLast tells whether no more looks come: what is left of the time is too short for one.
func isLast(ctx context.Context) bool {
	end, limited := ctx.Deadline()
	return ctx.Err() != nil || limited && time.Until(end) < shortestLook
}

// keys are what a person types meanwhile; press does what one says, and tells whether that ends the
// waiting.
type keys struct {
	typed <-chan string // nil: nobody types; closed: nobody will
	press func(key string) (done bool)
}

// wait lets time go by until end (nil: for ever), or the service's process has ended, or a key
// ended it; over: no look comes after this one.
func (l *looker) wait(ctx context.Context, end <-chan time.Time, keys keys) (over bool) {
	alive, stop := l.alive()
	defer stop()
	for {
		select {
		case <-end:
			return isLast(ctx)
		case <-alive:
			if l.ended() {
				return isLast(ctx)
			}
		case <-l.recorder.Gone():
			return true
		case <-ctx.Done():
			return true
		case key, open := <-keys.typed:
			if !open {
				return true
			}
			if keys.press(key) {
				return false
			}
		}
	}
}

// waitFor is wait for a length of time.
func (l *looker) waitFor(ctx context.Context, length time.Duration, keys keys) (over bool) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	return l.wait(ctx, timer.C, keys)
}

// alive ticks when it is to be looked whether the service's process lives; never for what is none.
func (l *looker) alive() (<-chan time.Time, func()) {
	if l.service == nil {
		return nil, func() {}
	}
	ticker := time.NewTicker(record.RootEvery)
	return ticker.C, ticker.Stop
}

// ended tells that the service's process did so just now: the window is over, and the next is that
// of its successor.
func (l *looker) ended() bool { return l.service.Ended() }
