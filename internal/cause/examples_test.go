package cause

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// Every cause has an example, none is of a cause that is not, and a program that one names can be run.
func TestEveryCauseHasAnExample(t *testing.T) {
	for _, id := range IDs() {
		if Example(id) == "" {
			t.Errorf("%s has no example", id)
		}
	}
	program := regexp.MustCompile(`\b[a-z]+-[a-z]+-(?:c|cpp|go|java|node|php|python|rust|shell)\b|\bticker-c\b`)
	for id, text := range examples {
		if !slices.Contains(IDs(), id) {
			t.Errorf("an example of %s, which is no cause", id)
		}
		for _, name := range program.FindAllString(text, -1) {
			if _, err := os.Stat(filepath.Join("../../lineup", name, "scenario.yaml")); err != nil {
				t.Errorf("the example of %s: %v", id, err)
			}
		}
	}
}
