package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"culprit/benchmark/peers"
)

// peerStarts is how long a peer may take until it is at work.
const peerStarts = 1500 * time.Millisecond

// patience is how often as long as usual a worker is measured beside a peer.
const patience = 10

// beside measures the worker while a peer runs. Of the words PID stands for the worker and FILE for
// an output file.
func beside(words ...string) func(*bench) (float64, error) {
	return func(b *bench) (float64, error) {
		stop, err := startPeer(b.folder, b.worker.command.Process.Pid, words)
		if err != nil {
			return 0, err
		}
		defer stop()
		start := time.Now()
		for range patience { // some peers slow their target down fiftyfold
			time.Sleep(b.lasts)
			var value float64
			if value, err = b.worker.between(start, time.Now()); err == nil {
				return value, nil
			}
		}
		return 0, err
	}
}

// peer is a setting with another tool.
func peer(words ...string) setting {
	return setting{name: strings.Join(slices.DeleteFunc(slices.Clone(words), func(word string) bool {
		return word == "FILE" || word == "-o" || word == "-p" || word == "PID"
	}), " "), measure: beside(words...)}
}

// installed drops the peers that this host does not have: their names begin with the program's.
func installed(settings []setting) []setting {
	return slices.DeleteFunc(slices.Clone(settings), func(s setting) bool {
		program, _, _ := strings.Cut(s.name, " ")
		if !slices.Contains([]string{"perf", "strace", "bpftrace"}, program) {
			return false
		}
		_, err := exec.LookPath(program)
		return err != nil
	})
}

// startPeer starts a peer with an output file in the folder.
func startPeer(folder string, pid int, words []string) (stop func(), err error) {
	return peers.Start(words, pid, filepath.Join(folder, "peer.out"), peerStarts)
}

// The settings of each load: alone first, which the ratios are to.
var (
	alone     = setting{name: "alone", measure: (*bench).alone}
	floor     = setting{name: "floor: empty programs", measure: (*bench).floor}
	bystander = setting{name: "culprit records another", measure: (*bench).bystander}
	light     = setting{name: "culprit record --light", measure: with("--light")}
	everyday  = setting{name: "culprit record", measure: with()}
	noCalls   = setting{name: "culprit record --no-syscalls", measure: with("--no-syscalls")}
)

// within is a setting with a limit to its ratio.
func (s setting) within(limit float64) setting {
	s.limit = limit
	return s
}

// told is a setting with a limit of another kind.
func (s setting) told(limit string) setting {
	s.other = limit
	return s
}

var switchSettings = []setting{alone, floor, bystander.within(1.15), light.within(1.10), noCalls, everyday.within(1.40),
	peer("perf", "record", "-a", "-g", "-e", "sched:sched_switch", "-o", "FILE"),
	peer("bpftrace", "-e", "tracepoint:sched:sched_switch { @[kstack] = count(); }"),
	peer("perf", "record", "-F", "99", "-g", "-p", "PID", "-o", "FILE"),
}

var callSettings = []setting{alone, floor, bystander.told("floor + 10 ns"), light, everyday.told("+ 90 ns"),
	peer("strace", "-f", "-c", "-p", "PID", "-o", "FILE"),
	peer("perf", "trace", "-s", "-p", "PID", "-o", "FILE"),
}

var busySettings = []setting{alone, light, everyday.within(1.01),
	peer("perf", "record", "-F", "99", "-g", "-p", "PID", "-o", "FILE"),
}
