package record

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"culprit/recording"
)

// portVerb has this program serve HTTP on a port.
const portVerb = "serve-port"

// servePort answers each request after some work.
func servePort(port string) error {
	return http.ListenAndServe("127.0.0.1:"+port, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for began := time.Now(); time.Since(began) < 2*time.Millisecond; {
		}
		fmt.Fprint(w, "ok")
	}))
}

// serveOn starts a server and waits until it answers.
func serveOn(t *testing.T, port int) *exec.Cmd {
	t.Helper()
	server := exec.Command("/proc/self/exe", portVerb, strconv.Itoa(port))
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(server) })
	for deadline := time.Now().Add(time.Minute); !answers(port); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("nobody answers on port %d", port)
		}
	}
	return server
}

func kill(server *exec.Cmd) {
	if server.ProcessState == nil {
		_ = server.Process.Kill() // it may have ended
		_ = server.Wait()
	}
}

// answers asks once, over a connection of its own.
func answers(port int) bool {
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	reply, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/", port))
	if err != nil {
		return false
	}
	defer reply.Body.Close()
	_, err = io.Copy(io.Discard, reply.Body)
	return err == nil
}

// watched is a service that is recorded until it is told to end.
type watched struct {
	run  *Run
	end  chan struct{}
	said chan string
	over chan error
}

// watchService records a service, and takes down what is said.
func watchService(t *testing.T, target Target) *watched {
	t.Helper()
	w := &watched{end: make(chan struct{}), said: make(chan string, 100), over: make(chan error, 1)}
	w.run = &Run{Recorder: standing.get(t), Target: target, Path: filepath.Join(t.TempDir(), "a.culprit"),
		Duration: 2 * time.Minute, Ended: w.end, Say: func(text string) { w.said <- text }}
	if err := w.run.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	go func() { w.over <- w.run.Watch(context.Background()) }()
	return w
}

// hears waits until something is said that has these words, doing something meanwhile.
func (w *watched) hears(t *testing.T, words string, meanwhile func()) string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		select {
		case text := <-w.said:
			if strings.Contains(text, words) {
				return text
			}
		case err := <-w.over:
			t.Fatalf("the recording is over: %v", err)
		case <-time.After(10 * time.Millisecond):
			meanwhile()
		}
	}
	t.Fatalf("nobody said %q", words)
	return ""
}

// finish ends the recording and reads it.
func (w *watched) finish(t *testing.T) (*Summary, *recording.Recording) {
	t.Helper()
	close(w.end)
	if err := <-w.over; err != nil {
		t.Fatal(err)
	}
	summary, err := w.run.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rec, err := recording.Open(w.run.Path)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Dir(w.run.Path)); err != nil || len(left) != 1 {
		t.Errorf("beside the recording lie %v (%v)", left, err)
	}
	return summary, rec
}

func nothing() {}

// usedBy is what a process used in a recording, in seconds.
func usedBy(rec *recording.Recording, pid int) (used float64) {
	for _, process := range rec.Processes {
		if int(process.Pid) == pid {
			used += float64(process.CPUNs) / 1e9
		}
	}
	return used
}

// checkRestart fails unless a recording holds work of both processes, and says when one came in the
// place of the other.
func checkRestart(t *testing.T, rec *recording.Recording, summary *Summary, before, after int) {
	t.Helper()
	restarts := rec.Manifest.Restarts
	if len(restarts) != 1 || restarts[0].Pid != before || restarts[0].NewPid != after || restarts[0].AwayNs <= 0 ||
		restarts[0].TimeNs <= 0 || restarts[0].TimeNs >= rec.Manifest.WindowNs {
		t.Errorf("restarts %+v of %d and %d in %v", restarts, before, after, time.Duration(rec.Manifest.WindowNs))
	}
	for _, pid := range []int{before, after} {
		if usedBy(rec, pid) <= 0 {
			t.Errorf("process %d used no CPU time: %+v", pid, rec.Processes)
		}
	}
	gaps := slices.ContainsFunc(rec.Manifest.Gaps, func(gap recording.Gap) bool {
		return gap.Why == "the service was restarted" && gap.LengthNs > 0
	})
	spots := slices.ContainsFunc(rec.Manifest.BlindSpots, func(spot recording.BlindSpot) bool {
		return spot.Kind == recording.BlindRestart
	})
	if !gaps || !spots || summary.Ended || !slices.Equal(summary.Restarts, restarts) {
		t.Errorf("gaps %+v, blind spots %+v, summary %+v", rec.Manifest.Gaps, rec.Manifest.BlindSpots, summary)
	}
}

