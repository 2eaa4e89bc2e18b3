package explain

import (
	"culprit/internal/compare"
	"culprit/recording"
)

// blindSpots are those of all recordings, each once, and what the comparison could not see. What
// they count is added up.
func blindSpots(recordings []*recording.Recording, result *compare.Result) []recording.BlindSpot {
	list := []recording.BlindSpot{}
	for _, rec := range recordings {
		for _, spot := range rec.Manifest.BlindSpots {
			if spot.Kind == recording.BlindLost { // told as a loss
				continue
			}
			if spot.Count > 0 {
				spot.Recordings = max(1, spot.Recordings)
			}
			list = recording.AddBlindSpots(list, spot)
		}
	}
	for _, spot := range result.Unseen {
		if spot.Kind != recording.BlindProbe { // the recordings themselves say why a probe was off
			list = recording.AddBlindSpots(list, spot)
		}
	}
	return list
}
