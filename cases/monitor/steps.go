package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"culprit/cases/child"
)

// run runs culprit with a JSON document and reads it. An exit status of 1 is a verdict.
func (b *bench) run(ctx context.Context, into any, words ...string) error {
	path := filepath.Join(b.folder, "result.json")
	command := child.Command(ctx, b.culprit, append(words[:1:1], append([]string{"--json", path}, words[1:]...)...)...)
	command.Dir, command.Stdout, command.Stderr = b.folder, os.Stdout, os.Stderr
	if err := command.Run(); err != nil && command.ProcessState.ExitCode() != 1 {
		return fmt.Errorf("culprit %s: %w", words[0], err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// longEnough is how many requests keep the services busy while they are looked at.
const longEnough = 1_000_000

// settled is how long the daemon is given to open its events.
const settled = 2 * time.Second

// named has doctor look at the host while services and daemon run.
func (b *bench) named(ctx context.Context) error {
	daemon, err := b.daemon(mostServices)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	for _, text := range []string{b.services(mostServices, longEnough), daemon} {
		words := strings.Fields(text)
		command := child.Command(ctx, words[0], words[1:]...)
		command.Dir = b.folder
		if err := command.Start(); err != nil {
			stop()
			return err
		}
		defer func() { _ = command.Wait() }() // it is killed
	}
	defer stop()
	defer b.groups.kill() // the services are children of the one that is killed
	time.Sleep(settled)
	var found struct {
		Watching struct {
			Monitors []struct {
				Name, Scope   string
				Each, Targets int
				Costs         *struct {
					Switch struct{ Value, Low, High float64 } `json:"switch_ns"`
				}
			}
		}
	}
	if err := b.run(ctx, &found, "doctor"); err != nil {
		return err
	}
	for _, each := range found.Watching.Monitors {
		if each.Name == "perf" && each.Scope == "cgroup" && each.Costs != nil && each.Costs.Switch.Low > 0 {
			fmt.Printf("\nNamed: %s counts %d events of %d cgroups, and adds %.1f µs to each switch from one to another.\n",
				each.Name, each.Each, each.Targets, each.Costs.Switch.Value/1e3)
			return nil
		}
	}
	return errors.New("no monitor of cgroups with a price is among what doctor found")
}

// investigated compares the services alone with the services that the daemon counts.
func (b *bench) investigated(ctx context.Context) error {
	alone := b.services(mostServices, requests)
	daemon, err := b.daemon(mostServices)
	if err != nil {
		return err
	}
	var found struct{ Suspects []struct{ Cause string } }
	err = b.run(ctx, &found, "investigate", "--metric", "cpu", "--budget", b.budget.String(), "--case", "case",
		"--a", alone, "--b", daemon+" "+alone)
	if err != nil {
		return err
	}
	if len(found.Suspects) == 0 || found.Suspects[0].Cause != "monitor.attached" {
		return fmt.Errorf("the first suspect is to be monitor.attached; there are %v", found.Suspects)
	}
	return nil
}

// cost is what overhead says of a monitor.
type cost struct {
	Ratio, Low, High float64
	Verdict, Metric  string
}

// priced holds daemon and remedy against the budget, with more and more services that do the same
// work.
func (b *bench) priced(ctx context.Context) error {
	remedy, err := b.remedy()
	if err != nil {
		return err
	}
	var daemons []cost
	for _, count := range []int{1, 4, mostServices} {
		daemon, err := b.daemon(count)
		if err != nil {
			return err
		}
		var result struct{ Monitors []struct{ Effects []cost } }
		fmt.Printf("%d services:\n", count)
		err = b.run(ctx, &result, "overhead", "--budget", "3%", "--time", b.budget.String(), "--case",
			fmt.Sprintf("services-%d", count), "--monitor", daemon, "--monitor", remedy, "--",
			b.services(count, requests))
		if err != nil {
			return err
		}
		if len(result.Monitors) != 2 {
			return fmt.Errorf("%d monitors have a result, 2 were given", len(result.Monitors))
		}
		theirs, ours := ofCPU(result.Monitors[0].Effects), ofCPU(result.Monitors[1].Effects)
		if ours.Verdict == "over" {
			return fmt.Errorf("with %d services the remedy costs more than 3 %%: %+v", count, ours)
		}
		daemons = append(daemons, theirs)
	}
	first, last := daemons[0], daemons[len(daemons)-1]
	if last.Verdict != "over" {
		return fmt.Errorf("with %d services the daemon is known to cost more than 3 %%: %+v", mostServices, last)
	}
	if last.Ratio <= first.Ratio {
		return fmt.Errorf("with more services the daemon is known to cost more: %.3f times with 1, %.3f with %d",
			first.Ratio, last.Ratio, mostServices)
	}
	fmt.Printf("\nThe same work, threads and switches: the daemon makes the CPU time %.2f times as large with 1 service, "+
		"%.2f times with %d.\nBooked at the switch instead, the same events are not over the budget.\n", first.Ratio,
		last.Ratio, mostServices)
	return nil
}

func ofCPU(effects []cost) cost {
	for _, effect := range effects {
		if effect.Metric == "cpu" {
			return effect
		}
	}
	return cost{Verdict: "missing"}
}
