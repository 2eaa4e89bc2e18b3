package investigate

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"culprit/internal/record"
	"culprit/internal/stat"
	"culprit/internal/trial"
)

// A process that runs already: what it spends its CPU time on is listed, out of windows.
func TestServiceIsListed(t *testing.T) {
	t.Parallel() // it watches most of the time
	if testing.Short() {
		t.Skip("recording needs root: -short leaves it out")
	}
	if err := record.Permitted(); err != nil {
		if os.Geteuid() == 0 {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	service := exec.Command("/bin/sh", "-c", "while :; do cd .; done")
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = service.Process.Kill() // it does not end by itself
		_ = service.Wait()
	}()
	o := plain(t, "", "")
	o.Target = record.Target{Kind: "pid", Pid: service.Process.Pid}
	o.Budget = 20 * time.Second // a busy host takes some of it to load the recorder
	c, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if c.Outcome != Listed || c.A.Trials != serviceWindows || !(c.A.Median > 0) || len(c.Items) == 0 {
		t.Errorf("outcome %s, %d windows, median %g, %d items", c.Outcome, c.A.Trials, c.A.Median, len(c.Items))
	}
	got := stat.Middle(trial.Values(c.Trials, c.Metric.Name, sideA))
	if len(c.Trials) != serviceWindows || got != c.A.Median {
		t.Errorf("%d trials listed with a median of %g, want the %d windows with %g", len(c.Trials), got, serviceWindows,
			c.A.Median)
	}
}

func TestBadTargets(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"no process":   func(o *Options) { o.Target = record.Target{Kind: "pid", Pid: 1 << 30} },
		"is no cgroup": func(o *Options) { o.Target = record.Target{Kind: "cgroup", Cgroup: "/tmp"} },
		"not both":     func(o *Options) { o.A, o.Target = "true", record.Target{Kind: "pid", Pid: 1} },
		"only --metric": func(o *Options) {
			printed := trial.Printed{Name: "rate"}
			o.Metric, o.Target = MetricChoice{Name: "rate", Printed: &printed}, record.Target{Kind: "pid", Pid: 1}
		},
	} {
		o := plain(t, "", "")
		change(&o)
		if _, err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
