package record

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"culprit/internal/host"
	"culprit/internal/monitor"
	"culprit/recording"
)

// countingFact tells what those do who hold perf events: for whom, how many, which. It begins like
// the fact that tells how many they hold.
const countingFact = "tracers.perf.counting"

// countingTold bounds how many monitors the fact tells of.
const countingTold = 8

// counting remembers what others count, for as long as they hold as many events: looking takes a
// tenth of a second.
type counting struct {
	held  string
	value string
	found []monitor.Monitor
	// tracers are those of the last window that did not go on with another.
	tracers []host.Tracer
	own     host.Tracer // what this process holds
}

// facts tell who watches others on this host, what they count, and who counts the target.
func (c *counting) facts(target Target) []recording.Fact {
	c.tracers, c.own = host.Tracers("/", os.Getpid(), os.Getppid()), host.HeldBy("/", os.Getpid())
	facts := append(host.TracerFacts(c.tracers), c.fact(c.tracers), sampledFact(host.FactTracersSampled, c.found))
	return append(facts, c.ofTarget(target)...)
}

// fact looks where others than recorders hold perf events.
func (c *counting) fact(tracers []host.Tracer) recording.Fact {
	var held strings.Builder
	ours := []int{os.Getpid(), os.Getppid()}
	for i := range tracers {
		switch t := &tracers[i]; {
		case t.OfRecorder():
			ours = append(ours, t.Pid)
		case t.PerfEvents > 0:
			fmt.Fprintf(&held, "%d:%d ", t.Pid, t.PerfEvents)
		}
	}
	if held.String() != c.held || c.value == "" {
		c.held, c.value, c.found = held.String(), "none", nil
		if c.held != "" {
			c.look(ours)
		}
	}
	return recording.Fact{Name: countingFact, Value: c.value, Source: eventsRead}
}

// ofTarget tells which of them are for the target itself: what is counted for all CPUs, or for
// others, meets every side of a comparison alike. Nothing is told of a command, which has ended, or
// of the whole host.
func (c *counting) ofTarget(target Target) []recording.Fact {
	if target.Kind == "command" || target.Kind == "host" {
		return nil
	}
	var mine []monitor.Monitor
	if len(c.found) > 0 {
		pids, err := target.Pids()
		if err != nil {
			return nil // it ended meanwhile
		}
		cgroups := groupsAbove(pids)
		for i := range c.found {
			if c.found[i].Of(pids, cgroups) {
				mine = append(mine, c.found[i])
			}
		}
	}
	return []recording.Fact{{Name: host.FactTargetCounted, Value: texts(mine), Source: eventsRead},
		sampledFact(host.FactTargetSampled, mine)}
}

// eventsRead is where facts of perf events come from.
const eventsRead = "perf events of all processes"

// sampledFact tells how many samples a second are taken by time of what monitors watch.
func sampledFact(name string, found []monitor.Monitor) recording.Fact {
	sum := uint64(0)
	for i := range found {
		sum += found[i].SamplesHz()
	}
	return recording.Fact{Name: name, Value: strconv.FormatUint(sum, 10), Source: eventsRead}
}

// groupsAbove are the ids of the cgroups that hold the processes, and of those above them.
func groupsAbove(pids []int) (ids []uint64) {
	seen := map[string]bool{}
	for _, pid := range pids {
		folder, err := host.GroupOf("/", pid)
		for ; err == nil && !seen[folder]; folder = filepath.Dir(folder) {
			seen[folder] = true
			var told unix.Stat_t
			if err = unix.Stat(folder, &told); err == nil {
				ids = append(ids, told.Ino) // the kernel's id of a cgroup
			}
		}
	}
	return ids
}

// unseen tells of BPF programs at perf events (tracepoints, kprobes): the kernel lets no other
// program of that kind run meanwhile, so that the sampling one takes nothing (bpf_prog_active).
func (c *counting) unseen() (spots []recording.BlindSpot) {
	for i := range c.found {
		if m := &c.found[i]; m.Does == monitor.Runs && m.Hertz == 0 { // else a sampler, such as a recorder that begins
			spots = append(spots, recording.BlindSpot{Kind: recording.BlindPrograms, What: m.Text()})
		}
	}
	return spots
}

// look finds them.
func (c *counting) look(ours []int) {
	var err error
	if c.found, err = monitor.Find(ours...); err != nil {
		c.value = "not known"
		return
	}
	c.value = texts(c.found)
}

// texts says what they do without numbers of processes, which differ from run to run.
func texts(found []monitor.Monitor) string {
	var all []string
	for i := range found {
		if text := found[i].Text(); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	slices.Sort(all)
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all[:min(len(all), countingTold)], "; ")
}
