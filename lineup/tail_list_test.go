package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Each service of the tail can be read, and says what is planted.
func TestTailsAreListed(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("tail", "*", scenarioFile))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d services, %v", len(files), err)
	}
	var out strings.Builder
	if err := listTails(&out, files); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "  truth: "); got != len(files) {
		t.Errorf("%d truths of %d services", got, len(files))
	}
	if !strings.Contains(out.String(), "truth: nothing") || strings.Contains(out.String(), "truth:  at") {
		t.Errorf("listed:\n%s", &out)
	}
}
