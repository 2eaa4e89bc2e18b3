package explain

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"culprit/internal/compare"
	"culprit/recording"
)

// blindSpots are those of all recordings, each once, and what the comparison could not see.
func blindSpots(recordings []*recording.Recording, result *compare.Result) []string {
	list := []string{}
	note := func(text string) {
		if !slices.Contains(list, text) && !strings.HasPrefix(text, "lost: ") {
			list = append(list, text)
		}
	}
	broken := brokenStacks{why: map[string]int{}}
	for _, rec := range recordings {
		for _, spot := range rec.Manifest.BlindSpots {
			if !broken.add(spot) {
				note(spot)
			}
		}
	}
	if broken.recordings > 0 {
		note(broken.String())
	}
	for _, spot := range result.Unseen {
		if !strings.HasPrefix(spot, "probe ") { // the recordings themselves say why a probe was off
			note(spot)
		}
	}
	return list
}

// brokenStacks adds up what the recordings say of stacks without a root, which each says with
// numbers of its own.
type brokenStacks struct {
	broken, all, recordings int
	why                     map[string]int
	reasons                 []string // in the order in which they were met
}

var (
	brokenSpot   = regexp.MustCompile(`^(\d{1,9}) of (\d{1,9}) stacks could not be followed to their root: (.+)$`)
	brokenReason = regexp.MustCompile(`^(.+) (\d{1,9})$`)
)

// add takes a blind spot of that kind; any other, or one that another version wrote in other words,
// it leaves alone.
func (s *brokenStacks) add(spot string) bool {
	parts := brokenSpot.FindStringSubmatch(spot)
	if parts == nil {
		return false
	}
	counts := map[string]int{}
	var order []string
	for _, text := range strings.Split(parts[3], ", ") {
		reason := brokenReason.FindStringSubmatch(text)
		if reason == nil {
			return false
		}
		n, _ := strconv.Atoi(reason[2]) // at most nine digits
		counts[reason[1]] += n
		order = append(order, reason[1])
	}
	for _, reason := range order {
		if s.why[reason] == 0 && counts[reason] > 0 {
			s.reasons = append(s.reasons, reason)
		}
		s.why[reason] += counts[reason]
		counts[reason] = 0
	}
	broken, _ := strconv.Atoi(parts[1])
	all, _ := strconv.Atoi(parts[2])
	s.broken, s.all, s.recordings = s.broken+broken, s.all+all, s.recordings+1
	return true
}

func (s *brokenStacks) String() string {
	slices.SortStableFunc(s.reasons, func(x, y string) int { return s.why[y] - s.why[x] })
	parts := make([]string, len(s.reasons))
	for i, reason := range s.reasons {
		parts[i] = fmt.Sprintf("%s %d", reason, s.why[reason])
	}
	text := fmt.Sprintf("%d of %d stacks could not be followed to their root: %s", s.broken, s.all,
		strings.Join(parts, ", "))
	if s.recordings > 1 {
		text = fmt.Sprintf("in %d recordings %s", s.recordings, text)
	}
	return text
}
