package cause

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

const ms = int64(1e6)

// plan is one side of a made-up situation; numbers are per run.
type plan struct {
	cpu       map[string]float64 // ms of CPU by stack, "thread|stack" for another thread than the main one
	waits     []wait
	calls     map[string][2]int64 // count and bytes
	faults    float64
	memoryMB  float64 // the most that it holds
	children  int     // processes started
	childMs   float64 // CPU time of each
	childName string
	facts     map[string]string
	command   string
	block     []recording.Block
	network   []recording.Network
	lines     []line
	// lineSamples are of each of the lines; 0: enough for the time of their code.
	lineSamples int64
	// metByChance is of each row of a line: nobody met there.
	metByChance float64
	lineName    string // of all words of lines
	beside      int64  // samples of a word in the first line that both threads of it only read
	// throttledS is what the kernel counts of a quota of the cgroup, in seconds.
	throttledS float64
	onCPUs     int32 // samples take turns on so many CPUs; 0: all on the first
}

// line is one word of a shared cache line.
type line struct {
	offset, tid int32
	write       bool
	stack       string
	away        uint64 // bytes from the first line
}

// wait is a number of equal waits, spread over the run.
type wait struct {
	tid     int32
	count   int
	ms      float64
	call    string
	stack   string
	waker   string // recording.Waker*; "thread" is woken by wakerTid
	wakerTi int32
	runMs   float64 // run-queue delay after it
	runner  string
	jitter  float64 // part of its length that varies
	ended   string  // the waker's stack
	behind  string  // where the waker had slept before, a kernel thread by the name of jbd2/vda-8
	outside string  // the thread of another program that ends it
}

// three is an amount per run of three runs that scatter a little.
func three(value float64) []float64 { return []float64{value * 0.99, value, value * 1.01} }

// builder makes one recording.
type builder struct {
	rec    *recording.Recording
	onCPUs int32
	frames map[recording.Frame]int32
	stacks map[string]int32
}

var kinds = map[string]recording.FrameKind{"n": recording.KindNative, "k": recording.KindKernel,
	"v": recording.KindVDSO, "j": recording.KindJVM, "g": recording.KindGo, "p": recording.KindPython,
	"s": recording.KindNode}

func (m *builder) stack(text string) int32 {
	if id, known := m.stacks[text]; known {
		return id
	}
	kind := recording.KindNative
	var stack recording.Stack
	for _, name := range strings.Split(text, ";") {
		if letter, rest, found := strings.Cut(name, ":"); found && kinds[letter] != "" {
			kind, name = kinds[letter], rest
		}
		frame := recording.Frame{Name: name, Kind: kind, Module: "prog"}
		if module, symbol, found := strings.Cut(name, "!"); found {
			frame.Module, frame.Name = module, symbol
		}
		frame.Name, frame.File, _ = strings.Cut(frame.Name, "@")
		if kind == recording.KindNode && frame.File == "" {
			frame.File = "/srv/app.js"
		}
		id, known := m.frames[frame]
		if !known {
			id = int32(len(m.rec.Frames))
			m.frames[frame] = id
			m.rec.Frames = append(m.rec.Frames, frame)
		}
		stack.Frames = append(stack.Frames, id)
	}
	id := int32(len(m.rec.Stacks))
	m.rec.Stacks = append(m.rec.Stacks, stack)
	m.stacks[text] = id
	return id
}

const (
	rootPid   = int32(100)
	firstKid  = int32(500)
	noise     = 0.02 // of every amount, between runs
	sampleDur = ms
)

