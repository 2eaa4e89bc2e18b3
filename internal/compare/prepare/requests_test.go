package prepare

import (
	"testing"

	"culprit/recording"
)

// A part has the requests of the slices that lie in it, where these are enough to tell; and the
// restarts within it.
func TestPartOfRequests(t *testing.T) {
	rec := &recording.Recording{Manifest: recording.Manifest{WindowNs: 30e9, Target: recording.Target{Kind: "pid"}}}
	for second := range int64(30) {
		rec.Requests = append(rec.Requests, recording.Request{TimeNs: second * 1e9, LengthNs: 1e9, Count: 1 + second})
	}
	rec.Manifest.AddRestarts(recording.Restart{TimeNs: 3e9, Pid: 1, NewPid: 2}, recording.Restart{TimeNs: 12e9, Pid: 2})
	part, err := Cut(rec, 10.2e9, 20.2e9)
	if err != nil || len(part.Requests) != 10 || part.Requests[0].Count != 11 || part.Requests[0].TimeNs != 0 ||
		part.Requests[9].TimeNs != 8.8e9 {
		t.Fatalf("%+v, %v", part.Requests, err)
	}
	if restarts := part.Manifest.Restarts; len(restarts) != 1 || restarts[0].TimeNs != 1.8e9 || restarts[0].Pid != 2 {
		t.Errorf("%+v", restarts)
	}
	told := 0
	for _, spot := range part.Manifest.BlindSpots {
		if spot.Kind == recording.BlindRestart {
			told += int(spot.Count)
		}
	}
	if told != 1 {
		t.Errorf("%+v", part.Manifest.BlindSpots)
	}
	if part, err = Cut(rec, 10e9, 13e9); err != nil || part.Requests != nil {
		t.Errorf("of three slices: %+v, %v", part.Requests, err)
	}
}
