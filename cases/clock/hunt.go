package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"culprit/cases/child"
	"culprit/cases/guest/machine"
)

// host is one of the hunt's: guests that differ from the quick one in one thing.
type host struct {
	name  string
	clock string // its clock source, from its boot on
	start string // what the service is started with
	flips bool   // in the end its clock source is flipped there
}

var (
	quick  = host{name: "quick", clock: "tsc"}
	slow   = host{name: "slow", clock: "acpi_pm", flips: true}
	fenced = host{name: "fenced", clock: "tsc", start: "fence " + strconv.Itoa(filters) + " "}
)

const (
	filters    = 12  // on the system calls of the fenced service, a thousand rules each
	recordings = 3   // of each host, as many as give an interval that is of use
	memory     = 900 // megabytes of a guest, its root among them

	// A guest takes 2 to 4 minutes where it has a CPU of its own.
	bootLimit = 20 * time.Minute
)

// hunt repeats the investigation with hosts: the same store under the same load on two at the same
// time, each records it, and what differs is told from the files alone. Then again, with a filter
// on system calls in the place of the slow clock.
func hunt(ctx context.Context, culprit, folder, kept string, out io.Writer) error {
	image, err := newImage(ctx, culprit, filepath.Join(folder, "image"))
	if err != nil {
		return err
	}
	var wrong error
	for _, round := range []struct {
		a, b  host
		cause string
	}{{quick, slow, "clock.slow-source"}, {quick, fenced, "syscall.traced"}} {
		fmt.Fprintf(out, "\nTwo hosts at the same time: %s and %s\n\n", round.a, round.b)
		taken := filepath.Join(kept, "with-"+round.b.name)
		found, err := together(ctx, image, []host{round.a, round.b}, folder, taken)
		if err != nil {
			return err
		}
		suspect, err := compare(ctx, culprit, taken, round.a, round.b, out)
		if err != nil {
			return err
		}
		if suspect != round.cause {
			wrong = errors.Join(wrong, fmt.Errorf("with the host %s the first suspect is %q, known to be %s", round.b.name,
				suspect, round.cause))
		}
		if round.b.flips {
			wrong = errors.Join(wrong, flipped(ctx, culprit, taken, found, out))
		}
	}
	return wrong
}

// flipped prints the proof that a host made, and the figures of both beside the published ones.
func flipped(ctx context.Context, culprit, taken string, told map[string]measured, out io.Writer) error {
	fmt.Fprintf(out, "\nOn the host %s, under the running service:\n\n%s", slow.name, told[slow.name].tried)
	f := figures{quick: told[quick.name], slow: told[slow.name]}
	var err error
	if f.proof, err = readProof(filepath.Join(taken, slow.name)); err != nil {
		return err
	}
	if f.shares, err = clockShares(ctx, culprit, taken); err != nil {
		return err
	}
	if f.quickRead, err = readCost(filepath.Join(taken, quick.name)); err != nil {
		return err
	}
	if f.slowRead, err = readCost(filepath.Join(taken, slow.name)); err != nil {
		return err
	}
	f.table(out)
	return f.proof.check()
}

// String says what is known of a host.
func (h host) String() string {
	text := h.name + " (clock source " + h.clock
	if h.start != "" {
		text += ", the service behind " + strconv.Itoa(filters) + " filters on its system calls"
	}
	return text + ")"
}

