package investigate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/knob"
	"culprit/internal/trial"
)

// proving is an investigation that has found something and goes on to the proof.
func proving(t *testing.T, a, b string, suspect cause.Suspect) *investigation {
	t.Helper()
	t.Setenv("CULPRIT_STATE", filepath.Join(t.TempDir(), "state"))
	o := plain(t, a, b)
	o.Prove, o.Metric, o.Budget = ProveAuto, MetricChoice{Name: trial.MetricWall}, 5*time.Minute
	o.Progress = func(string) {}
	inv := &investigation{options: o, started: time.Now(), took: map[string]time.Duration{},
		lengths: map[int]time.Duration{},
		plan:    trial.Plan{Seed: o.Seed, Sides: o.sides()}, facts: map[string]map[string]string{}}
	if err := inv.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(inv.close(), inv.clear()); err != nil {
			t.Error(err)
		}
	})
	inv.c.Outcome, inv.c.Metric = Worse, Metric{Name: trial.MetricWall, Unit: "s", Better: "lower"}
	inv.c.Effect = &cause.Effect{Ratio: 4, Low: 3.5, High: 4.5}
	inv.c.Suspects = []cause.Suspect{suspect}
	return inv
}

func claiming(id cause.ID, share float64) cause.Suspect {
	return cause.Suspect{Cause: id, Level: cause.Explains,
		Share: compare.Interval{Value: share, Low: share * 0.8, High: share}}
}

// A variable that changes the number is to blame. A tracer without which the number is the same is
// not; a variable like that decides nothing, because the same may be set elsewhere. The number is
// printed, so that the machine may be as busy as it likes.
func TestRestartProvesAndRefutes(t *testing.T) {
	for want, side := range map[string]struct {
		b  string
		id cause.ID
	}{
		provenVerdict:    {`GOGC=400 sh -c 'echo v=${GOGC:-100}'`, "runtime.gc"},
		undecidedVerdict: {`GOGC=200 sh -c 'echo v=400'`, "runtime.gc"},
		refutedVerdict:   {`strace -o /dev/null sh -c 'echo v=400'`, "syscall.traced"},
	} {
		inv := proving(t, `sh -c 'echo v=${GOGC:-100}'`, side.b, claiming(side.id, 0.9))
		var err error
		if inv.options.Metric, err = ParseMetric(`v=v=(\d+)`); err != nil {
			t.Fatal(err)
		}
		inv.c.Metric = inv.options.Metric.Of("v")
		if err := inv.prove(context.Background()); err != nil {
			t.Fatal(err)
		}
		suspect := inv.c.Suspects[0]
		level := want
		if want == undecidedVerdict {
			level = string(cause.Explains) // as it was
		}
		if suspect.Proof == nil || suspect.Proof.Verdict != want || string(suspect.Level) != level {
			t.Errorf("level %s, proof %+v; want %s; warnings %q", suspect.Level, suspect.Proof, want, inv.c.Warnings)
			continue
		}
		if !strings.HasPrefix(suspect.Proof.Knob, "restart") || suspect.Proof.Trials < 2*provePairs {
			t.Errorf("proof %+v: not named as a restart, or of too few trials", suspect.Proof)
		}
	}
}

// Without leave nothing is run; what cannot be flipped is passed over in silence.
func TestNoProofWithoutLeave(t *testing.T) {
	inv := proving(t, "true", "GOGC=5 true", claiming("runtime.gc", 0.9))
	inv.c.Suspects = append(inv.c.Suspects, claiming("code.grew", 0.5), claiming("cpu.throttled", 0.5))
	asked := 0
	inv.options.Prove, inv.options.Ask = ProveAsk, func(string) bool { asked++; return false }
	if err := inv.prove(context.Background()); err != nil {
		t.Fatal(err)
	}
	if asked != 1 || len(inv.runs) != 0 || len(inv.c.Warnings) != 1 {
		t.Errorf("asked %d times, %d runs, warnings %q; want one question and nothing done", asked, len(inv.runs),
			inv.c.Warnings)
	}
	if inv.c.Suspects[0].Knob == "" || inv.c.Suspects[1].Knob != "" {
		t.Errorf("the flip is not linked to its suspect: %+v", inv.c.Suspects)
	}
	inv.options.Prove = ProveNone
	if err := inv.prove(context.Background()); err != nil || asked != 1 || len(inv.runs) != 0 {
		t.Errorf("prove none: %v, asked %d times, %d runs", err, asked, len(inv.runs))
	}
}

