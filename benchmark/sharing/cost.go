package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"culprit/benchmark/peers"
	"culprit/internal/probe/watchpoint"
	"culprit/internal/stat"
)

// recorderCosts compares a twin's cost of an operation, with and without the recorder, in pairs.
func (o options) recorderCosts(out io.Writer, folder string, languages []*language) error {
	if o.cost == 0 {
		return nil
	}
	fmt.Fprintf(out, "\nCPU time of an operation of the padded twin, two threads, medians of %d pairs\n\n"+
		"| language | alone | recorded at the default rate | by pair |\n|---|---|---|---|\n", o.cost)
	for _, one := range languages {
		var alone, beside, ratios []float64
		program := one.command(padded, 2, 2*time.Second, unbounded)
		file := filepath.Join(folder, "cost.culprit")
		recorder := append([]string{o.culprit, "record", "--force", "-o", file, "--"}, program...)
		for range o.cost {
			if o.stopped() {
				return nil
			}
			without, err := one.costs(program)
			if err != nil {
				return err
			}
			with, err := one.costs(recorder)
			if err != nil {
				return err
			}
			alone, beside, ratios = append(alone, without), append(beside, with), append(ratios, with/without)
		}
		fmt.Fprintf(out, "| %s | %.2f ns | %.2f ns | × %.3f |\n", one.name, stat.Middle(alone), stat.Middle(beside),
			stat.Middle(ratios))
	}
	return nil
}

// eachWatch is how long a thread's losses are counted, with and without a confirmation.
const eachWatch = 150 * time.Millisecond

// mayTake is what all confirmations of a window may take of a thread (watchesCost of
// internal/probe/oncpu).
const mayTake = 500 * time.Microsecond

// confirmationCosts watches threads until they can bear no more, and prints what CPU time they
// lost.
func (o options) confirmationCosts(out io.Writer, folder string) error {
	if o.confirmations == 0 {
		return nil
	}
	if err := compile(folder, "gaps.c", words("gcc -O2 -pthread -o gaps gaps.c")); errors.Is(err, peers.ErrNotHere) {
		fmt.Fprintf(out, "confirmations are left out: %v\n", err)
		return nil
	} else if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nCPU time that a thread loses to all confirmations of a window, of %d pairs: what steps of "+
		"over 8 µs took in %v with them, less what they took without; and what two times without differ by\n\n"+
		"| threads | median | 90 of 100 | most | without: median | 90 of 100 | most |\n|---|---|---|---|---|---|---|\n",
		o.confirmations, eachWatch)
	for _, threads := range []int{2, 4, 8} {
		lost, noise, err := lostToWatches(filepath.Join(folder, "gaps"), threads, o.confirmations)
		if err != nil {
			return err
		}
		slices.Sort(lost)
		slices.Sort(noise)
		fmt.Fprintf(out, "| %d | %.2f ms | %.2f ms | %.2f ms | %.2f ms | %.2f ms | %.2f ms |\n", threads, stat.Middle(lost),
			lost[len(lost)*9/10], lost[len(lost)-1], stat.Middle(noise), noise[len(noise)*9/10], noise[len(noise)-1])
	}
	return nil
}

// watched is a program whose threads tell what they lost.
type watched struct {
	command *exec.Cmd
	asks    io.Writer
	answers *bufio.Scanner
	address uint64
	tids    []int32
}

func lostToWatches(program string, threads, rounds int) (lost, noise []float64, err error) {
	w := &watched{command: exec.Command(program, strconv.Itoa(threads))}
	w.command.SysProcAttr = peers.EndsWithOwner()
	asks, err := w.command.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	answers, err := w.command.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := w.command.Start(); err != nil {
		return nil, nil, fmt.Errorf("start gaps: %w", err)
	}
	defer func() { err = errors.Join(err, asks.Close(), w.command.Wait()) }()
	w.asks, w.answers = asks, bufio.NewScanner(answers)
	if !w.answers.Scan() {
		return nil, nil, errors.New("gaps says nothing")
	}
	if w.address, err = strconv.ParseUint(strings.TrimPrefix(w.answers.Text(), "0x"), 16, 64); err != nil {
		return nil, nil, fmt.Errorf("read the address of gaps: %w", err)
	}
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", w.command.Process.Pid))
	if err != nil {
		return nil, nil, err
	}
	for _, task := range tasks {
		if tid, err := strconv.Atoi(task.Name()); err == nil && tid != w.command.Process.Pid {
			w.tids = append(w.tids, int32(tid))
		}
	}
	for range rounds {
		var ns [3][]int64
		for i, do := range []func() error{idle, w.watch, idle} {
			if ns[i], err = w.lostWhile(do); err != nil {
				return nil, nil, err
			}
		}
		for i := range ns[0] {
			lost = append(lost, float64(ns[1][i]-(ns[0][i]+ns[2][i])/2)/1e6)
			noise = append(noise, float64(ns[2][i]-ns[0][i])/1e6)
		}
	}
	return lost, noise, nil
}

func idle() error { return nil }

// watch confirms until no thread can bear more, as a window of the recorder does.
func (w *watched) watch() error {
	watcher := watchpoint.New(mayTake)
	var threads []watchpoint.Thread
	for i, tid := range w.tids {
		own := watchpoint.Word{Address: w.address + uint64(8*i), Size: 8}
		next := watchpoint.Word{Address: w.address + uint64(8*((i+1)%len(w.tids))), Size: 8}
		threads = append(threads, watchpoint.Thread{Tid: tid, Words: []watchpoint.Word{own, next}})
	}
	for range 20 {
		_, err := watcher.Watch(w.command.Process.Pid, threads)
		if errors.Is(err, watchpoint.ErrSpent) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// lostWhile is what each thread lost in a time in which something is done.
func (w *watched) lostWhile(do func() error) (ns []int64, err error) {
	before, err := w.ask()
	if err != nil {
		return nil, err
	}
	end := time.Now().Add(eachWatch)
	if err := do(); err != nil {
		return nil, err
	}
	time.Sleep(time.Until(end))
	after, err := w.ask()
	if err != nil {
		return nil, err
	}
	for i := range after {
		after[i] -= before[i]
	}
	return after, nil
}

func (w *watched) ask() (ns []int64, err error) {
	if _, err := w.asks.Write([]byte("?")); err != nil {
		return nil, fmt.Errorf("ask gaps: %w", err)
	}
	if !w.answers.Scan() {
		return nil, errors.New("gaps ended")
	}
	for _, field := range strings.Fields(w.answers.Text()) {
		value, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read gaps: %w", err)
		}
		ns = append(ns, value)
	}
	if len(ns) != len(w.tids) {
		return nil, fmt.Errorf("gaps tells of %d threads, not of %d", len(ns), len(w.tids))
	}
	return ns, nil
}
