package recording

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// partOf is a small recording of one second in which a process and a thread live on, and a child
// comes and goes.
func partOf(number int32) *Recording {
	b := NewBuilder()
	stack := b.Stack([]int32{b.Frame(Frame{Name: "main"}), b.Frame(Frame{Name: string(rune('a' + number))})})
	r := &Recording{Manifest: Manifest{Schema: SchemaVersion, WindowNs: 1e9, Metrics: map[string]float64{},
		Probes: []ProbeStatus{{Name: "syscalls", On: number < 2}}, Losses: []Loss{{What: "x", Count: 2}},
		Estimated: []Estimate{{What: "y", Count: 1, Of: 3}},
		Cost:      Cost{RecorderCPUNs: 5, StartCPUNs: 7, BPFNs: map[string]int64{"p": 3}},
		BlindSpots: []BlindSpot{
			{Kind: BlindStacks, Count: 1, Of: 9, Reasons: []BlindReason{{"no rules", 1}}},
			{Kind: BlindLost, What: "x", Count: 2}}}}
	if number > 0 {
		r.Manifest.Gaps = []Gap{{LengthNs: 4e8, Why: "written down"}}
	}
	r.Facts = []Fact{{Name: "f", Value: string(rune('0' + number))}}
	r.Samples = []Sample{{Signal: SignalCPU, TimeNs: 5e8, Stack: stack, Count: 1, ValueNs: 10}}
	r.Waits = []Wait{{TimeNs: 1e8, BlockedNs: 20, Stack: stack, WakerStack: NoStack}}
	r.Processes = []Process{{Pid: 1, CPUNs: 100, Execs: 1}, {Pid: 50 + number, StartNs: 1e8, EndNs: 2e8, CPUNs: 7},
		{Pid: 70, StartNs: 3e8, EndNs: 4e8}} // a number that is given anew each time
	if number == 1 {
		// Ends in the gap.
		r.Processes = append(r.Processes, Process{Pid: 99, StartNs: 3e8, CPUNs: 1})
	}
	r.Threads = []Thread{{Pid: 1, Tid: 1, CPUNs: 100, Voluntary: 4}}
	r.Syscalls = []Syscall{{Pid: 1, Tid: 1, Name: "read", Count: 3, TotalNs: 30,
		Buckets: append(make([]int64, number), 1)}, {Pid: 50 + number, Tid: 50 + number, Name: "read", Count: 1},
		{Pid: 70, Tid: 70, Name: "read", Count: 1}}
	if number > 0 { // another one goes on from the second part to the third
		r.Syscalls = append(r.Syscalls, Syscall{Pid: 2, Tid: 3, Name: "read", Count: 5})
	}
	r.Slow = []Slow{{TimeNs: 1e8, DurationNs: 5, Stall: 1, Stack: stack, WakerStack: NoStack, HopStack: NoStack}}
	r.Locks = []Lock{{Kind: LockFutex, Address: 8, Waits: 1, TotalNs: int64(number) * 10, WaiterStack: stack,
		HolderStack: NoStack, HolderPid: number}}
	r.Block = []Block{{Device: "sda", Throttled: 1, ThrottledBy: "x"}, {Device: "sda", Throttled: 2, ThrottledBy: "y"},
		{Device: "sda", Pid: 1, Target: true, Throttled: int64(number), ThrottledBy: strings.Repeat("x", int(number))}}
	b.Into(r)
	return r
}

// Three parts become one recording in which time goes on, and what lives over a gap is one row.
func TestJoin(t *testing.T) {
	folder := t.TempDir()
	var parts []string
	for number := range int32(3) {
		path := filepath.Join(folder, string(rune('a'+number)))
		if err := Write(path, partOf(number)); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, path)
	}
	path := filepath.Join(folder, "whole.culprit")
	killed := func(m *Manifest) { m.BlindSpots = append(m.BlindSpots, BlindSpot{Kind: BlindKilled}) }
	if err := Join(path, parts, killed); err != nil {
		t.Fatal(err)
	}
	whole, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	checkJoinedManifest(t, whole)
	for i, name := range []string{"a", "b", "c"} {
		sample, wait := whole.Samples[i], whole.Waits[i]
		if sample.TimeNs != int64(i)*1e9+5e8 || !slices.Equal(whole.StackNames(sample.Stack), []string{"main", name}) ||
			wait.TimeNs != int64(i)*1e9+1e8 || wait.Stack != sample.Stack || whole.Slow[i].Stall != int32(i)+1 {
			t.Errorf("part %d: sample %+v, wait %+v, slow %+v", i, sample, wait, whole.Slow[i])
		}
	}
	if len(whole.Processes) != 8 || len(whole.Threads) != 1 || whole.Threads[0].CPUNs != 300 ||
		whole.Threads[0].Voluntary != 12 || whole.Threads[0].EndNs != 0 {
		t.Errorf("processes %+v, threads %+v", whole.Processes, whole.Threads)
	}
	for _, process := range whole.Processes {
		switch {
		case process.Pid == 1 && (process.CPUNs != 300 || process.StartNs+process.EndNs != 0 || process.Execs != 3),
			process.Pid == 51 && (process.StartNs != 11e8 || process.EndNs != 12e8),
			process.Pid == 99 && (process.StartNs != 13e8 || process.EndNs != 2e9):
			t.Errorf("%+v", process)
		}
	}
	calls := map[int32]Syscall{}
	for _, call := range whole.Syscalls {
		calls[call.Pid] = call
	}
	if len(whole.Syscalls) != 8 || calls[70].Count != 1 ||
		calls[1].Count != 9 || calls[1].TotalNs != 90 || len(calls[1].Buckets) != 3 ||
		calls[2].Count != 10 || calls[50].Count != 1 || calls[51].Count != 1 || calls[52].Count != 1 {
		t.Errorf("system calls %+v", whole.Syscalls)
	}
	if len(whole.Locks) != 1 || whole.Locks[0].TotalNs != 30 || whole.Locks[0].HolderPid != 2 ||
		whole.Locks[0].Waits != 3 {
		t.Errorf("locks %+v", whole.Locks)
	}
	if len(whole.Block) != 3 || whole.Block[0].Throttled != 3 || whole.Block[0].ThrottledBy != "x" ||
		whole.Block[1].Throttled != 6 || whole.Block[1].ThrottledBy != "y" || whole.Block[2].Throttled != 3 {
		t.Errorf("block %+v: what limits of two cgroups held back are two rows, of one process one", whole.Block)
	}
}

