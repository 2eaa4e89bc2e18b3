package recording

import (
	"fmt"
	"time"
)

// Watched is how requests were watched where that was in slices of time, to keep to a bound on the
// cost of recording. A request is in the tables where it began and ended within one slice; the
// numbers of the table requests are estimates of the whole, made of these.
type Watched struct {
	WatchedNs int64 `json:"watched_ns"` // parts of a recording in which it was all the time are in it
	OfNs      int64 `json:"of_ns"`
	Slices    int64 `json:"slices"`
	LongestNs int64 `json:"longest_ns"` // of the slices: what takes longer is in no table
	// Cut requests were in progress when a slice ended, the oldest for OldestNs: they are in no
	// table.
	Cut      int64 `json:"cut"`
	OldestNs int64 `json:"oldest_ns"`
}

// String says it in one sentence.
func (w *Watched) String() string {
	text := fmt.Sprintf("requests were watched %.2g %% of the time, in %d slices of up to %v: counts and rates are "+
		"estimates of the whole, and what takes longer than a slice is not in them", 100*w.Share(), w.Slices,
		time.Duration(w.LongestNs).Round(time.Millisecond))
	switch {
	case w.Cut == 1:
		text += fmt.Sprintf(" (1 was in progress when a slice ended, for %v)", roundAge(w.OldestNs))
	case w.Cut > 1:
		text += fmt.Sprintf(" (%d were in progress when a slice ended, the oldest for %v)", w.Cut, roundAge(w.OldestNs))
	}
	return text
}

func roundAge(ns int64) time.Duration {
	if age := time.Duration(ns); age >= time.Millisecond {
		return age.Round(100 * time.Microsecond)
	}
	return time.Duration(ns).Round(time.Microsecond)
}

// Share of the time that was watched.
func (w *Watched) Share() float64 {
	if w.OfNs <= 0 {
		return 0
	}
	return min(1, float64(w.WatchedNs)/float64(w.OfNs))
}

// joinWatched adds up how requests were watched in two parts, of which one may have watched all the
// time.
func joinWatched(whole, next Manifest) *Watched {
	if whole.Watched == nil && next.Watched == nil {
		return nil
	}
	sum := Watched{}
	for _, part := range []Manifest{whole, next} {
		w := part.Watched
		if w == nil {
			w = &Watched{WatchedNs: part.WindowNs, OfNs: part.WindowNs}
		}
		sum.WatchedNs += w.WatchedNs
		sum.OfNs += w.OfNs
		sum.Slices += w.Slices
		sum.Cut += w.Cut
		sum.OldestNs = max(sum.OldestNs, w.OldestNs)
		sum.LongestNs = max(sum.LongestNs, w.LongestNs)
	}
	return &sum
}
