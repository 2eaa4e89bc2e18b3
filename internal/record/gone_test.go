package record

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A process that is named by its id ends the recording when it has ended with all that it started,
// and not before.
func TestEndsWithTheProcess(t *testing.T) {
	recorder := standing.get(t)
	// The child lives on for longer than the time between two looks; both are started within the
	// window.
	command := exec.Command("sh", "-c", "read go; sleep 2.5 & exit 0")
	release, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	run := &Run{Recorder: recorder, Target: Target{Kind: "pid", Pid: command.Process.Pid},
		Path: filepath.Join(t.TempDir(), "a.culprit"), Duration: 2 * time.Minute}
	if err := run.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := release.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := run.Watch(t.Context()); err != nil {
		t.Fatal(err)
	}
	summary, err := run.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !summary.Ended || summary.WindowNs < int64(2500*time.Millisecond) || summary.WindowNs > int64(run.Duration) {
		t.Errorf("ended: %v after %v; its child slept for 2.5 s", summary.Ended, time.Duration(summary.WindowNs))
	}
}