// The threads of a running command are given all CPUs, at one of the two levels.
func TestTreeFlipWidensTheAffinity(t *testing.T) {
	inv := proving(t, "true", `taskset -p -c 0 $$ >/dev/null; sleep 0.3; grep Cpus_allowed_list /proc/$$/status`,
		claiming("cpu.confined", 0.9))
	inv.facts = map[string]map[string]string{sideA: {"target.affinity": "0-1"}, sideB: {"target.affinity": "0"}}
	suspect := inv.c.Suspects[0]
	planned, err := inv.planFlip(&suspect)
	if errors.Is(err, errNoFlip) && inv.allCPUs() == "0" {
		t.Skip("one CPU only: no affinity is narrower")
	}
	if err != nil || planned.tree == nil || planned.exact {
		t.Fatalf("%+v, %v: want an affinity that cannot refute", planned, err)
	}
	for pair, level := range []string{planned.from, planned.to} {
		if err := inv.flipped(context.Background(), nil, planned, level, pair); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(inv.dir, inv.runs[pair].Stdout))
		if err != nil || !strings.HasSuffix(strings.TrimSpace(string(text)), "\t"+level) {
			t.Errorf("at level %s: %q, %v", level, text, err)
		}
	}
}

// threadsVerb makes the test's program one of several threads, which tells on how many CPUs it was
// at its begin and at its end.
const threadsVerb = "test-threads"

func tellCPUs() {
	var set unix.CPUSet
	for end := time.Now().Add(2 * time.Second); set.Count() != 1 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		_ = unix.SchedGetaffinity(0, &set) // all its threads have the same
	}
	fmt.Println(runtime.NumCPU(), set.Count())
}

// For a price threads are held on one CPU when they are there: a program starts as many as it has
// CPUs.
func TestTreeFlipWaitsForThreads(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	inv := proving(t, "true", self+" "+threadsVerb, claiming("line.false-sharing", 0.9))
	if inv.allCPUs() == "0" {
		t.Skip("one CPU only: nothing is narrower")
	}
	planned := flip{what: "affinity", from: inv.allCPUs(), to: "0", prices: true,
		tree: &treeFlip{level: knob.Level{Name: "affinity", Value: "0"}}}
	if err := inv.flipped(context.Background(), nil, planned, planned.to, 0); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(inv.dir, inv.runs[0].Stdout))
	if want := fmt.Sprint(runtime.NumCPU(), " 1"); err != nil || strings.TrimSpace(string(text)) != want {
		t.Errorf("CPUs at the begin and the end: %q, %v; want %q", text, err, want)
	}
}

// A flip that the commands undo proves nothing: it is refused where the recordings tell, else as
// soon as a trial does.
func TestNoProofByWhatCommandsSetThemselves(t *testing.T) {
	refused := func(facts map[string]map[string]string, want string) {
		t.Helper()
		inv := proving(t, "true", "true", claiming("clock.slow-source", 0.9))
		inv.facts = facts
		if err := inv.settledByCommands("clocksource"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", facts, err, want)
		}
	}
	refused(map[string]map[string]string{sideA: {"clocksource.current": "tsc"},
		sideB: {"clocksource.current": "hpet"}}, "themselves (tsc on side A, hpet on side B)")
	refused(map[string]map[string]string{sideA: {"clocksource.current": "tsc"},
		sideB: {"clocksource.current": "tsc", "clocksource.seen": "tsc hpet"}}, "while the command ran (tsc, hpet)")

	root := t.TempDir()
	folder := filepath.Join(root, "sys/devices/system/clocksource/clocksource0")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	current := filepath.Join(folder, "current_clocksource")
	for path, value := range map[string]string{current: "hpet\n",
		filepath.Join(folder, "available_clocksource"): "tsc hpet acpi_pm\n"} {
		if err := os.WriteFile(path, []byte(value), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	inv := proving(t, "true", "echo acpi_pm > "+current, claiming("clock.slow-source", 0.9))
	source := knob.ClockSource(root)
	planned := flip{what: "clocksource", from: "hpet", to: "tsc", exact: true, knob: &source, pairs: provePairs}
	if err := inv.flip(context.Background(), planned, &inv.c.Suspects[0]); err != nil {
		t.Fatal(err)
	}
	if inv.c.Suspects[0].Proof != nil || len(inv.runs) != 1 {
		t.Errorf("proof %+v after %d trials: want none, given up after the first", inv.c.Suspects[0].Proof, len(inv.runs))
	}
	said := strings.Join(inv.c.Warnings, "\n")
	if !strings.Contains(said, "not put to the proof") || !strings.Contains(said, "acpi_pm after it") {
		t.Errorf("warnings %q: none says what the command did", said)
	}
}
