package main

import (
	"bufio"
	"culprit/benchmark/peers"
	"culprit/internal/stat"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// workerVerb is the hidden word under which this program is a worker.
const workerVerb = "worker"

// load is what a worker does again and again.
type load struct {
	name, title string
	operations  int // per stretch of measuring
	lasts       time.Duration
	settings    []setting
	prepare     func() (operate func(count int) error, err error)
	java        string // the source of a worker in Java, in place of prepare
}

// How long one setting is measured in a round. What costs at every call shows in half a second.
// What costs at each sample needs stretches with some ten samples each, and enough of them.
const (
	quick = 500 * time.Millisecond
	slow  = 4 * time.Second
)

//go:embed Busy.java
var busyJava string

var loads = []load{
	{"getppid", "getppid, CPU time per call", 2_000, quick, callSettings, prepareCalls, ""},
	{"pingpong", "two threads on one CPU wake each other through pipes, CPU time per round trip " +
		"(2 switches, 4 calls)", 500, quick, switchSettings, preparePingPong, ""},
	{"spin", "two busy threads of native code, CPU time per thousand steps", 30_000, slow, busySettings, prepareSpin,
		""},
	{"java", "two busy threads of Java, CPU time per thousand steps", 30_000, slow, busySettings, nil, busyJava},
}

// stretch is one measurement of a worker: a time and the CPU ns per operation in it.
type stretch struct {
	start, end   time.Time
	perOperation float64
}

// work is the worker's process: it prints a stretch after the other until its input ends.
func work(name string) {
	for _, l := range loads {
		if l.name != name || l.prepare == nil {
			continue
		}
		fmt.Fprintln(os.Stderr, "worker:", l.work(os.Stdout)) // returns only when it cannot go on
		os.Exit(2)
	}
	os.Exit(2)
}

func (l load) work(out io.Writer) error {
	debug.SetGCPercent(-1) // threads that block in raw system calls cannot be stopped for it
	runtime.GOMAXPROCS(4)
	runtime.LockOSThread()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the owner
		os.Exit(0)
	}()
	operate, err := l.prepare()
	if err != nil {
		return err
	}
	var before, after unix.Timespec
	for {
		start := time.Now()
		if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &before); err != nil {
			return err
		}
		if err := operate(l.operations); err != nil {
			return err
		}
		if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &after); err != nil {
			return err
		}
		cpu := float64(after.Nano()-before.Nano()) / float64(l.operations)
		if _, err := fmt.Fprintln(out, start.UnixNano(), time.Now().UnixNano(), cpu); err != nil {
			return err
		}
	}
}

func prepareCalls() (func(int) error, error) {
	return func(count int) error {
		for range count {
			if _, _, errno := unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0); errno != 0 {
				return errno
			}
		}
		return nil
	}, pin()
}

func preparePingPong() (func(int) error, error) {
	var there, back [2]int
	if err := errors.Join(unix.Pipe(there[:]), unix.Pipe(back[:])); err != nil {
		return nil, err
	}
	go func() {
		runtime.LockOSThread()
		_ = pin() // the other one's error is the same
		for pass(back[1], there[0], true) == nil {
		}
	}()
	return func(count int) error {
		for range count {
			if err := pass(there[1], back[0], false); err != nil {
				return err
			}
		}
		return nil
	}, pin()
}

// prepareSpin has two threads compute, each as many steps as the other.
func prepareSpin() (func(int) error, error) {
	ask, done := make(chan int), make(chan uint64)
	go func() {
		runtime.LockOSThread()
		for count := range ask {
			done <- compute(count)
		}
	}()
	return func(count int) error {
		ask <- count
		if compute(count) == 0 || <-done == 0 {
			return errors.New("the sum is 0")
		}
		return nil
	}, nil
}

// compute makes count thousand steps that the compiler cannot leave out.
func compute(count int) uint64 {
	sum := uint64(88172645463325252)
	for range count * 1000 {
		sum ^= sum << 13
		sum ^= sum >> 7
		sum ^= sum << 17
	}
	return sum
}

// pass writes a byte and reads one, or reads first.
func pass(to, from int, readFirst bool) error {
	var x [1]byte
	read := func() error { return raw(unix.SYS_READ, from, &x[0]) }
	write := func() error { return raw(unix.SYS_WRITE, to, &x[0]) }
	if readFirst {
		return errors.Join(read(), write())
	}
	return errors.Join(write(), read())
}

// pin keeps this thread on the last CPU that it may use.
func pin() error {
	var allowed, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return fmt.Errorf("pin: %w", err)
	}
	last := 0
	for cpu := range 1024 {
		if allowed.IsSet(cpu) {
			last = cpu
		}
	}
	one.Set(last)
	return unix.SchedSetaffinity(0, &one)
}

// worker is the owner's end of a worker process.
type worker struct {
	command *exec.Cmd
	input   io.Closer

	mu        sync.Mutex
	stretches []stretch
}

// warmUp is how long Java gets to compile what it runs.
const warmUp = 3 * time.Second

// startWorker starts one in a process of its own; peers.ErrNotHere where the host has no Java for
// it.
func startWorker(l load, folder string) (*worker, error) {
	w := &worker{command: exec.Command("/proc/self/exe", workerVerb, l.name)}
	if l.java != "" {
		if err := compileJava(l.java, folder); err != nil {
			return nil, err
		}
		w.command = exec.Command("java", "-Xmx64m", "-XX:+UseSerialGC", "-cp", folder, "Busy")
		defer time.Sleep(warmUp)
	}
	w.command.SysProcAttr = peers.EndsWithOwner()
	w.command.Stderr = os.Stderr
	input, err := w.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	w.input = input
	out, err := w.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.command.Start(); err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	go w.listen(out)
	return w, nil
}

func compileJava(text, folder string) error {
	if _, err := exec.LookPath("javac"); err != nil {
		return fmt.Errorf("a worker in Java %w: no JDK", peers.ErrNotHere)
	}
	source := filepath.Join(folder, "Busy.java")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the worker in Java: %w", err)
	}
	if said, err := exec.Command("javac", "-d", folder, source).CombinedOutput(); err != nil {
		return fmt.Errorf("compile the worker in Java: %w: %s", err, peers.FirstLine(string(said)))
	}
	return nil
}

func (w *worker) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var start, end int64
		var s stretch
		if _, err := fmt.Sscan(lines.Text(), &start, &end, &s.perOperation); err != nil {
			continue
		}
		s.start, s.end = time.Unix(0, start), time.Unix(0, end)
		w.mu.Lock()
		w.stretches = append(w.stretches, s)
		w.mu.Unlock()
	}
}

// between is the median over the stretches that lie within a time.
func (w *worker) between(start, end time.Time) (float64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var values []float64
	for _, s := range w.stretches {
		if s.start.After(start) && s.end.Before(end) {
			values = append(values, s.perOperation)
		}
	}
	if len(values) < 3 {
		return 0, fmt.Errorf("only %d stretches were measured: the host is too busy", len(values))
	}
	w.stretches = nil
	return stat.Middle(values), nil
}

func (w *worker) end() {
	w.input.Close()
	_ = w.command.Wait() // how it ended does not matter
}
