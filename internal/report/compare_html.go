package report

import (
	"bytes"
	"fmt"
)

// ComparisonHTML writes a comparison as the same page that an investigation gets: verdict,
// suspects, differences and the differential flame graph, where orange is more in B, blue less,
// grey undecided, and what only A has is hatched. Requests are those of A and B, where recordings
// have some.
func ComparisonHTML(path string, c *Comparison, requests ...RequestSide) error {
	shown := c.asCase()
	words := verdictOf(shown)
	words.Headline, words.Detail, words.Next = c.headline(), c.detail(), c.seen()
	words.Cost = []string{"Recording cost is measured by culprit investigate, not by comparing recordings"}
	data, err := scripts(shown, words, requestPageOf(requests...), nil)
	if err != nil {
		return err
	}
	var fallback bytes.Buffer
	if err := ComparisonText(&fallback, c, TextOptions{}); err != nil {
		return err
	}
	text, err := fill(data, fallback.String())
	if err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return writePage(path, text)
}
