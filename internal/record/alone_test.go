package record

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"culprit/recording"
)

// aloneRuns is how many processes of a millisecond are started. At 5 samples a second hardly any
// has one.
const aloneRuns = 200

// A recorder that is always there leaves processes alone that come and go without a stack: nobody
// looks at them, they are counted, and their CPU time is there. One of them that runs on has whole
// stacks.
func TestShortLivedAreLeftAlone(t *testing.T) {
	needs(t)
	recorder, err := Start(t.Context(), Options{WholeHost: true, Light: true, Forever: true, Hz: 5})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(recorder.Close)
	busy := running(t, "/bin/sh", "-c", "i=0; while :; do i=$((i+1)); done")
	if err := recorder.Begin(t.Context(), Target{Kind: "host"}); err != nil {
		t.Fatal(err)
	}
	for range aloneRuns {
		if err := exec.Command("true").Run(); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(1500 * time.Millisecond) // the shell is looked at within a second after its first stack
	got := endWindow(t, recorder)
	came := 0
	for _, process := range got.Processes {
		if process.Comm == "true" && process.StartNs > 0 && process.EndNs > 0 && process.CPUNs > 0 {
			came++
		}
	}
	if came != aloneRuns {
		t.Errorf("%d processes came and went, %d ran", came, aloneRuns)
	}
	var told recording.BlindSpot
	for _, spot := range got.Manifest.BlindSpots {
		if spot.Kind == recording.BlindShort {
			told = spot
		}
	}
	if told.Count < aloneRuns*8/10 || told.Of < told.Count || !strings.Contains(told.String(), "came and went") {
		t.Errorf("told: %v", told)
	}
	// Others work on this host, and what they run for long is looked at. Announced at exec, all
	// were.
	if looks := got.Manifest.Cost.Looks; looks == 0 || looks > told.Count/2 {
		t.Errorf("%d looks, where %d of %d processes came and went without a stack", looks, told.Count,
			len(got.Processes))
	}
	for deadline := time.Now().Add(20 * time.Second); !got.hasWhole(busy.pid()); got = endWindow(t, recorder) {
		if time.Now().After(deadline) { // a busy host may give it a stack a second
			t.Fatal("the shell that runs on has no whole stack")
		}
		if err := recorder.Begin(t.Context(), Target{Kind: "host"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
	}
}

// hasWhole tells whether a stack of a process reaches its root.
func (s seen) hasWhole(pid int) bool {
	return slices.ContainsFunc(s.Samples, func(sample recording.Sample) bool {
		stack := s.StackFrames(sample.Stack)
		if int(sample.Pid) != pid || len(stack) == 0 {
			return false
		}
		_, broken := stack[0].Broken()
		return !broken
	})
}

// What came and went without a stack is counted; what stayed, or has a stack, is not among it, nor
// are its programs looked up.
func TestShortLivedAreTold(t *testing.T) {
	rec := &recording.Recording{Processes: []recording.Process{
		{Pid: 1, Command: "/bin/stays"}, {Pid: 2, StartNs: 5, Command: "/bin/stayed"},
		{Pid: 3, EndNs: 9, Command: "/bin/ended"}, {Pid: 4, StartNs: 5, EndNs: 9, Command: "/bin/seen"},
		{Pid: 5, StartNs: 5, EndNs: 9, Command: "/bin/unseen"}, {Pid: 6, StartNs: 6, EndNs: 9, Command: "/bin/seen"}},
		Samples: []recording.Sample{{Pid: 4, Stack: 0}, {Pid: 5, Stack: recording.NoStack}}}
	spots := shortSpots(rec)
	if len(spots) != 1 || spots[0].Count != 2 || spots[0].Of != 3 {
		t.Errorf("told: %v", spots)
	}
	all := []string{"/bin/stays", "/bin/stayed", "/bin/ended", "/bin/seen"}
	if got := commandsOf(rec, true); !slices.Equal(got, all) {
		t.Errorf("of a light window: %v", got)
	}
	if got := commandsOf(rec, false); !slices.Equal(got, append(all, "/bin/unseen")) {
		t.Errorf("of another: %v", got)
	}
	rec.Processes = rec.Processes[:4]
	if spots := shortSpots(rec); spots != nil {
		t.Errorf("told where nobody was left alone: %v", spots)
	}
}
