// Command limits holds the knobs of cgroup version 2 against what they are known to do: in an
// emulated guest, because hosts that bind the controllers to version 1 cannot show them. Each limit
// is flipped by `culprit try`; then culprit is killed in the middle of an experiment, and nothing
// may be left.
//
//	make build && go run ./cases/limits
//
// It ends with 1 where a verdict is not the known one.
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

	"culprit/cases/guest/machine"
)

const bootLimit = 6 * time.Minute

// limit is one experiment: what is varied, the baseline first, and what is known of the second
// level.
type limit struct {
	vary, command string
	least         float64 // the wall time's ratio is at least this
}

// The limit of memory is below what the command reads again and again: it has to be read from the
// disk, which is one of memory, each time. The script fills in the number of that disk.
var limits = []limit{
	{"cgroup.cpu.max=max 100000,20000 100000", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done", 2},
	{"cgroup.memory.max=max,6M", "exec 3</dev/ram0; " + // its pages stay while it is open
		"for i in 1 2 3 4 5 6; do dd if=/dev/ram0 of=/dev/null bs=64k count=384 2>/dev/null; done", 1.1},
	{"cgroup.io.wbps.DISK=max,2097152", "dd if=/dev/zero of=/dev/ram0 bs=64k count=16 oflag=direct 2>/dev/null", 2},
}

// preparation mounts version 2 with its controllers and makes a disk of memory.
const preparation = `mkdir -p /sys/fs/cgroup; mount -t cgroup2 cgroup2 /sys/fs/cgroup || echo "no cgroup2"
echo "+cpu +memory +io +pids +cpuset" > /sys/fs/cgroup/cgroup.subtree_control
insmod /brd.ko rd_nr=1 rd_size=65536
disk=$(cat /sys/block/ram0/dev)
`

// killed kills culprit in the middle of an experiment, and looks for what is left.
const killed = `before=$(find /sys/fs/cgroup -type d | sort)
culprit try --vary "cgroup.cpu.max=max 100000,20000 100000" --budget 60s -- 'sleep 0.3' >/dev/null 2>&1 &
sleep 6; during=$(find /sys/fs/cgroup -type d | sort); kill -9 $!; sleep 2
[ "$during" = "$before" ] && echo "the experiment made no cgroup"
[ "$(find /sys/fs/cgroup -type d | sort)" = "$before" ] && echo "nothing is left" || find /sys/fs/cgroup -type d
`

const separator = "---json---\n"

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintf(os.Stderr, "limits: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "culprit-limits-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	guest, err := machine.New(ctx, folder, machine.AMD64)
	if err != nil {
		return err
	}
	if err := errors.Join(guest.Add(filepath.Join("bin", "culprit"), "bin/culprit"),
		guest.AddModule("drivers/block/brd.ko", "brd.ko")); err != nil {
		return fmt.Errorf("%w (make build makes bin/culprit)", err)
	}
	ctx, cancel := context.WithTimeout(ctx, bootLimit)
	defer cancel()
	text, err := guest.Run(ctx, script())
	if err != nil {
		return err
	}
	return check(text)
}

// script makes all experiments, and prints each report and its document.
func script() string {
	var b strings.Builder
	b.WriteString(preparation)
	for _, each := range limits {
		vary := strings.ReplaceAll(each.vary, "DISK", `'"$disk"'`)
		fmt.Fprintf(&b, "rm -f r.json; culprit try --vary '%s' --trials 8 --budget 90s --smallest 5%% --json r.json -- '%s' "+
			"2>errors || tail -n 1 errors | tr '\\r' '\\n' | tail -n 1\n", vary, each.command)
		b.WriteString("echo; echo " + separator + "cat r.json; echo " + separator)
	}
	b.WriteString(killed)
	return b.String()
}

// result is what is read of the document of `culprit try --json`.
type result struct {
	Restored bool
	Effects  []struct {
		Metric, Level, Verdict string
		Ratio, Low             float64
	}
}

// check prints what the guest printed without the documents, and holds these against what is known.
func check(text string) error {
	parts := strings.Split(text, separator)
	var wrong error
	for i, each := range limits {
		if 2*i+1 >= len(parts) {
			return fmt.Errorf("the guest made %d of %d experiments; it printed %q", i, len(limits), text)
		}
		fmt.Print(parts[2*i])
		if err := each.holds(parts[2*i+1]); err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %w", each.vary, err))
		}
	}
	last := parts[len(parts)-1]
	fmt.Print("after kill -9 in the middle: ", last)
	if strings.TrimSpace(last) != "nothing is left" {
		wrong = errors.Join(wrong, errors.New("killed in the middle, culprit left something or had not begun"))
	}
	return wrong
}

// holds tells whether the limit has slowed the command down, and was taken back.
func (l limit) holds(document string) error {
	var found result
	if err := json.Unmarshal([]byte(document), &found); err != nil {
		return fmt.Errorf("read the result: %w", err)
	}
	for _, effect := range found.Effects {
		if effect.Metric == "wall" && effect.Verdict == "worse" && effect.Low >= l.least && found.Restored {
			return nil
		}
	}
	return fmt.Errorf("restored %v, effects %+v; known to take %.1f times as long", found.Restored, found.Effects, l.least)
}
