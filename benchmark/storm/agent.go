package main

import (
	"bytes"
	"culprit/benchmark/peers"
	"culprit/recording"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Agents are measured all at once, beside the same load: each sees the others' processes as well,
// and what the host does at one time is the same for all of them.

// pastEdge is how long after the end of a window a measurement begins and ends: by then the window
// is written, also on a busy host.
const pastEdge = 5 * time.Second

// measured is what an agent took over some whole windows, their ends included.
type measured struct {
	name     string
	cpu      time.Duration // of the agent and its recorder
	length   time.Duration
	bpf      float64 // share of a core, by the kernel's account
	resident int     // kB of both processes now
	starts   int     // of processes and threads by the host
	came     int64   // processes that came and went in the last window
	alone    int64   // of those that have no stacks
	short    stacks
	long     stacks
	file     int64
}

// agent is one that runs.
type agent struct {
	command *exec.Cmd
	folder  string
	said    bytes.Buffer
	before  time.Duration
}

// runAgents measures the agents of all culprits over so many windows.
func runAgents(p plan, folder string, out io.Writer) error {
	agents, err := startAgents(p, folder)
	if err != nil {
		return err
	}
	defer stopAgents(agents)
	time.Sleep(pastEdgeAfter(time.Now(), p.window) + p.window) // the first window has what is read once of the host
	began, starts := time.Now(), startsOfHost()
	for _, one := range agents {
		one.before = one.cpu()
	}
	time.Sleep(time.Duration(p.rounds) * p.window)
	results := make([]measured, len(agents))
	for i, one := range agents {
		results[i] = measured{name: filepath.Base(p.culprits[i]), cpu: one.cpu() - one.before, length: time.Since(began),
			starts: startsOfHost() - starts}
		if err := one.complete(&results[i]); err != nil {
			return fmt.Errorf("%s: %w: %s", results[i].name, err, one.said.String())
		}
	}
	printAgents(out, results)
	return nil
}

// pastEdgeAfter is how long it is until a window of that length has just ended.
func pastEdgeAfter(now time.Time, every time.Duration) time.Duration {
	return now.Truncate(every).Add(every + pastEdge).Sub(now)
}

func startAgents(p plan, folder string) (agents []*agent, err error) {
	for i, binary := range p.culprits {
		one := &agent{folder: filepath.Join(folder, fmt.Sprintf("agent%d", i))}
		one.command = exec.Command(binary, "agent", "--dir", one.folder, "--every", p.window.String(), "--full", "0",
			"--full-for", "0s", "--cost", "0")
		one.command.Stdout, one.command.Stderr = &one.said, &one.said
		one.command.SysProcAttr = peers.EndsWithOwner()
		if err := one.command.Start(); err != nil {
			stopAgents(agents)
			return nil, fmt.Errorf("start %s: %w", binary, err)
		}
		agents = append(agents, one)
	}
	return agents, nil
}

// stopAgents ends them, which write down the windows that are open.
func stopAgents(agents []*agent) {
	var ending sync.WaitGroup
	for _, one := range agents {
		ending.Go(func() {
			_ = one.command.Process.Signal(syscall.SIGTERM) // it may have ended
			_ = one.command.Wait()                          // how does not matter any more
		})
	}
	ending.Wait()
}

func (a *agent) cpu() (total time.Duration) {
	for _, pid := range processesOf(a.command.Process.Pid) {
		if used, err := peers.CPU(pid); err == nil { // it may have ended
			total += time.Duration(used)
		}
	}
	return total
}

// complete adds what the last window tells.
func (a *agent) complete(found *measured) error {
	for _, pid := range processesOf(a.command.Process.Pid) {
		found.resident += fieldOf(pid, "VmRSS:")
	}
	files, err := filepath.Glob(filepath.Join(a.folder, "*", "*.culprit"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("it has written no window")
	}
	path := slices.MaxFunc(files, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
	rec, err := recording.Open(path)
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil {
		found.file = info.Size()
	}
	found.bpf = bpfOf(rec).Seconds() / time.Duration(rec.Manifest.WindowNs).Seconds()
	found.short, found.long = stacksOf(rec)
	stacks := map[int32]bool{}
	for i := range rec.Samples {
		if rec.Samples[i].Stack != recording.NoStack {
			stacks[rec.Samples[i].Pid] = true
		}
	}
	for i := range rec.Processes {
		if one := &rec.Processes[i]; one.StartNs > 0 && one.EndNs > 0 {
			found.came++
			if !stacks[one.Pid] {
				found.alone++
			}
		}
	}
	return nil
}

// printAgents prints a row for each as Markdown.
func printAgents(out io.Writer, all []measured) {
	const columns = 11
	fmt.Fprint(out, "| | own CPU | BPF programs | both | starts a second | resident | came and went ",
		"in the last window | of them without stacks | stacks, broken of short-lived | of others | file |\n|",
		strings.Repeat("---|", columns), "\n")
	for _, one := range all {
		own, seconds := one.cpu.Seconds()/one.length.Seconds(), one.length.Seconds()
		fmt.Fprintf(out, "| %s agent | %.2f %% of a core | %.2f %% | %.2f %% | %.0f | %.0f MB ",
			one.name, 100*own, 100*one.bpf, 100*(own+one.bpf), float64(one.starts)/seconds, float64(one.resident)/1000)
		fmt.Fprintf(out, "| %d | %d | %v | %v | %.0f KB |\n", one.came, one.alone, one.short, one.long,
			float64(one.file)/1000)
	}
	fmt.Fprintf(out, "\nload %s\n", peers.HostLoad())
}
