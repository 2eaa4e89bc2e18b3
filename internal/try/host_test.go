package try

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"culprit/internal/knob"
)

// harmless is a setting that nothing on a host waits for.
const harmless = "kernel.printk_ratelimit_burst"

func setting(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(harmless, ".", "/"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(content))
}

func needsRoot(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("flipping settings needs root: -short leaves it out")
	}
	if os.Geteuid() != 0 {
		t.Skip("flipping settings needs root")
	}
	t.Setenv("CULPRIT_STATE", filepath.Join(t.TempDir(), "state"))
}

func experimentOf(t *testing.T, command, metric string, vary ...string) Experiment {
	t.Helper()
	e := Experiment{Command: Command{Shell: command}, Budget: 30 * time.Second, Seed: 1, Trials: 12}
	chosen, err := ParseMetric(metric)
	if err != nil {
		t.Fatal(err)
	}
	e.Metrics = []Metric{chosen}
	for _, text := range vary {
		factor, err := ParseFactor(text)
		if err != nil {
			t.Fatal(err)
		}
		e.Factors = append(e.Factors, factor)
	}
	e, err = e.Settle()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func effectOf(t *testing.T, r *Result, level string) Effect {
	t.Helper()
	for _, effect := range r.Effects {
		if effect.Level == level {
			return effect
		}
	}
	t.Fatalf("no effect of %s in %+v", level, r.Effects)
	return Effect{}
}

// A setting, a variable, a word of the command and an attribute of its process reach the command,
// as the numbers show that it prints; and the host is afterwards as it was.
func TestExperimentOnThisHost(t *testing.T) {
	needsRoot(t)
	before := setting(t)
	e := experimentOf(t, `echo v=$(($(cat /proc/sys/kernel/printk_ratelimit_burst) * {n} * ${X:-1} * (10 + $(nice))))`,
		`v=(\d+)`, harmless+"="+before+",20"+before, "n=1,3", "env.X=,5", "nice=0,10")
	e.Design, e.Budget = One, 60*time.Second
	dir := filepath.Join(t.TempDir(), "case")
	result, err := Run(t.Context(), e, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for level, ratio := range map[string]float64{"3": 3, "5": 5, "10": 2} {
		if effect := effectOf(t, result, level); effect.Verdict != Worse || effect.Ratio < 0.999*ratio ||
			effect.Ratio > 1.001*ratio {
			t.Errorf("%+v, want %v", effect, ratio)
		}
	}
	if effect := effectOf(t, result, "20"+before); effect.Verdict != Worse {
		t.Errorf("%+v", effect)
	}
	if !result.Restored || len(result.Settings) != 1 || result.Settings[0].Original != before || setting(t) != before {
		t.Errorf("%v %+v, now %s", result.Restored, result.Settings, setting(t))
	}
	// Everything stands in the case directory, so that resuming it finds nothing left to do.
	again, err := Resume(t.Context(), Options{Dir: dir})
	if err != nil || len(again.Trials) != len(result.Trials) || again.Outcome != result.Outcome {
		t.Errorf("%v: %+v", err, again)
	}
}

// A rehearsal says what would be done and leaves no trace of itself.
func TestRehearsal(t *testing.T) {
	needsRoot(t)
	before := setting(t)
	state := os.Getenv("CULPRIT_STATE")
	e := experimentOf(t, "echo {n}", "wall", harmless+"="+before+",77", "n=1,2")
	r, err := Rehearse(e)
	if err != nil || len(r.Conditions) != 3 || len(r.Comparisons) != 2 || len(r.FirstBlock) != 3 || r.Needs < 6 ||
		r.Settings[0].Current != before || r.Conditions[2].Command != "echo 2" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := os.Stat(state); !os.IsNotExist(err) || setting(t) != before {
		t.Errorf("it leaves %s (%v), the setting is %s", state, err, setting(t))
	}
	for _, bad := range []string{"no_such_setting=1,2", "clocksource=tsc,sundial", "nice=0,99", "ground=ntfs,ext4"} {
		e := experimentOf(t, "true", "wall", bad)
		if r, err := Rehearse(e); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %v", bad, r, err)
		}
	}
}

// While one culprit holds the host another one refuses, before it has made anything.
func TestAnotherCulpritIsAtWork(t *testing.T) {
	needsRoot(t)
	e := experimentOf(t, "true", "wall", harmless+"="+setting(t)+",78")
	e.WashOut = new(time.Duration)
	release := holdHost(t)
	defer release()
	dir := filepath.Join(t.TempDir(), "case")
	if result, err := Run(t.Context(), e, Options{Dir: dir}); !errors.Is(err, knob.ErrBusy) {
		t.Errorf("%v, %+v", err, result)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("it leaves its case directory: %v", err)
	}
}

// A command that fails ends the experiment with its own last words; nothing stays changed, nothing
// is left behind.
func TestCommandThatFails(t *testing.T) {
	needsRoot(t)
	before := setting(t)
	e := experimentOf(t, "test $(cat /proc/sys/kernel/printk_ratelimit_burst) = "+before+
		" || { echo cannot >&2; exit 3; }", "wall", harmless+"="+before+",79")
	dir := filepath.Join(t.TempDir(), "case")
	_, err := Run(t.Context(), e, Options{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "cannot") || setting(t) != before {
		t.Errorf("%v, the setting is %s", err, setting(t))
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("it leaves its case directory: %v", err)
	}
}

// On a running service a level is kept for a period, and what a command prints is read in each.
func TestSwitchback(t *testing.T) {
	needsRoot(t)
	before := setting(t)
	e := Experiment{Service: &Service{Pid: os.Getpid(), Measure: "cat /proc/sys/kernel/printk_ratelimit_burst",
		Period: 100 * time.Millisecond, WashOut: 20 * time.Millisecond}, Budget: 20 * time.Second, Trials: 8, Seed: 1}
	factor, err := ParseFactor(harmless + "=100,200")
	if err != nil {
		t.Fatal(err)
	}
	e.Factors = []Factor{factor}
	if e, err = e.Settle(); err != nil {
		t.Fatal(err)
	}
	result, err := Run(t.Context(), e, Options{Dir: filepath.Join(t.TempDir(), "case")})
	if err != nil {
		t.Fatal(err)
	}
	if effect := effectOf(t, result, "200"); effect.Verdict != Worse || math.Abs(effect.Ratio-2) > 1e-9 {
		t.Errorf("%+v", effect)
	}
	for _, made := range result.Trials {
		if made.Metrics["cpu"] < 0 || made.Metrics["wall"] < 0.05 {
			t.Errorf("%+v", made)
		}
	}
	if setting(t) != before || !result.Restored {
		t.Errorf("the setting is %s, was %s", setting(t), before)
	}
}

// Beside a running service a monitor runs in its periods only, and what it uses stands beside what
// the service pays.
func TestMonitorBesideAService(t *testing.T) {
	busy := exec.Command("sh", "-c", "while :; do :; done")
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = busy.Process.Kill()
		_ = busy.Wait()
	}()
	service := &Service{Pid: busy.Process.Pid, Period: 100 * time.Millisecond, WashOut: -1}
	e, err := MonitorExperiment(NewCommand(nil), service,
		[]string{"tr '\\0' ' ' </proc/{pid}/cmdline; sleep 30"}, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	e.Budget, e.Trials, e.Seed, e.Smallest = 30*time.Second, 2, 1, UsualSmallest
	if e, err = e.Settle(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "case")
	result, err := Run(t.Context(), e, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	overhead := OverheadOf(result)
	if len(overhead.Monitors) != 1 || len(overhead.Monitors[0].Effects) != 1 ||
		overhead.Monitors[0].Effects[0].Metric != CPU.Name {
		t.Errorf("the costs are %+v", overhead.Monitors)
	}
	outputs, err := filepath.Glob(filepath.Join(dir, "runs", "*-monitor.txt"))
	if err != nil || len(outputs) < 2 {
		t.Fatalf("monitors wrote %v, %v", outputs, err)
	}
	for _, output := range outputs {
		if text, err := os.ReadFile(output); err != nil || !strings.Contains(string(text), "while :") {
			t.Errorf("the monitor saw %q, %v", text, err)
		}
	}
}

// Of a service that reads and writes the time for each call counts, for it may answer less beside a
// monitor; how little more would have been told is said where nothing is decided.
func TestMonitorBesideAServiceThatReadsAndWrites(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for seconds: -short leaves it out")
	}
	busy := exec.Command("dd", "if=/dev/zero", "of=/dev/null", "bs=64")
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = busy.Process.Kill()
		_ = busy.Wait()
	}()
	service := &Service{Pid: busy.Process.Pid, Period: 100 * time.Millisecond, WashOut: -1}
	e, err := MonitorExperiment(NewCommand(nil), service, []string{"sleep 30"}, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	e.Budget, e.Trials, e.Seed, e.Smallest = 30*time.Second, 2, 1, UsualSmallest
	if e, err = e.Settle(); err != nil {
		t.Fatal(err)
	}
	result, err := Run(t.Context(), e, Options{Dir: filepath.Join(t.TempDir(), "case")})
	if err != nil {
		t.Fatal(err)
	}
	cost := OverheadOf(result).Monitors[0]
	if len(cost.Effects) != 1 || cost.Effects[0].Metric != CPUPerCall.Name || !(cost.Effects[0].Ratio > 0) {
		t.Errorf("the cost is %+v", cost)
	}
	for _, condition := range result.Conditions {
		if each := condition.Metrics[CPUPerCall.Name].Median; !(each > 1e-8 && each < 1e-4) {
			t.Errorf("%s: %g s of CPU for each call", condition.Label, each)
		}
	}
}

func TestFindable(t *testing.T) {
	if got := findable(&Effect{Ratio: 1.14, Low: 0.95}, 0.03); math.Abs(got-0.236) > 1e-9 {
		t.Errorf("%g", got)
	}
	if got := findable(&Effect{Ratio: 1.17, Low: 1.05}, 0.03); got != 0 {
		t.Errorf("of too few blocks: %g", got)
	}
	if got := findable(&Effect{Ratio: math.NaN(), Low: math.NaN()}, 0.03); got != 0 {
		t.Errorf("of what is not known: %g", got)
	}
}

// A monitor sees the workload's own process, and what it uses is not the workload's.
func TestMonitorBesideTheWorkload(t *testing.T) {
	e, err := MonitorExperiment(NewCommand([]string{"sleep 0.05"}), nil,
		[]string{"tr '\\0' ' ' </proc/{pid}/cmdline; sleep 30"}, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	e.Budget, e.Trials, e.Seed, e.Smallest = 20*time.Second, 2, 1, UsualSmallest
	dir := filepath.Join(t.TempDir(), "case")
	result, err := Run(t.Context(), e, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	o := OverheadOf(result)
	if len(o.Monitors) != 1 || o.Outcome != Undecided || len(o.Monitors[0].Effects) != 2 || !(o.Monitors[0].OwnCPUS >= 0) {
		t.Errorf("%+v", o)
	}
	seen, err := filepath.Glob(filepath.Join(dir, "runs", "*-monitor.txt"))
	if err != nil || len(seen) != 3 { // the warm-up is one
		t.Fatalf("%v, %v", seen, err)
	}
	if text, err := os.ReadFile(seen[0]); err != nil || !strings.Contains(string(text), "sleep 0.05") {
		t.Errorf("the monitor saw %q, %v", text, err)
	}
	e.Factors[0].Levels[1].Value = "echo no permission >&2; exit 1"
	if _, err := Run(t.Context(), e, Options{Dir: filepath.Join(t.TempDir(), "x")}); err == nil ||
		!strings.Contains(err.Error(), "no permission") {
		t.Errorf("a monitor that fails: %v", err)
	}
}

// Killed with -9 in the middle, the setting goes back by itself, no trial is lost, and the
// experiment can go on.
func TestKilledAndResumed(t *testing.T) {
	needsRoot(t)
	before := setting(t)
	dir := filepath.Join(t.TempDir(), "case")
	run := exec.Command("/proc/self/exe", wordRun, dir)
	run.Stderr = os.Stderr
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	results := filepath.Join(dir, TrialsName)
	lines := func() int {
		content, _ := os.ReadFile(results) // it is not there at first
		return strings.Count(string(content), "\n")
	}
	waitFor(t, "five trials", func() bool { return lines() >= 5 && setting(t) != before })
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait() // killed
	waitFor(t, "the setting to go back", func() bool { return setting(t) == before })
	kept := lines()
	// What was being written when it was killed is no trial.
	file, err := os.OpenFile(results, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"order":99,"kind":"mea`); err != nil {
		t.Fatal(err)
	}
	file.Close()
	result, err := Resume(t.Context(), Options{Dir: dir, Budget: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Trials) <= kept || result.Trials[kept-1].Order != kept || result.Trials[kept].Order != kept+1 {
		t.Errorf("%d trials were kept, %d there are", kept, len(result.Trials))
	}
	if effect := effectOf(t, result, "1002"); math.Abs(effect.Ratio-1002.0/1001) > 1e-9 || effect.Verdict != Same {
		t.Errorf("%+v", effect)
	}
	if setting(t) != before || !result.Restored {
		t.Errorf("the setting is %s, was %s", setting(t), before)
	}
}

func waitFor(t *testing.T, what string, come func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !come(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited for %s in vain", what)
		}
	}
}

// A case directory that is damaged, or of another experiment, is refused in one line.
func TestDamagedCases(t *testing.T) {
	e := experimentOf(t, "echo {n}", "wall", "n=1,2")
	for want, damage := range map[string]func(dir string) error{
		"no experiment is there": func(dir string) error { return os.Remove(filepath.Join(dir, DesignName)) },
		"damaged": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, DesignName), []byte("{"), 0o644)
		},
		"another culprit": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, DesignName), []byte(`{"schema":"culprit.design/9"}`), 0o644)
		},
		"line 1 is no trial": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, TrialsName), []byte("x\n{}\n"), 0o644)
		},
		"belongs to another experiment": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, TrialsName), []byte(`{"condition":9}`+"\n"), 0o644)
		},
	} {
		dir := filepath.Join(t.TempDir(), "case")
		made, err := create(dir, e)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reopen(dir); err == nil || !strings.Contains(err.Error(), "works on this experiment") {
			t.Errorf("two culprits on one case: %v", err)
		}
		if err := errors.Join(made.close(), damage(dir)); err != nil {
			t.Fatal(err)
		}
		if j, err := reopen(dir); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, %v; want %q", j, err, want)
		}
	}
}
