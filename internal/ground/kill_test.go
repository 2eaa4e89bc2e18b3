package ground

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"culprit/internal/knob"
)

const (
	usualKills = 20
	// killSpan is longer than one experiment takes here, so that every step is hit.
	killSpan = 500 * time.Millisecond
	// restoreLimit is what a host that is busy with everything else may take; the usual time is
	// logged.
	restoreLimit = 20 * time.Second
)

// Kill -9 at random moments: each time everything is as before by itself, without
// `culprit restore`: settings, throttle, mounts, loop devices, folders, cgroups and
// the command that was running. CULPRIT_KILLS says how many times.
func TestKilledAtRandomMoments(t *testing.T) {
	needsRoot(t)
	kills := usualKills
	if text := os.Getenv("CULPRIT_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatalf("CULPRIT_KILLS: %v", err)
		}
	}
	before := map[string]string{"vm.dirty_background_bytes": valueOf(t, "vm.dirty_background_bytes"),
		"vm.dirty_background_ratio": valueOf(t, "vm.dirty_background_ratio")}
	for _, level := range heldKnobs {
		before[level.Name] = valueOf(t, level.Name)
	}
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	var took []time.Duration
	for i := range kills {
		text := []string{"ext4@slow@size=64M", "ext4@ram@size=64M", "tmpfs@size=8M"}[i%3]
		after := time.Duration(random.Int64N(int64(killSpan)))
		took = append(took, killOnce(t, text, after, before))
		if t.Failed() {
			t.Fatalf("kill %d, %v after the start of %s", i+1, after, text)
		}
	}
	slices.Sort(took)
	t.Logf("%d kills: all was back after %v (median), %v (longest)", kills, took[len(took)/2], took[len(took)-1])
}

// killOnce starts an experiment, kills it, and says how long it took until all was as before.
func killOnce(t *testing.T, text string, after time.Duration, before map[string]string) time.Duration {
	t.Helper()
	state := newState(t)
	command := exec.Command("/proc/self/exe", ownerVerb, text)
	command.Env = append(os.Environ(), "CULPRIT_STATE="+state)
	var errors strings.Builder
	command.Stderr = &errors
	output, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	lines := bufio.NewReader(output)
	if _, err := lines.ReadString('\n'); err != nil {
		_ = command.Wait()
		t.Fatalf("the experiment did not begin: %s", errors.String())
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	time.Sleep(after)
	must(t, command.Process.Kill())
	killed := time.Now()
	_ = command.Wait()
	if errors.Len() > 0 {
		t.Fatalf("the experiment failed by itself: %s", errors.String())
	}
	var left []string
	for time.Since(killed) < restoreLimit {
		left = append(traces(t, state), leftOf(t, command.Process.Pid, before)...)
		left = append(left, childrenIn(state)...)
		if len(left) == 0 {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	took := time.Since(killed)
	if len(left) > 0 {
		t.Errorf("left after %v: %q", took, left)
	}
	// An entry may be left when the kill came before its guardian was there: nothing had been
	// changed by then.
	time.Sleep(50 * time.Millisecond)
	restored, err := knob.Restore(state)
	must(t, err)
	for _, each := range restored {
		if each.Action == knob.PutBack || each.Action == knob.Drifted {
			t.Errorf("left to `culprit restore`: %+v", each)
		}
	}
	return took
}

// childrenIn lists processes that work below a folder.
func childrenIn(folder string) []string {
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		return nil
	}
	var found []string
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, folder) {
			found = append(found, fmt.Sprintf("%s is in %s", link, target))
		}
	}
	return found
}
