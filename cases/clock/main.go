// Command clock repeats the investigation of the slow clock (Netflix Cassandra, CentOS to Ubuntu on
// Xen: time reads five times as dear, write latency up by a third, cured by the clock source tsc):
// a C and a Java program that read the time run under each clock source of this host, and the C
// program under tsc, hpet and acpi_pm in an emulated guest, where the effect is as large as it was
// then.
//
//	go run ./cases/clock
//	go run ./cases/clock -guests
//
// With -guests it is the hunt itself, with hosts: a small Java store under the same load in two
// emulated guests at the same time, one on tsc and one on acpi_pm. Each records it, the files are
// compared here, and the slow one flips its clock source. A third guest has a filter on system
// calls instead, which the published hunt had suspected first.
//
// It needs root for flipping the clock source, which is put back, and gcc, for guests
// qemu-system-x86_64, for the store a JDK with jlink. Exit status: 0 when the guests' verdicts are
// the known ones, 2 else.
package main

import (
	"cmp"
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
	"culprit/cases/guest/machine"
)

const sources = "/sys/devices/system/clocksource/clocksource0/available_clocksource"

// result is what is looked at of `culprit try --json`.
type result struct {
	Effects  []effect `json:"effects"`
	Restored bool     `json:"restored"`
}

// effect of a level, on a metric.
type effect struct {
	Metric  string  `json:"metric"`
	Level   string  `json:"level"`
	Against string  `json:"against"`
	Ratio   float64 `json:"ratio"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Verdict string  `json:"verdict"`
}

func main() {
	culprit := flag.String("bin", "bin/culprit", "the program to run")
	budget := flag.Duration("budget", 40*time.Second, "time for each experiment on this host")
	guests := flag.Bool("guests", false, "the hunt with hosts, each an emulated guest")
	kept := flag.String("out", "", "with -guests: a folder for what the hosts handed out")
	flag.Parse()
	child.Bind()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	repeat := func(culprit, folder string) error { return programs(ctx, culprit, folder, *budget) }
	if *guests {
		repeat = func(culprit, folder string) error {
			return hunt(ctx, culprit, folder, cmp.Or(*kept, filepath.Join(folder, "kept")), os.Stdout)
		}
	}
	err := run(*culprit, repeat)
	if ctx.Err() != nil {
		err = errors.New("interrupted; what it started is ended")
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "clock: %v\n", err)
		os.Exit(2)
	}
}

// run finds the program and repeats the investigation in a folder that is removed afterwards.
func run(culprit string, repeat func(culprit, folder string) error) error {
	culprit, err := filepath.Abs(culprit)
	if err != nil {
		return err
	}
	if _, err := os.Stat(culprit); err != nil {
		return fmt.Errorf("%w; `make build` makes it", err)
	}
	folder, err := os.MkdirTemp("", "culprit-clock-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // what stays in /tmp does no harm
	return repeat(culprit, folder)
}

// programs compares the clock sources with programs that read the time, here and in a guest.
func programs(ctx context.Context, culprit, folder string, budget time.Duration) error {
	if err := build(ctx, folder); err != nil {
		return err
	}
	if err := here(ctx, culprit, folder, budget); err != nil {
		return err
	}
	return inGuest(ctx, culprit, folder)
}

// build compiles the two programs; the C one also without libraries, for the guest.
func build(ctx context.Context, folder string) error {
	for _, words := range [][]string{
		{"gcc", "-O2", "-o", filepath.Join(folder, "readtime"), "cases/clock/programs/readtime.c"},
		{"gcc", "-O2", "-static", "-o", filepath.Join(folder, "readtime-static"), "cases/clock/programs/readtime.c"},
		{"javac", "-d", folder, "cases/clock/programs/ReadTime.java"},
	} {
		if text, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, text)
		}
	}
	return nil
}

// here compares the clock sources of this host.
func here(ctx context.Context, culprit, folder string, budget time.Duration) error {
	text, err := os.ReadFile(sources)
	if err != nil {
		return err
	}
	available := strings.Fields(string(text))
	if len(available) < 2 {
		fmt.Printf("this host offers one clock source only (%s): nothing to compare here\n", strings.Join(available, " "))
		return nil
	}
	for _, program := range []string{"./readtime 5000000", "java -Xshare:auto -cp . ReadTime 8000000"} {
		fmt.Printf("\nOn this host: %s\n\n", program)
		try := child.Command(ctx, culprit, "try", "--vary", "clocksource="+strings.Join(available, ","),
			"--metric", "cpu", "--budget", budget.String(), "--", program)
		try.Dir, try.Stdout, try.Stderr = folder, os.Stdout, os.Stderr
		if err := try.Run(); err != nil && try.ProcessState.ExitCode() != 1 {
			return fmt.Errorf("%s: %w", program, err)
		}
	}
	return nil
}

// guestScript prints what people read, then the document. acpi_pm and hpet are read by a slow
// access to a device.
const guestScript = `culprit try --vary clocksource=tsc,hpet,acpi_pm --metric cpu --budget 60s --trials 12 \
	--json /tmp/clock.json -- readtime 400000 2>/tmp/errors || tail -n 1 /tmp/errors | tr '\r' '\n' | tail -n 1
echo ---json---
cat /tmp/clock.json`

// inGuest compares the clock sources of an old host.
func inGuest(ctx context.Context, culprit, folder string) error {
	fmt.Printf("\nIn an emulated guest, with Debian's kernel: readtime 400000\n\n")
	guest, err := machine.New(ctx, folder, machine.AMD64)
	if err != nil {
		return err
	}
	readTime := filepath.Join(folder, "readtime-static")
	for from, to := range map[string]string{culprit: "bin/culprit", readTime: "bin/readtime"} {
		if err := guest.Add(from, to); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	text, err := guest.Run(ctx, guestScript)
	if err != nil {
		return err
	}
	report, document, _ := strings.Cut(text, "---json---\n")
	fmt.Print(report)
	return check(document)
}

// slower is how many times as dear a read by a device is at least: it was 5 on Xen, and is 9 to 11
// in such a guest on a quiet host.
const slower = 2

// check holds the verdicts against what is known: both devices are far slower than tsc.
func check(document string) error {
	var found result
	if err := json.Unmarshal([]byte(document), &found); err != nil {
		return fmt.Errorf("read the guest's result: %w", err)
	}
	if len(found.Effects) != 2 || !found.Restored {
		return fmt.Errorf("the guest's result has %d effects, settings restored: %v", len(found.Effects), found.Restored)
	}
	for _, effect := range found.Effects {
		if effect.Verdict != "worse" || effect.Low < slower {
			return fmt.Errorf("%s against %s: %s, %.2f× (%.2f× to %.2f×); known to be more than %d times as dear",
				effect.Level, effect.Against, effect.Verdict, effect.Ratio, effect.Low, effect.High, slower)
		}
	}
	fmt.Println("\nThe verdicts are the known ones: a clock that is a device costs several times as much as tsc.")
	return nil
}
