package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/store"
)

// incompleteness fails where a question does not say what is missing.
func incompleteness(t *testing.T, s *store.Store, want string, names ...string) {
	t.Helper()
	for name, request := range questions() {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		answer, err := ask.Ask(t.Context(), s, request)
		said := ""
		if err != nil {
			said = err.Error()
		} else {
			said = strings.Join(answer.Incomplete, "; ")
		}
		if !strings.Contains(said, want) {
			t.Errorf("%s does not say %q: %s", name, want, said)
		}
	}
}

func waitForNone(t *testing.T, s *store.Store) {
	t.Helper()
	for range 1200 {
		asking := s.Asking()
		if _, err := asking.Services(t.Context()); err == nil && len(asking.Incomplete()) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("still incomplete: %v", s.Asking().Incomplete())
}

// A shard is killed while windows come, comes back, hangs, and loses its disk: every answer says
// so, nothing that was acknowledged is lost, nothing is counted twice.
func TestAShardThatIsDown(t *testing.T) {
	t.Parallel()
	servers, dsn := startServers(t, 2)
	all := fleetOf(t, 16, 12)
	directory := t.TempDir()
	duck := openStore(t, t.TempDir())
	takeAll(t, duck, all)
	want := answersOf(t, duck, directory)
	duck.Close()
	open := func() *store.Store {
		s, err := store.Open(t.Context(), directory, engineOf(t, dsn, directory), quiet)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	same := func(when string) {
		t.Helper()
		waitForNone(t, s)
		for name, got := range answersOf(t, s, directory) {
			if !sameButForRounding(withoutLook(want[name]), withoutLook(got)) {
				t.Errorf("%s, %s:\n%s\nwant\n%s", when, name, got, want[name])
			}
		}
	}

	go func() {
		time.Sleep(150 * time.Millisecond)
		servers[1].process.Process.Kill() // in the middle of the uploads
	}()
	takeAll(t, s, all)
	servers[1].kill()
	incompleteness(t, s, "shard 2 of 2")
	if known := takeAll(t, s, all[:20]); known != 20 {
		t.Errorf("%d of 20 were known", known)
	}
	// A restart of the hub in the meantime changes nothing.
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	incompleteness(t, s, "wait for shard 2", "bands", "top", "nothing")
	servers[1].start()
	servers[1].wait()
	same("after it came back")

	askWithAHangingShard(t, s, servers[1])

	servers[1].kill()
	for _, lost := range []string{"data", "metadata"} {
		if err := os.RemoveAll(filepath.Join(servers[1].directory, "data", lost)); err != nil {
			t.Fatal(err)
		}
	}
	servers[1].start()
	servers[1].wait()
	waitForNone(t, s)
	if filled, err := s.Fill(t.Context()); err != nil || filled == 0 {
		t.Errorf("filled %d, %v", filled, err)
	}
	same("after its disk was lost")
	s.Close()
}

// askWithAHangingShard freezes the process for the time of a question.
func askWithAHangingShard(t *testing.T, s *store.Store, frozen *server) {
	t.Helper()
	frozen.process.Process.Signal(syscall.SIGSTOP)
	defer frozen.process.Process.Signal(syscall.SIGCONT)
	start := time.Now()
	asking := s.Asking()
	services, err := asking.Services(t.Context())
	if err != nil || len(services) == 0 || !strings.Contains(strings.Join(asking.Incomplete(), ""), "shard 2 of 2") {
		t.Errorf("with a shard that hangs: %v %v, %v", services, asking.Incomplete(), err)
	}
	t.Logf("a shard that hangs was known after %s", time.Since(start))
}

// withoutLook leaves out the files of an answer: they are the same windows at another place.
func withoutLook(text string) string {
	var answer map[string]any
	if json.Unmarshal([]byte(text), &answer) != nil {
		return text
	}
	delete(answer, "look")
	out, _ := json.Marshal(answer)
	return string(out)
}
