package requests

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"culprit/internal/probe/beat"
	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// Where watching all the time costs more than it may, requests are watched in slices of time. In
// between the programs are detached: two thirds of what they cost is that they are entered. Time is
// divided into periods of the same length, and in each one a slice lies at random, so that what
// comes at regular times is neither always met nor never.
const (
	sliceWatched = 500 * time.Millisecond
	mostWatched  = 4 * time.Second
	// cutMuch: slices become longer where so large a part of the requests was in progress when one
	// ended.
	cutMuch = 0.1
)

// sliced is the state of a watch that goes by slices.
type sliced struct {
	on         bool
	fromNs     int64   // of the slice that is watched
	periodNs   int64   // where the stretch that it stands for began
	lengthsNs  []int64 // of the slices that are over
	cutAll     int64   // requests that were in progress when one ended
	cutNow     int     // those of the last one
	oldestNs   int64
	number     atomic.Int64 // of the slice that is watched; 0: none is
	last       int64        // the number of the slice before
	watchedNs  atomic.Int64 // in slices that are over
	watchingNs atomic.Int64 // since when the slice is watched
}

// SetShare has requests watched for a share of the time from the next window on; 0 and 1: all of
// it.
func (s *Session) SetShare(share float64) {
	s.share = share
	if s.isSliced() && s.going {
		s.Detach() // sockets are followed on from window to window only where that is all the time
	}
}

func (s *Session) isSliced() bool { return s.share > 0 && s.share < 1 }

// Watching tells the number of the slice that is watched now, 0 where none is, and how much of the
// window was watched. It may be asked while a window is open.
func (s *Session) Watching() (slice int64, watched time.Duration) {
	w := s.watch
	if w == nil {
		return 0, 0
	}
	slice, watched = w.number.Load(), time.Duration(w.watchedNs.Load())
	if slice > 0 {
		watched += time.Duration(bpf.Now() - w.watchingNs.Load())
	}
	return slice, watched
}

// runSliced watches slice by slice until it is stopped, within a slice or between two.
func (w *watch) runSliced() {
	defer close(w.ended)
	length, periodNs := sliceWatched, w.beganNs
	w.begins(periodNs)
	for w.watchFor(length) {
		period := time.Duration(float64(length) / w.session.share)
		toNs := bpf.Now()
		nextNs := max(periodNs+int64(period), toNs)
		if w.failed = errors.Join(w.failed, w.endSlice(toNs, nextNs)); w.failed != nil {
			return
		}
		if w.cutTooMuch() {
			length = min(2*length, mostWatched)
			period = time.Duration(float64(length) / w.session.share)
		}
		periodNs = nextNs
		at := periodNs + int64(rand.Float64()*float64(period-length))
		select {
		case <-w.done:
			return
		case <-time.After(time.Duration(at - bpf.Now())):
		}
		if w.failed = errors.Join(w.failed, w.session.follow(), w.session.findSockets(),
			bpf.Begins(w.session.collection)); w.failed != nil {
			return
		}
		w.begins(periodNs)
	}
}

// begins notes that a slice is watched from now on.
func (w *watch) begins(periodNs int64) {
	w.on, w.fromNs, w.periodNs = true, bpf.Now(), periodNs
	w.watchingNs.Store(w.fromNs)
	w.last++
	w.number.Store(w.last)
}

// watchFor lets so much of a slice go by; false when the window has ended meanwhile, or something
// failed.
func (w *watch) watchFor(length time.Duration) bool {
	until := w.fromNs + int64(length)
	for {
		left := time.Duration(until - bpf.Now())
		if left <= 0 {
			return true
		}
		select {
		case <-w.done:
			return false
		case <-time.After(min(left, beat.Until(beat.Length))):
		}
		if _, err := w.session.sweep(); err != nil {
			w.failed = errors.Join(w.failed, err)
			return false
		}
		if w.failed = errors.Join(w.failed, w.look(w.fromNs, bpf.Now(), false)); w.failed != nil {
			return false
		}
	}
}

// endSlice takes what was counted, for the time up to the next period, and detaches the programs.
func (w *watch) endSlice(toNs, nextNs int64) error {
	s := w.session
	open, err := s.stopCounting()
	bpf.CloseLinks(s.links)
	s.links = nil
	if err != nil {
		return err
	}
	for i := range open {
		w.cutAll++
		w.oldestNs = max(w.oldestNs, toNs-int64(open[i].Begin))
	}
	w.cutNow = len(open)
	return w.sliceIsOver(toNs, nextNs)
}

func (w *watch) sliceIsOver(toNs, nextNs int64) error {
	kinds, err := w.session.tallies()
	if err != nil {
		return err
	}
	w.number.Store(0)
	w.on = false
	w.cutSlice(slice{fromNs: w.periodNs, toNs: nextNs, atNs: w.fromNs, watchedNs: toNs - w.fromNs}, kinds)
	w.lengthsNs = append(w.lengthsNs, toNs-w.fromNs)
	w.watchedNs.Add(toNs - w.fromNs)
	if len(w.slices) >= maxSlices {
		w.slices = pairwise(w.slices)
	}
	return nil
}

// cutTooMuch tells that slices are short for these requests.
func (w *watch) cutTooMuch() bool {
	if len(w.slices) == 0 {
		return false
	}
	ended := int64(0)
	for _, kind := range w.slices[len(w.slices)-1].kinds {
		if !kind.asks {
			ended += kind.count
		}
	}
	return float64(w.cutNow) > cutMuch*float64(ended)
}

// estimator says in the manifest how requests were watched, and returns what the counts stand for;
// nil where they were all the time.
func (s *Session) estimator(window *bpf.Window) *estimator {
	if !s.isSliced() || s.watch == nil {
		return nil
	}
	w := s.watch
	told := &recording.Watched{OfNs: window.EndNs - window.StartNs, Slices: int64(len(w.lengthsNs)), Cut: w.cutAll,
		OldestNs: w.oldestNs}
	for _, ns := range w.lengthsNs {
		told.WatchedNs += ns
		told.LongestNs = max(told.LongestNs, ns)
	}
	window.Recording.Manifest.Watched = told
	return newEstimator(told.OfNs, w.lengthsNs)
}
