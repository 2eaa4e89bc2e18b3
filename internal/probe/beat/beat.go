// Package beat has what a process does from time to time fall on the same moments. Six rings, a
// poller and five watches that each sleep for themselves wake an idle process 200 times a second,
// and each time Go's runtime looks around for work and sets its monitor going: two thirds of the
// CPU time that recording two busy threads took. What waits for the same beat is done within one
// waking.
//
//	for {
//		select {
//		case <-beat.After(beat.Length):
//			…
//
// It keeps no list and starts nothing: whoever waits asks for the beat that is next. A slow one
// delays no other.
package beat

import "time"

// Length lies between two beats.
const Length = 100 * time.Millisecond

// Seldom lies between two looks of a recorder of the whole host at a buffer that is hardly used:
// each look is a waking of the process, and on a quiet host these are most of what it takes.
const Seldom = 5 * Length

// fullFrom is the part of a buffer, one in so many, that fills it: what comes until the next look
// must fit into the rest.
const fullFrom = 4

// Fills reports whether so much of a buffer of a size is used that the next look may not wait for
// long.
func Fills(used, size int) bool { return used >= size/fullFrom }

// Until says how long to wait for the beat that is nearest to pause from now, of pauses below
// Length for the half beat. What is not to wait for that either is left as it is.
func Until(pause time.Duration) time.Duration { return until(time.Now(), pause) }

func until(now time.Time, pause time.Duration) time.Duration {
	grid := Length
	if pause < grid {
		grid /= 2
	}
	if pause < grid {
		return pause
	}
	// By the clock on the wall, which everybody has: when it is set, the beats move with it, by
	// less than one length.
	past := time.Duration(now.UnixNano() % int64(grid))
	return (past+pause+grid/2)/grid*grid - past
}

// After is time.After at a beat.
func After(pause time.Duration) <-chan time.Time { return time.After(Until(pause)) }