// build makes one run. The main thread's CPU time and waits take turns, so that
// the wall time is their sum; other threads run beside it.
func (p plan) build(random *rand.Rand) *recording.Recording {
	m := &builder{rec: &recording.Recording{}, onCPUs: max(p.onCPUs, 1), frames: map[recording.Frame]int32{},
		stacks: map[string]int32{}}
	vary := func(value float64) float64 { return value * (1 + noise*(2*random.Float64()-1)) }
	total := 0.0
	events := m.mainEvents(p, vary)
	at := int64(0)
	for _, e := range events {
		at = e(at)
	}
	wallNs := at
	for _, w := range p.waits {
		if w.tid != 0 && w.tid != rootPid {
			m.sideWaits(w, wallNs, random)
		}
	}
	m.side(p, vary, wallNs)
	m.kids(p, vary, wallNs)
	for _, sample := range m.rec.Samples {
		if sample.Signal == recording.SignalCPU && sample.Target {
			total += float64(sample.ValueNs)
		}
	}
	for name, call := range p.calls {
		m.rec.Syscalls = append(m.rec.Syscalls, recording.Syscall{Pid: rootPid, Comm: "prog", Name: name,
			Count: int64(vary(float64(call[0]))), Bytes: call[1]})
	}
	root := recording.Thread{Pid: rootPid, Tid: rootPid, Comm: "prog"}
	for i := range m.rec.Waits {
		if m.rec.Waits[i].WakerKind == recording.WakerNone {
			root.Involuntary++
		} else {
			root.Voluntary++
		}
	}
	m.rec.Threads = append(m.rec.Threads, root)
	m.rec.Block, m.rec.Network = p.block, p.network
	m.rec.Metrics = []recording.Metric{{Name: "cgroup.cpu.throttled_s", Scope: "/job", Value: 7},
		{Name: "cgroup.cpu.throttled_s", Scope: "/job", Value: 7 + vary(p.throttledS), TimeNs: wallNs}}
	for _, one := range p.lines {
		m.rec.Lines = append(m.rec.Lines, recording.Line{Line: 0x1000 + one.away, Offset: one.offset, Size: 8, Pid: rootPid,
			Tid: one.tid, Write: one.write, Count: cmp.Or(p.lineSamples, 2500), Stack: m.stack(one.stack),
			NearByChance: p.metByChance, Name: p.lineName})
		if p.beside > 0 {
			m.rec.Lines = append(m.rec.Lines, recording.Line{Line: 0x1000, Offset: 16, Size: 8, Pid: rootPid, Tid: one.tid,
				Count: p.beside, Stack: m.stack(one.stack)})
		}
	}
	m.rec.Facts = append(m.rec.Facts, recording.Fact{Name: "target.policy", Value: "other"}) // the target could be read
	for name, value := range p.facts {
		m.rec.Facts = append(m.rec.Facts, recording.Fact{Name: name, Value: value})
	}
	m.rec.Processes = append(m.rec.Processes, recording.Process{Pid: rootPid, Ppid: 1, EndNs: wallNs, Comm: "prog",
		Command: "/srv/prog"})
	m.rec.Manifest = recording.Manifest{Schema: 1, Hz: 1000, SliceNs: ms, WindowNs: wallNs,
		Target: recording.Target{Pid: int(rootPid)}, Metrics: map[string]float64{
			"wall": float64(wallNs) / 1e9, "cpu": total / 1e9, "minor_faults": p.faults,
			"memory": p.memoryMB * (1 << 20)}}
	return m.rec
}

// mainEvents alternates pieces of CPU time and waits of the main thread.
func (m *builder) mainEvents(p plan, vary func(float64) float64) []func(int64) int64 {
	var events []func(int64) int64
	for _, text := range sortedStacks(p.cpu) {
		if strings.Contains(text, "|") {
			continue
		}
		stack, length := m.stack(text), int64(vary(p.cpu[text])*1e6)
		events = append(events, func(at int64) int64 {
			for from := at; from < at+length; from += sampleDur {
				m.sample(rootPid, rootPid, from, min(sampleDur, at+length-from), stack, "prog")
			}
			return at + length
		})
	}
	for _, w := range p.waits {
		if w.tid != 0 && w.tid != rootPid {
			continue
		}
		for range w.count {
			blocked, queue := int64(vary(w.ms)*1e6), int64(w.runMs*1e6)
			events = append(events, func(at int64) int64 {
				m.wait(w, rootPid, at, blocked, queue)
				return at + blocked + queue
			})
		}
	}
	return events
}

func (m *builder) wait(w wait, tid int32, at, blocked, queue int64) {
	own := recording.Wait{TimeNs: at, BlockedNs: blocked, RunqueueNs: queue, Pid: rootPid, Tid: tid, State: "S",
		Syscall: w.call, Stack: m.stack(w.stack), WakerKind: w.waker, WakerStack: recording.NoStack,
		RunnerComm: w.runner, Object: 0x7000}
	if w.runner != "" {
		own.RunnerPid = 9999
	}
	if w.runner == "prog" {
		own.RunnerPid = rootPid
	}
	if w.waker == recording.WakerThread {
		own.WakerPid, own.WakerTid, own.WakerComm = rootPid, w.wakerTi, "prog"
	}
	if w.outside != "" {
		own.WakerKind, own.WakerPid, own.WakerTid, own.WakerComm = recording.WakerThread, 9998, 9998, w.outside
	}
	if w.behind != "" {
		own.WakerComm, own.HopNs, own.HopStack, own.HopComm = "jbd2/vda-8", blocked, m.stack(w.behind), "ksoftirqd/0"
	}
	if w.ended != "" {
		own.WakerStack = m.stack(w.ended)
	}
	m.rec.Waits = append(m.rec.Waits, own)
}

