// Command monitor repeats the investigation of the monitor that cost 30 % (per-container counters through perf): the
// same software events counted per cgroup beside a ping-pong whose two ends sit in different cgroups, where every
// context switch changes the set of counters, and counted per CPU, where nothing changes; beside them strace and
// sampling. Each monitor is held against a budget of 3 %.
//
//	go run ./cases/monitor
//
// It needs root, cgroup 2, gcc, perf and strace. Exit status: 0 when counting per cgroup and strace are over the
// budget, as is known; 2 else.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"culprit/cases/child"
)

// events are software events, which every host has; twenty of them, as a resource daemon counts.
const events = "context-switches,cpu-migrations,page-faults,minor-faults,major-faults,task-clock,cpu-clock," +
	"alignment-faults,emulation-faults,dummy"

func main() {
	culprit := flag.String("bin", "bin/culprit", "the program to run")
	budget := flag.Duration("time", 90*time.Second, "time for the measurement")
	flag.Parse()
	child.Bind()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *culprit, *budget); err != nil {
		fmt.Fprintf(os.Stderr, "monitor: %v\n", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, culprit string, budget time.Duration) (err error) {
	culprit, err = filepath.Abs(culprit)
	if err != nil {
		return err
	}
	for _, program := range []string{culprit, "gcc", "perf", "strace"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w; culprit: `make build`; else apt-get install gcc linux-perf strace", err)
		}
	}
	folder, err := os.MkdirTemp("", "culprit-monitor-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // what stays in /tmp does no harm
	program := filepath.Join(folder, "pingpong")
	build := exec.CommandContext(ctx, "gcc", "-O2", "-o", program, "cases/monitor/programs/pingpong.c")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build pingpong: %w: %s", err, text)
	}
	groups, err := makeGroups()
	if err != nil {
		return err
	}
	remove, err := groups.guard()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	monitors := monitorsOf(groups)
	words := []string{"overhead", "--budget", "3%", "--time", budget.String(), "--case", "case", "--json", "result.json"}
	for _, monitor := range monitors {
		words = append(words, "--monitor", monitor.command)
	}
	words = append(words, "--", fmt.Sprintf("./pingpong 10000 %s %s", groups.path("a"), groups.path("b")))
	overhead := child.Command(ctx, culprit, words...)
	overhead.Dir, overhead.Stdout, overhead.Stderr = folder, os.Stdout, os.Stderr
	if err := overhead.Run(); err != nil && overhead.ProcessState.ExitCode() != 1 {
		return fmt.Errorf("culprit overhead: %w", err)
	}
	return check(filepath.Join(folder, "result.json"), monitors)
}

// monitor is one way to watch, and whether it is known to be over the budget.
type monitor struct {
	command string
	over    bool
}

func monitorsOf(g groups) []monitor {
	each := strings.Join([]string{g.relative("a"), g.relative("b")}, ",")
	return []monitor{
		{"perf stat -a -e " + events + "," + events + " --for-each-cgroup " + each, true},
		{"perf stat -a -e " + events + "," + events, false},
		{"perf record -o /dev/null -F 99 -a -g", false},
		{"strace -c -f -p {pid}", true},
	}
}

// groups are two cgroups side by side.
type groups struct{ mount, parent string }

// makeGroups finds where cgroup 2 is mounted and names them.
func makeGroups() (g groups, err error) {
	for _, mount := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(filepath.Join(mount, "cgroup.controllers")); err == nil {
			g.mount = mount
		}
	}
	if g.mount == "" {
		return g, errors.New("cgroup 2 is not mounted at /sys/fs/cgroup or /sys/fs/cgroup/unified")
	}
	g.parent = fmt.Sprintf("culprit-case-%d", os.Getpid())
	return g, nil
}

// guarding makes the cgroups, says so, and removes them when its input ends, once they are empty.
const guarding = `mkdir -p "$1" "$2" && echo made && read -r _
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	rmdir "$1" "$2" "$3" 2>/dev/null
	test -d "$3" || exit 0
	sleep 0.1
done
exit 1`

// guard has a shell make the cgroups, which outlives this program and removes them, also after a kill -9. The function
// that it returns does so at the end.
func (g groups) guard() (remove func() error, err error) {
	shell := exec.Command("sh", "-c", guarding, "sh", g.path("a"), g.path("b"), g.path(""))
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt from the terminal is not for it
	input, err := shell.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := shell.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var trouble bytes.Buffer
	shell.Stderr = &trouble
	if err := shell.Start(); err != nil {
		return nil, err
	}
	remove = func() error {
		_ = input.Close() // it fails only where it is closed
		if err := shell.Wait(); err != nil {
			return fmt.Errorf("remove cgroups %s: %w %s", g.path(""), err, trouble.String())
		}
		return nil
	}
	if line, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		return nil, errors.Join(fmt.Errorf("make cgroups: %q %w", line, err), remove())
	}
	return remove, nil
}

func (g groups) relative(name string) string { return filepath.Join(g.parent, name) }
func (g groups) path(name string) string     { return filepath.Join(g.mount, g.relative(name)) }

// check holds the verdicts against what is known.
func check(path string, monitors []monitor) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var result struct {
		Monitors []struct {
			Effects []struct{ Metric, Verdict string }
		}
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return err
	}
	if len(result.Monitors) != len(monitors) {
		return fmt.Errorf("%d monitors have a result, %d were given", len(result.Monitors), len(monitors))
	}
	for i, monitor := range monitors {
		verdict := "missing"
		for _, effect := range result.Monitors[i].Effects {
			if effect.Metric == "cpu" {
				verdict = effect.Verdict
			}
		}
		if monitor.over && verdict != "over" {
			return fmt.Errorf("%s is known to cost more than 3 %% of the CPU time; the verdict is %s", monitor.command, verdict)
		}
	}
	fmt.Println("\nThe verdicts are the known ones: counting per cgroup is paid at each switch that crosses cgroups; " +
		"counting per CPU is not.")
	return nil
}