// A server that is killed and started again on its port is recorded on, and the recording says so.
func TestRestartOnThePort(t *testing.T) {
	needs(t)
	port := freePort(t)
	server := serveOn(t, port)
	target, _, err := ParseTarget(fmt.Sprintf("port:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	w := watchService(t, target)
	ask := func() { answers(port) }
	ask()
	kill(server)
	next := serveOn(t, port)
	w.hears(t, fmt.Sprintf("process %d was followed", next.Process.Pid), nothing)
	for range 5 {
		ask()
	}
	summary, rec := w.finish(t)
	checkRestart(t, rec, summary, server.Process.Pid, next.Process.Pid)
}

// The processes of a cgroup that are followed by others are those of a unit that was restarted.
func TestRestartInACgroup(t *testing.T) {
	needs(t)
	folder := t.TempDir()
	holds := func(pids ...int) {
		text := ""
		for _, pid := range pids {
			text += strconv.Itoa(pid) + "\n"
		}
		if err := os.WriteFile(filepath.Join(folder, "cgroup.procs"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	port := freePort(t)
	server := serveOn(t, port)
	holds(server.Process.Pid)
	w := watchService(t, Target{Kind: "cgroup", Cgroup: folder})
	answers(port)
	holds()
	kill(server)
	w.hears(t, "none came in its place yet", nothing)
	next := serveOn(t, port)
	holds(next.Process.Pid)
	w.hears(t, "was restarted", nothing)
	for range 5 {
		answers(port)
	}
	summary, rec := w.finish(t)
	checkRestart(t, rec, summary, server.Process.Pid, next.Process.Pid)
}

// A service that does not come back leaves what was recorded of it.
func TestServiceThatDoesNotComeBack(t *testing.T) {
	needs(t)
	port := freePort(t)
	server := serveOn(t, port)
	target, _, err := ParseTarget(fmt.Sprintf("port:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	w := watchService(t, target)
	answers(port)
	kill(server)
	w.hears(t, "none came in its place yet: waiting for up to", nothing)
	summary, rec := w.finish(t)
	restarts := rec.Manifest.Restarts
	if !summary.Ended || len(restarts) != 1 || restarts[0].Pid != server.Process.Pid || restarts[0].NewPid != 0 {
		t.Errorf("%+v, %+v", summary, restarts)
	}
	if usedBy(rec, server.Process.Pid) <= 0 {
		t.Errorf("%+v", rec.Processes)
	}
}

// Who comes into a cgroup beside those that are there joins them once it stays; in the place of the
// first it is the service from then on.
func TestHeirsOfACgroup(t *testing.T) {
	folder := t.TempDir()
	sleeper := func() (*exec.Cmd, int) {
		command := exec.Command("sleep", "60")
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { kill(command) })
		return command, command.Process.Pid
	}
	first, a := sleeper()
	_, b := sleeper()
	text := fmt.Sprintf("%d\n%d\n", a, b)
	if err := os.WriteFile(filepath.Join(folder, "cgroup.procs"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	target := Target{Kind: "cgroup", Cgroup: folder}
	r := &Run{Target: target, parts: &Parts{target: target}}
	r.service = &service{root: processAt(a)}
	for look, want := range []bool{false, true} {
		if next, joined := r.heirOfCgroup([]int{a}); next.root.Pid != 0 || joined != want {
			t.Errorf("look %d: %+v, %v", look, next, joined)
		}
	}
	if next, joined := r.heirOfCgroup([]int{a, b}); next.root.Pid != 0 || joined {
		t.Errorf("followed: %+v, %v", next, joined)
	}
	kill(first)
	if next, _ := r.heirOfCgroup([]int{b}); next.root.Pid != 0 || r.service.rootEnded.IsZero() {
		t.Errorf("one that is followed is nobody's heir: %+v", next)
	}
	if next, _ := r.heirOfCgroup(nil); next.root.Pid != b {
		t.Errorf("%+v, want %d", next, b)
	}
}
