package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"culprit/internal/compare/units"
	"culprit/internal/explain"
	"culprit/internal/investigate"
	"culprit/internal/report"
	"culprit/recording"
)

// requestSides reads again what the recordings of a case hold of requests: of A, and of B where
// there is one; none of a case that is not about requests.
func requestSides(folder string, c *investigate.Case) ([]report.RequestSide, error) {
	if c.Per != units.PerRequest {
		return nil, nil
	}
	known, err := explain.Load(folder)
	if err != nil {
		return nil, nil // of a case without a judgement there is nothing to show beside it
	}
	read := func(title string, names []string) (side report.RequestSide, err error) {
		side.Title = title
		for _, name := range names {
			path := filepath.Join(folder, explain.Recordings, filepath.Base(name))
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				continue // somebody has taken the recordings away, which are the largest part of a case
			}
			rec, err := recording.Open(path)
			if err != nil {
				return side, err
			}
			side.Recordings = append(side.Recordings, rec)
		}
		return side, nil
	}
	a, err := read(c.A.Command, known.A)
	if err != nil || c.B == nil {
		return []report.RequestSide{a}, err
	}
	b, err := read(c.B.Command, known.B)
	return []report.RequestSide{a, b}, err
}

// tellRequests prints what the requests of a service were, over all windows: of one side their time
// is an answer by itself, and holds what no wait of a thread shows.
func tellRequests(w world, c *investigate.Case) error {
	sides, err := requestSides(c.Dir, c)
	if err != nil || len(sides) != 1 || len(sides[0].Recordings) == 0 {
		return err
	}
	whole := *sides[0].Recordings[0]
	whole.Requests = append([]recording.Request{}, whole.Requests...)
	for _, window := range sides[0].Recordings[1:] {
		whole.Requests = append(whole.Requests, window.Requests...)
		whole.Manifest.WindowNs += window.Manifest.WindowNs
	}
	if len(whole.Requests) == 0 { // a load generator counted them
		return nil
	}
	return report.Requests(w.stdout, &whole, textOptions(w))
}
