package record

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"culprit/recording"
)

// A recorder's threads are named, whatever it records: what they take from requests is its cost,
// and no competitor's.
func TestRecordersAreNamed(t *testing.T) {
	for name, options := range map[string]Options{"command": {}, "requests": {Requests: true}} {
		t.Run(name, func(t *testing.T) {
			recorder := start(t, options)
			threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", recorder.Pid()))
			if err != nil || len(threads) == 0 {
				t.Fatalf("%d threads, %v", len(threads), err)
			}
			for _, file := range threads {
				comm, err := os.ReadFile(file)
				if err != nil {
					continue // it has ended
				}
				if got := strings.TrimSpace(string(comm)); got != recording.RecorderComm {
					t.Errorf("%s: a thread is called %q, want %s", file, got, recording.RecorderComm)
				}
			}
		})
	}
}