func checkJoinedManifest(t *testing.T, whole *Recording) {
	t.Helper()
	m := whole.Manifest
	if m.WindowNs != 3e9 || len(m.Gaps) != 2 || m.Gaps[0].TimeNs != 1e9 || m.Gaps[1].TimeNs != 2e9 ||
		m.Cost.RecorderCPUNs != 15 || m.Cost.StartCPUNs != 7 || m.Cost.BPFNs["p"] != 9 {
		t.Errorf("manifest %+v", m)
	}
	if len(m.Losses) != 1 || m.Losses[0].Count != 6 || whole.Fact("f") != "2" {
		t.Errorf("losses %+v, fact %q", m.Losses, whole.Fact("f"))
	}
	if len(m.Estimated) != 1 || m.Estimated[0] != (Estimate{What: "y", Count: 3, Of: 9}) {
		t.Errorf("estimated %+v", m.Estimated)
	}
	if len(m.Probes) != 1 || m.Probes[0].On {
		t.Errorf("a probe that was off in one part: %+v", m.Probes)
	}
	want := []BlindSpot{{Kind: BlindStacks, Count: 3, Of: 27, Reasons: []BlindReason{{"no rules", 3}}},
		{Kind: BlindLost, What: "x", Count: 6}, {Kind: BlindKilled}}
	if !reflect.DeepEqual(m.BlindSpots, want) {
		t.Errorf("blind spots %+v", m.BlindSpots)
	}
}

// What does not fit is left out by weight, in order, and counted.
func TestHeaviest(t *testing.T) {
	rows := []int64{5, 1, 4, 4, 4, 9, 2}
	kept := heaviest(slices.Clone(rows), 4, func(n *int64) int64 { return *n })
	if !slices.Equal(kept, []int64{5, 4, 4, 9}) {
		t.Errorf("kept %v", kept)
	}
	if kept := heaviest(slices.Clone(rows), 7, func(n *int64) int64 { return *n }); len(kept) != 7 {
		t.Errorf("kept %v", kept)
	}
}

// A part that is damaged leaves no file.
func TestJoinDamaged(t *testing.T) {
	folder := t.TempDir()
	good := filepath.Join(folder, "good")
	if err := Write(good, partOf(0)); err != nil {
		t.Fatal(err)
	}
	for _, parts := range [][]string{nil, {filepath.Join(folder, "none")}, {good, "/dev/null"}} {
		path := filepath.Join(folder, "whole")
		if err := Join(path, parts, nil); err == nil {
			t.Errorf("%v were joined", parts)
		}
		if _, err := Open(path); err == nil {
			t.Errorf("%v left a file", parts)
		}
	}
}

// A part's file is open only while it is read: the parts of a day are more than the files that a
// process may open.
func TestJoinHoldsNoPartOpen(t *testing.T) {
	folder := t.TempDir()
	part := filepath.Join(folder, "part")
	if err := Write(part, partOf(0)); err != nil {
		t.Fatal(err)
	}
	const count = 50
	open := 0
	err := Join(filepath.Join(folder, "whole"), slices.Repeat([]string{part}, count), func(*Manifest) {
		links, err := filepath.Glob("/proc/self/fd/*")
		if err != nil {
			t.Error(err)
		}
		for _, link := range links {
			if file, err := os.Readlink(link); err == nil && file == part {
				open++
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if open > 1 {
		t.Errorf("%d of %d parts are open at once", open, count)
	}
	whole, err := Open(filepath.Join(folder, "whole"))
	if err != nil || len(whole.Samples) != count {
		t.Errorf("%v; %d samples of %d parts", err, len(whole.Samples), count)
	}
}
