package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"culprit/recording"
)

// A file system that does not answer who opens a program costs the stacks of that program, not
// those of others, and of that one until it answers.
func TestFileSystemThatDoesNotAnswer(t *testing.T) {
	recorder := start(t, Options{WholeHost: true, Hz: 499})
	folder := t.TempDir()
	shell, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	run := func(name string) int32 {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, shell, 0o700); err != nil {
			t.Fatal(err)
		}
		return int32(running(t, path, "-c", "while :; do :; done").pid())
	}
	stuck := run("stuck")
	answer := leaveUnanswered(t, filepath.Join(folder, "stuck"))
	if err := recorder.Begin(t.Context(), Target{Kind: "host"}); err != nil {
		t.Fatal(err)
	}
	free := run("free")
	time.Sleep(2 * time.Second)
	answer()
	time.Sleep(2 * time.Second)
	got := endWindow(t, recorder)
	for pid, least := range map[int32]float64{free: 0.8, stuck: 0.2} {
		all, whole := int64(0), int64(0)
		for _, sample := range got.Samples {
			if sample.Pid != pid || sample.Signal != recording.SignalCPU {
				continue
			}
			all += sample.Count
			if stack := got.StackFrames(sample.Stack); len(stack) > 0 {
				if _, broken := stack[0].Broken(); !broken {
					whole += sample.Count
				}
			}
		}
		if all < 200 || float64(whole) < least*float64(all) {
			t.Errorf("process %d (stuck is %d): %d of %d samples have whole stacks; losses %+v", pid, stuck, whole, all,
				got.Manifest.Losses)
		}
	}
	for _, loss := range got.Manifest.Losses {
		if strings.Contains(loss.What, "did not answer in time") {
			return
		}
	}
	t.Errorf("nobody says that a file system did not answer: %+v", got.Manifest.Losses)
}

// leaveUnanswered has every process that opens a file wait, until the answer is given.
func leaveUnanswered(t *testing.T, path string) (answer func()) {
	t.Helper()
	group, err := unix.FanotifyInit(unix.FAN_CLASS_CONTENT|unix.FAN_CLOEXEC, unix.O_RDONLY)
	if err != nil {
		t.Skipf("this kernel asks nobody who opens a file: %v", err)
	}
	answer = func() { // all may go on once nobody can answer any more
		if group >= 0 {
			_ = unix.Close(group) // nothing was written to it
			group = -1
		}
	}
	t.Cleanup(answer)
	if err := unix.FanotifyMark(group, unix.FAN_MARK_ADD, unix.FAN_OPEN_PERM, unix.AT_FDCWD, path); err != nil {
		t.Skipf("this kernel asks nobody who opens a file: %v", err)
	}
	return answer
}
