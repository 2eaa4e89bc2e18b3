package investigate

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"culprit/internal/record"
	"culprit/internal/trial"
)

// runs starts a command of the shell that runs on, and names it.
func runs(t *testing.T, text string) record.Target {
	t.Helper()
	service := exec.Command("/bin/sh", "-c", text)
	service.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-service.Process.Pid, syscall.SIGKILL) // it may have ended
		_ = service.Wait()
	})
	target, _, err := record.ParseTarget("pid:" + strconv.Itoa(service.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// Of two services that run already the one that uses more CPU time each second is the worse one.
func TestTwoServicesThatRun(t *testing.T) {
	t.Parallel() // it watches most of the time
	if testing.Short() {
		t.Skip("watches processes for seconds: -short leaves it out")
	}
	o := plain(t, "", "")
	o.Target = runs(t, "while :; do for i in 1 2 3 4 5 6 7 8; do cd .; done; sleep 0.02; done")
	o.TargetB = runs(t, "while :; do i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; sleep 0.02; done")
	o.Budget = 20 * time.Second
	c, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	if len(c.Metrics) > 1 && c.Metrics[0].Metric.Name != trial.MetricCPU {
		at = 1
	}
	if c.Per != "second" || c.Metrics[at].Outcome != Worse || c.Metrics[at].MedianA >= c.Metrics[at].MedianB {
		t.Errorf("per %s: %+v", c.Per, c.Metrics)
	}
}

// A process that ends while it is watched ends the investigation with one clear line.
func TestServiceThatEnds(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("watches processes for seconds: -short leaves it out")
	}
	o := plain(t, "", "")
	o.Budget = 30 * time.Second
	o.Target = runs(t, "while :; do cd .; done")
	o.TargetB = runs(t, "timeout 3 sh -c 'while :; do cd .; done'; exit")
	_, err := Run(context.Background(), o)
	if err == nil || !strings.Contains(err.Error(), "ended while it was watched, as B") {
		t.Errorf("%v", err)
	}
}

func TestBadSides(t *testing.T) {
	target := runs(t, "sleep 60")
	for want, change := range map[string]func(*Options){
		"in common":          func(o *Options) { o.TargetB = target },
		"nothing is flipped": func(o *Options) { o.Prove = ProveAuto },
	} {
		o := plain(t, "", "")
		o.Target = target
		change(&o)
		if _, err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A cgroup whose process gave way to another one is found again, which is said; too often is too
// often, and an interrupt ends the waiting for it.
func TestServiceIsFoundAgain(t *testing.T) {
	folder := t.TempDir()
	next := func() record.Target {
		target := runs(t, "sleep 60")
		text := strconv.Itoa(target.Pid) + "\n"
		if err := os.WriteFile(filepath.Join(folder, "cgroup.procs"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return target
	}
	first := next()
	side := newLiveSide(record.Target{Kind: "cgroup", Cgroup: folder, Named: "cgroup:" + folder}, ", as A")
	inv := &investigation{c: &Case{}}
	if err := inv.findSide(t.Context(), side); err != nil || len(inv.c.Warnings) != 0 || side.is.Pid != first.Pid {
		t.Errorf("nothing has happened: %v, %v, %+v", err, inv.c.Warnings, side)
	}
	for restart := range mostRestarts {
		target := next()
		if err := inv.findSide(t.Context(), side); err != nil || len(inv.c.Warnings) != restart+1 ||
			side.is.Pid != target.Pid {
			t.Fatalf("%v, %v, %+v", err, inv.c.Warnings, side)
		}
	}
	next()
	if err := inv.findSide(t.Context(), side); err == nil || !strings.Contains(err.Error(), "was restarted 4 times") {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(filepath.Join(folder, "cgroup.procs"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	over, end := context.WithCancel(t.Context())
	end()
	if err := inv.findSide(over, side); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("%v", err)
	}
}