func (m *builder) sideWaits(w wait, wallNs int64, random *rand.Rand) {
	period := float64(wallNs) / float64(w.count)
	for i := range w.count {
		shift := w.jitter * period * (random.Float64() - 0.5)
		m.wait(w, w.tid, max(0, int64(float64(i)*period+shift)), int64(w.ms*1e6), int64(w.runMs*1e6))
	}
}

// side spreads the CPU time of other threads over the run.
func (m *builder) side(p plan, vary func(float64) float64, wallNs int64) {
	for _, text := range sortedStacks(p.cpu) {
		thread, stackText, found := strings.Cut(text, "|")
		if !found {
			continue
		}
		tid := rootPid + int32(len(thread))
		stack, total := m.stack(stackText), vary(p.cpu[text])*1e6
		pieces := max(1, int(total/5e4))
		for i := range pieces {
			m.sample(rootPid, tid, int64(i)*wallNs/int64(pieces), int64(total)/int64(pieces), stack, thread)
		}
		m.rec.Threads = append(m.rec.Threads, recording.Thread{Pid: rootPid, Tid: tid, Comm: thread})
	}
}

func (m *builder) kids(p plan, vary func(float64) float64, wallNs int64) {
	for i := range p.children {
		pid := firstKid + int32(i)
		from := int64(i)*wallNs/int64(p.children) + 1
		length := int64(vary(p.childMs) * 1e6)
		m.rec.Processes = append(m.rec.Processes, recording.Process{Pid: pid, Ppid: rootPid, StartNs: from,
			EndNs: from + length, Comm: p.childName, Command: "/bin/" + p.childName, CPUNs: length})
		m.rec.Threads = append(m.rec.Threads, recording.Thread{Pid: pid, Tid: pid, Comm: p.childName, StartNs: from})
		m.sample(pid, pid, from, length/2, m.stack("_start;main;tool"), p.childName)
		m.sample(pid, pid, from+length/2, length/2, m.stack("k:__x64_sys_execve;load_elf_binary"), p.childName)
	}
}

func (m *builder) sample(pid, tid int32, at, valueNs int64, stack int32, comm string) {
	m.rec.Samples = append(m.rec.Samples, recording.Sample{Signal: recording.SignalCPU, TimeNs: at / ms * ms, Pid: pid,
		Tid: tid, Stack: stack, Count: 1, ValueNs: valueNs, Target: true, Comm: comm,
		CPU: (int32(at/ms) + tid) % m.onCPUs})
}

func sortedStacks(stacks map[string]float64) []string {
	set := map[string]bool{}
	for stack := range stacks {
		set[stack] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// judged compares four runs a side of two plans on a metric. Each such input is held to the model.
func judged(t *testing.T, metric string, a, b plan, costs Costs) []Suspect {
	t.Helper()
	judged := Judge(inputOf(t, metric, a, b, costs))
	holdToModel(t, judged)
	return judged.Suspects
}

func inputOf(t *testing.T, metric string, a, b plan, costs Costs) Input {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var sideA, sideB []*recording.Recording
	for range 4 {
		sideA = append(sideA, a.build(random))
		if b.cpu != nil {
			sideB = append(sideB, b.build(random))
		}
	}
	in := Input{CommandA: a.command, CommandB: b.command, Costs: costs, FactsA: sideA[0].Facts}
	if len(sideB) > 0 {
		in.FactsB = sideB[0].Facts
	}
	results, err := compare.Compare(sideA, sideB, compare.Options{})
	if err == nil {
		in.CPU, in.Wall = results.CPU, results.Wall
		in.Result, err = results.Of(metric)
	}
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func merged(base map[string]float64, more map[string]float64) map[string]float64 {
	all := map[string]float64{}
	for stack, value := range base {
		all[stack] = value
	}
	for stack, value := range more {
		all[stack] += value
	}
	return all
}
