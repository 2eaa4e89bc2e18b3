package record

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"culprit/recording"
)

// partsOwner starts the owner of a recording in parts and waits until two of them are written.
func partsOwner(t *testing.T, path string) (owner *exec.Cmd, recorder int, said *bufio.Reader) {
	t.Helper()
	owner = exec.Command("/proc/self/exe", ownerVerb, path)
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = owner.Process.Kill() // it may have ended
		_ = owner.Wait()
	})
	for until := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(path+PartsSuffix, "0002.culprit")); err == nil {
			break
		}
		if time.Now().After(until) {
			t.Fatal("no part was written")
		}
	}
	children := tree(owner.Process.Pid)[1:]
	if len(children) != 1 {
		t.Fatalf("the owner's children are %v", children)
	}
	return owner, children[0], bufio.NewReader(out)
}

// Whoever is killed: nothing stays attached, and what was recorded so far is made whole.
func TestSalvage(t *testing.T) {
	needs(t)
	for _, test := range []struct {
		killed          string
		owner, recorder bool
	}{{"owner", true, false}, {"recorder", false, true}, {"both", true, true}} {
		t.Run(test.killed, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.culprit")
			owner, pid, said := partsOwner(t, path)
			ids, perfEvents := idsOf(t, pid)
			if len(ids["prog_id"]) < 10 || len(ids["map_id"]) < 10 || perfEvents == 0 {
				t.Fatalf("the recorder holds %v and %d perf events: the test does not see them", ids, perfEvents)
			}
			recorder, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(recorder)
			if test.recorder {
				if err := unix.PidfdSendSignal(recorder, unix.SIGKILL, nil, 0); err != nil {
					t.Fatal(err)
				}
			}
			if test.owner {
				if err := owner.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			} else if line, err := said.ReadString('\n'); err != nil || !strings.Contains(line, "signal: killed") ||
				!strings.Contains(line, "--salvage "+path+PartsSuffix) {
				t.Errorf("the owner says %q (%v)", line, err)
			}
			ended := []unix.PollFd{{Fd: int32(recorder), Events: unix.POLLIN}}
			if n, err := pollUntil(ended, time.Now().Add(30*time.Second)); n != 1 || err != nil {
				t.Fatalf("the recorder goes on (%d, %v)", n, err)
			}
			ids.freed(t)
			salvaged(t, path)
		})
	}
}

// Parts to which a recorder still adds are left alone; the last one of a recorder whose owner was
// killed is waited for.
func TestSalvageAtOnce(t *testing.T) {
	needs(t)
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.culprit")
	owner, pid, _ := partsOwner(t, path)
	recorder, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(recorder)
	if _, err := takeParts(path+PartsSuffix, 0); !errors.Is(err, errWritten) {
		t.Errorf("parts of a recording that goes on are taken (%v)", err)
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	before, err := filepath.Glob(path + PartsSuffix + "/*.culprit")
	if err != nil {
		t.Fatal(err)
	}
	parts, err := Salvage(path+PartsSuffix, path)
	if err != nil || parts < len(before) {
		t.Errorf("%d parts, of %d and more (%v)", parts, len(before), err)
	}
	ended := []unix.PollFd{{Fd: int32(recorder), Events: unix.POLLIN}}
	if n, err := pollUntil(ended, time.Now().Add(30*time.Second)); n != 1 || err != nil {
		t.Fatalf("the recorder goes on (%d, %v)", n, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("beside the recording lie %v (%v)", left, err)
	}
}

// salvaged makes the parts whole; every part is in it, and nothing stays beside it.
func salvaged(t *testing.T, path string) {
	t.Helper()
	if err := NoParts(path); err == nil || !strings.Contains(err.Error(), "--salvage") {
		t.Errorf("a new recording of that name: %v", err)
	}
	files, err := filepath.Glob(path + PartsSuffix + "/*.culprit")
	if err != nil || len(files) < 2 {
		t.Fatalf("parts %v (%v)", files, err)
	}
	var sum amounts
	for _, file := range files {
		part, err := recording.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		sum.add(amountsOf(part))
	}
	parts, err := Salvage(path+PartsSuffix, path)
	if err != nil || parts != len(files) {
		t.Fatalf("%d parts of %d (%v)", parts, len(files), err)
	}
	rec, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := amountsOf(rec); got != sum || got.calls == 0 {
		t.Errorf("the parts have %+v, the whole %+v", sum, got)
	}
	spots := strings.Join(recording.Words(rec.Manifest.BlindSpots), "\n")
	if !strings.Contains(spots, "the recording was killed") {
		t.Errorf("blind spots %q", spots)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("beside the recording lie %v (%v)", left, err)
	}
}

// A folder that cannot be written to, or is gone, ends a long recording with one line, and keeps
// what was written.
func TestPartsThatCannotBeWritten(t *testing.T) {
	recorder := standing.get(t)
	path := filepath.Join(t.TempDir(), "folder", "x.culprit")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	run := &Run{Recorder: recorder, Path: path, Duration: time.Minute, every: 100 * time.Millisecond,
		Target: Target{Kind: "pid", Pid: os.Getpid()}}
	if err := run.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	err := run.Watch(t.Context())
	if err == nil || !strings.Contains(err.Error(), path+PartsSuffix) || strings.Contains(err.Error(), "\n") {
		t.Errorf("the folder is gone: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("it made the folder again")
	}
	// The recorder is as good as before.
	if summary, err := recorder.End(t.Context(), Finish{Drop: true}); err != nil || summary.WindowNs <= 0 {
		t.Errorf("the window is closed with %+v, %v", summary, err)
	}
	if seen := watchCommand(t, recorder, "true"); len(seen.Processes) == 0 {
		t.Error("nothing is recorded after it")
	}
}
