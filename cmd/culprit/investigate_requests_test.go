package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"culprit/internal/compare/units"
	"culprit/internal/explain"
	"culprit/internal/investigate"
)

// Of one service that runs the requests are told over all windows; of a case without its
// recordings, or that is not about requests, nothing is.
func TestRequestsOfACase(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, explain.Recordings), 0o700); err != nil {
		t.Fatal(err)
	}
	known := explain.Context{A: []string{"A-1.culprit", "A-2.culprit"}}
	for i, name := range known.A {
		madeService(t, filepath.Join(folder, explain.Recordings, name), time.Unix(1700000000+int64(i)*60, 0), 5)
	}
	if err := known.Save(folder); err != nil {
		t.Fatal(err)
	}
	told := func(c *investigate.Case) string {
		var out bytes.Buffer
		if err := tellRequests(world{stdout: &out}, c); err != nil {
			t.Error(err)
		}
		return strings.Join(strings.Fields(out.String()), " ")
	}
	c := &investigate.Case{Dir: folder, Per: units.PerRequest}
	if got := told(c); !strings.Contains(got, "120,000") || !strings.Contains(got, "1,000/s") {
		t.Errorf("of two windows: %q", got)
	}
	if sides, err := requestSides(folder, c); err != nil || len(sides) != 1 || len(sides[0].Recordings) != 2 {
		t.Errorf("the page gets %+v, %v", sides, err)
	}
	c.Per = units.PerSecond
	if got := told(c); got != "" {
		t.Errorf("per second: %q", got)
	}
	c.Per = units.PerRequest
	if err := os.RemoveAll(filepath.Join(folder, explain.Recordings)); err != nil {
		t.Fatal(err)
	}
	if got := told(c); got != "" {
		t.Errorf("without its recordings: %q", got)
	}
}
