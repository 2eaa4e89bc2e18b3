package cause

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// Every cause has an example, and a program that one names can be run.
func TestEveryCauseHasAnExample(t *testing.T) {
	for _, id := range IDs() {
		if recordOf(t, id).Example == "" {
			t.Errorf("%s has no example", id)
		}
	}
	program := regexp.MustCompile(`\b[a-z]+-[a-z]+-(?:c|cpp|go|java|node|php|python|rust|shell)\b|\bticker-c\b`)
	for _, id := range IDs() {
		for _, name := range program.FindAllString(recordOf(t, id).Example, -1) {
			if _, err := os.Stat(filepath.Join("../../lineup", name, "scenario.yaml")); err != nil {
				t.Errorf("the example of %s: %v", id, err)
			}
		}
	}
}
