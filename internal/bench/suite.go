package bench

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"culprit/internal/stat"
)

// The clocks by which a finding was taken.
const (
	ClockCPU  = "cpu"  // CPU time of the working threads: other processes disturb it little
	ClockWall = "wall" // what a caller waits
)

// Settings of a run of the suite.
type Settings struct {
	Time time.Duration // for each benchmark; 0 means half a second
	Dir  string        // where files are written and synced; "" means the folder for temporary files
}

// Finding is what one basic operation costs here, in nanoseconds for one.
type Finding struct {
	Group string `json:"group"`
	Name  string `json:"name"`
	What  string `json:"what"`
	Clock string `json:"clock"`
	// Ns is the median over the rounds of all visits; Low and High hold what each visit's interval
	// (95 %) holds.
	Ns     float64 `json:"ns"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Rounds int     `json:"rounds"`
	// CPUNs is what one operation takes of the CPU where the clock is wall time; 0: not measured.
	CPUNs float64 `json:"cpu_ns,omitempty"`
	// Path says what was really measured and how that was checked; empty where there is nothing to
	// mistake.
	Path []string `json:"path"`
	// ClockSource is the kernel's, where time was read through it.
	ClockSource string `json:"clock_source,omitempty"`
	// Published are figures of others for the same operation.
	Published []Figure `json:"published"`
	// Why says why it could not be measured here; the numbers are then 0.
	Why string `json:"why,omitempty"`
}

// benchmark is one line of the list: what it measures and how. A round returns costs in ns and may
// add notes.
type benchmark struct {
	group, name, what, clock string
	run                      func(ctx context.Context, s Settings) (*measurement, error)
}

// measurement is what a benchmark brings home.
type measurement struct {
	rounds []float64
	cpu    []float64
	path   []string
	source string // the kernel's clock source, where it matters
}

// suite is the list of benchmarks, by group.
func suite() []benchmark {
	return []benchmark{
		{"time", "time.vdso", "read the monotonic clock as a program does", ClockCPU, timeVDSO},
		{"time", "time.syscall", "the same by a real system call", ClockCPU, timeSyscall},
		{"time", "time.thread-cpu", "read the thread's CPU clock: always a system call", ClockCPU, timeThreadCPU},
		{"syscall", "syscall.bare", "getppid: enter and leave the kernel", ClockCPU, syscallBare},
		{"switch", "switch.pipe", "context switch: ping-pong over pipes on one CPU", ClockCPU, switchPipe},
		{"wake", "wake.cross-cpu", "wake a sleeper on another CPU: the same on two CPUs", ClockWall, wakeCross},
		{"timer", "timer.sleep", "sleep 1 ms: how much later it returns", ClockWall, timerSleep},
		{"fault", "fault.minor", "first touch of a page of new memory", ClockCPU, faultMinor},
		{"fork", "fork.exec", "start /bin/true and wait for its end", ClockCPU, forkExec},
		{"sharing", "sharing.alone", "atomic add, one thread", ClockCPU, sharingAlone},
		{"sharing", "sharing.false", "two threads add to different words of one cache line", ClockCPU, sharingFalse},
		{"sharing", "sharing.padded", "two threads add to words a cache line apart", ClockCPU, sharingPadded},
		{"sharing", "sharing.pass", "pass one cache line to another CPU, one way", ClockWall, sharingPass},
		{"write", "write.page", "write 4 KiB into the page cache", ClockWall, writePage},
		{"write", "write.sync", "write 4 KiB and fsync", ClockWall, writeSync},
		{"counter", "counter.read", "read a hardware counter by read(2)", ClockCPU, counterHardware},
		{"counter", "counter.software", "read a software counter (task clock) by read(2)", ClockCPU, counterSoftware},
	}
}

// Groups names the groups of the suite, in order.
func Groups() []string {
	var groups []string
	for _, one := range suite() {
		if !slices.Contains(groups, one.group) {
			groups = append(groups, one.group)
		}
	}
	return groups
}

// Count is how many findings a run of these groups has.
func Count(groups ...string) int {
	count := 0
	for _, one := range suite() {
		if len(groups) == 0 || slices.Contains(groups, one.group) {
			count++
		}
	}
	return count
}

// Run runs the named groups of the suite, all of them without names, and tells which benchmark it
// begins (progress may be nil), with its group and name only. What this host cannot do is a finding
// with its reason; an error is a wrong name or an ended context.
func Run(ctx context.Context, s Settings, progress func(Finding), groups ...string) ([]Finding, error) {
	known := Groups()
	for _, group := range groups {
		if !slices.Contains(known, group) {
			return nil, fmt.Errorf("benchmark %q: there are %s", group, strings.Join(known, " "))
		}
	}
	if s.Time <= 0 {
		s.Time = time.Second / 2
	}
	s.Time /= visits
	var chosen []*visited
	for _, one := range suite() {
		if len(groups) == 0 || slices.Contains(groups, one.group) {
			chosen = append(chosen, &visited{benchmark: one})
		}
	}
	for range visits {
		for _, one := range chosen {
			if progress != nil {
				progress(Finding{Group: one.group, Name: one.name})
			}
			one.visit(ctx, s)
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
	}
	findings := make([]Finding, len(chosen))
	for i, one := range chosen {
		findings[i] = one.find()
	}
	return findings, nil
}

// visits is how often a run goes round the list. What a host does for some seconds, a slower clock
// of its processors or a neighbour, shifts all rounds of a visit together; the interval then has to
// hold both visits.
const visits = 2

// visited is a benchmark with what each visit brought home.
type visited struct {
	benchmark
	measured []*measurement
	err      error // of the first visit that failed
}

func (v *visited) visit(ctx context.Context, s Settings) {
	if v.err != nil {
		return
	}
	var measured *measurement
	if measured, v.err = v.run(ctx, s); v.err == nil {
		_, _, _, v.err = medianInterval(measured.rounds)
	}
	if v.err == nil {
		v.measured = append(v.measured, measured)
	}
}

func (v *visited) find() Finding {
	found := Finding{Group: v.group, Name: v.name, What: v.what, Clock: v.clock, Path: []string{},
		Published: published(v.name)}
	var rounds, cpu []float64
	low, high := math.Inf(1), math.Inf(-1)
	for _, measured := range v.measured {
		_, from, to, _ := medianInterval(measured.rounds) // it went well when they came
		low, high = min(low, from), max(high, to)
		rounds, cpu = append(rounds, measured.rounds...), append(cpu, measured.cpu...)
	}
	if len(v.measured) == 0 {
		found.Why = v.err.Error()
		return found
	}
	if median, err := stat.Median(rounds); err == nil {
		found.Ns, found.Low, found.High = median, low, high
	}
	found.Rounds = len(rounds)
	found.Path, found.ClockSource = append(found.Path, v.measured[0].path...), v.measured[0].source
	if v.err != nil { // a CPU that was free a moment ago may be taken
		found.Path = append(found.Path, "visited once only: "+v.err.Error())
	}
	if median, err := stat.Median(cpu); err == nil {
		found.CPUNs = median
	}
	return found
}

// fewestRounds is from where on two rounds hold the median between them with 95 % confidence: 1 −
// 2/2⁶.
const fewestRounds = 6

// medianInterval returns the median and the order statistics that hold the true one with at least
// 95 % confidence: no form of the distribution is assumed, only that rounds are independent.
func medianInterval(rounds []float64) (median, low, high float64, err error) {
	if len(rounds) < fewestRounds {
		return 0, 0, 0, fmt.Errorf("only %d rounds in the time given, %d are needed: give it more", len(rounds), fewestRounds)
	}
	sorted := slices.Clone(rounds)
	slices.Sort(sorted)
	if median, err = stat.Median(sorted); err != nil {
		return 0, 0, 0, err
	}
	// The chance that fewer than k of n values lie below the median, summed until it passes 2.5 %.
	below, term := 0.0, 1.0
	for range sorted {
		term /= 2
	}
	k := 0
	for ; k < len(sorted)/2; k++ {
		if below += term; below > 0.025 {
			break
		}
		term *= float64(len(sorted)-k) / float64(k+1)
	}
	return median, sorted[max(0, k-1)], sorted[len(sorted)-max(1, k)], nil
}
