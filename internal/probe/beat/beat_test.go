package beat

import (
	"testing"
	"time"
)

// Whoever asks, and whenever, is given a moment on the beat, as far away as was asked but for half
// a beat. Short pauses get half beats.
func TestUntil(t *testing.T) {
	for past := range 250 {
		now := time.Unix(1_700_000_000, int64(past)*1_000_003)
		for _, pause := range []time.Duration{Length, 3 * Length / 2, time.Second, 10 * time.Second} {
			wait := until(now, pause)
			if off := now.Add(wait).UnixNano() % int64(Length); off != 0 {
				t.Errorf("%v from %v is %d ns off the beat", pause, now, off)
			}
			if wait < pause-Length/2 || wait > pause+Length/2 {
				t.Errorf("asked for %v, got %v", pause, wait)
			}
		}
		for _, pause := range []time.Duration{Length / 2, Length - 1} {
			wait := until(now, pause)
			if off := now.Add(wait).UnixNano() % int64(Length/2); off != 0 || wait < pause-Length/4 || wait > pause+Length/4 {
				t.Errorf("%v from %v became %v, %d ns off the half beat", pause, now, wait, off)
			}
		}
		if wait := until(now, Length/2-1); wait != Length/2-1 {
			t.Errorf("a pause shorter than half a beat became %v", wait)
		}
	}
}