// together boots hosts at the same time and puts what they hand out into a folder for each.
func together(ctx context.Context, image *image, hosts []host, folder, taken string) (map[string]measured, error) {
	ctx, cancel := context.WithTimeout(ctx, bootLimit)
	defer cancel()
	var all sync.WaitGroup
	errs, consoles := make([]error, len(hosts)), make([]string, len(hosts))
	for i, each := range hosts {
		all.Go(func() {
			consoles[i], errs[i] = image.run(ctx, each, filepath.Join(folder, each.name), filepath.Join(taken, each.name))
			if errs[i] != nil {
				errs[i] = fmt.Errorf("host %s: %w", each.name, errs[i])
				cancel() // the other one alone is of no use
			}
		})
	}
	all.Wait()
	for _, err := range errs { // the one that failed by itself goes first
		if err != nil && !errors.Is(err, context.Canceled) {
			return nil, err
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	told := map[string]measured{}
	for i, each := range hosts {
		found, err := readConsole(consoles[i])
		if err != nil {
			return nil, fmt.Errorf("host %s: %w", each.name, err)
		}
		told[each.name] = found
	}
	return told, nil
}

// run boots one host, and takes its files out.
func (m *image) run(ctx context.Context, each host, folder, taken string) (string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(folder) }() // what stays in /tmp does no harm
	guest, err := machine.New(ctx, folder, machine.AMD64)
	if err != nil {
		return "", err
	}
	guest.MegaBytes, guest.Words = memory, []string{"clocksource=" + each.clock}
	if err := m.fill(guest); err != nil {
		return "", err
	}
	return guest.Take(ctx, each.script(), taken)
}

// hostScript is what a host does. The load is steady: what a host is asked for does not depend on
// how fast it answers. The JVM compiles with C1 alone: an emulated CPU takes minutes until C2 is
// through.
const hostScript = `hostname NAME
mount -t cgroup2 none /sys/fs/cgroup
source=/sys/devices/system/clocksource/clocksource0/current_clocksource
START/java/bin/java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx128m -cp /store Store 7000 /tmp/commit-log &
service=$!
busy() { awk '{printf "%d", ($14 + $15) * 10000}' /proc/$service/stat; } # with the threads that have ended
ask -wait 1m -rate WARM -rows ROWS -d 10s 127.0.0.1:7000
before=$(busy)
echo "---alone source $(cat $source) $(ask -rate RATE -rows ROWS -d ALONE 127.0.0.1:7000) busy_us $(($(busy) - before))"
ask -rate RATE -rows ROWS -d 10m 127.0.0.1:7000 > /dev/null &
load=$!
for i in $(seq RECORDINGS); do
	culprit record -p $service -d SECONDS -o $i.culprit 2> errors || cat errors
	hand $i.culprit
done
kill $load
culprit bench time --json bench.json > /dev/null 2>&1
hand bench.json
`

// flipScript proves it: the service as it runs, under load, with both clock sources in random
// order.
const flipScript = `culprit try -p $service --vary clocksource=CLOCK,tsc --metric cpu_per_call \
	--metric 'latency=mean_us ([0-9]+)' --measure 'ask -rate RATE -rows ROWS -d 2s 127.0.0.1:7000' --period 1s \
	--budget FLIPS --json try.json > tried 2> errors || tail -n 1 errors
echo "---tried"; cat tried
hand try.json
`

// What a host is asked for.
const (
	requestRate   = 150 // a second: a slow host on a busy machine answers no more than 250
	warmRate      = 400 // for ten seconds, however long the answers take
	rowsOfRequest = 100 // each reads the time four times: a quarter of what the slow host does, as published
	aloneTime     = "15s"
	recordSeconds = "20s"
	flipBudget    = "80s"
)

func (h host) script() string {
	text := hostScript
	if h.flips {
		text += flipScript
	}
	return strings.NewReplacer("NAME", h.name, "START", h.start, "RATE", strconv.Itoa(requestRate),
		"WARM", strconv.Itoa(warmRate), "ROWS", strconv.Itoa(rowsOfRequest),
		"ALONE", aloneTime, "SECONDS", recordSeconds, "RECORDINGS", strconv.Itoa(recordings), "CLOCK", h.clock,
		"FLIPS", flipBudget).Replace(text)
}

// perRequest is the unit of work: the store writes its commit log once a request. Requests
// themselves are not followed on the guests' kernel.
const perRequest = "request=pwrite64"

// compare holds the recordings of two hosts against each other, and names the first suspect.
func compare(ctx context.Context, culprit, taken string, a, b host, out io.Writer) (suspect string, err error) {
	document := filepath.Join(taken, "compared.json")
	words := []string{"compare", "--per", perRequest, "--metric", "cpu", "--json", document}
	words = append(append(words, "--a"), recorded(taken, a)...)
	words = append(append(words, "--b"), recorded(taken, b)...)
	command := child.Command(ctx, culprit, words...)
	command.Stdout, command.Stderr = out, os.Stderr
	if err := command.Run(); err != nil && command.ProcessState.ExitCode() != 1 {
		return "", fmt.Errorf("compare %s and %s: %w", a.name, b.name, err)
	}
	return firstSuspect(document)
}

// recorded are the files of a host's recordings.
func recorded(taken string, of host) (files []string) {
	for number := range recordings {
		files = append(files, filepath.Join(taken, of.name, strconv.Itoa(number+1)+".culprit"))
	}
	return files
}
