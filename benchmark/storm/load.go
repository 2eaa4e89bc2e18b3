package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	sleepers    = 300
	wakers      = 4000 // threads
	wakesEach   = 5    // a second
	mostAtATime = 24   // processes of the storm
)

// startLoad has the host do what the plan says until stop is called.
func startLoad(p plan, folder string) (stop func(), err error) {
	self, err := os.Executable() // not by /proc: chrt comes between
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var going sync.WaitGroup
	stop = func() {
		cancel()
		going.Wait()
	}
	switch p.load {
	case "none":
	case "storm":
		going.Go(func() { _ = idle(ctx, self, childVerb, "storm", strconv.Itoa(p.starts), folder).Run() })
	case "sleepers":
		for range sleepers {
			going.Go(func() { _ = idle(ctx, "sleep", "3600").Run() }) // ends with ctx
		}
	case "wakers":
		going.Go(func() { _ = idle(ctx, self, childVerb, "wakers", strconv.Itoa(wakers), folder).Run() })
	default:
		cancel()
		return nil, fmt.Errorf("no load is called %s; see -h", p.load)
	}
	time.Sleep(time.Second) // until it goes on as it will
	return stop, nil
}

// idle is a command below everybody else on the host. The kernel ends it with this program.
func idle(ctx context.Context, words ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "chrt", append([]string{"-i", "0", "nice", "-n", "19"}, words...)...)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return command
}

// childVerb is the hidden word under which this program is a part of the load.
const childVerb = "child"

// child is a load in a process of its own, which the owner ends.
func child(load, count, folder string) error {
	number, err := strconv.Atoi(count)
	if err != nil {
		return fmt.Errorf("read %q: %w", count, err)
	}
	if load == "wakers" {
		return syscall.Exec("/usr/bin/env", []string{"env", "python3", "-c", fmt.Sprintf(wakingThreads, number,
			1.0/wakesEach)}, os.Environ())
	}
	s, err := prepareStorm(folder)
	if err != nil {
		return err
	}
	return s.blow(number)
}

// wakingThreads has so many threads sleep for so many seconds again and again.
const wakingThreads = `
import threading, time
threads, pause = %d, %f
def wake(late):
    time.sleep(late)
    while True:
        time.sleep(pause)
threading.stack_size(65536)
for i in range(threads):
    threading.Thread(target=wake, args=(i * pause / threads,), daemon=True).start()
time.sleep(1e6)
`

// storm starts processes of always different programs.
type storm struct {
	folder  string
	program []byte // a small one, copied again and again under other names and with another content
}

func prepareStorm(folder string) (*storm, error) {
	path, err := exec.LookPath("true")
	if err != nil {
		return nil, err
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return &storm{folder: folder, program: program}, nil
}

// kinds of programs, with how many of a hundred they are.
var kinds = []struct {
	share int
	make  func(s *storm, number int) *exec.Cmd
}{
	{35, (*storm).shell},
	{30, (*storm).plain},
	{20, (*storm).fresh},
	{7, (*storm).python},
	{5, (*storm).perl},
	{3, (*storm).compiler},
}

// blow starts processes at a rate, fewer where the host does not keep up. It returns only when it
// cannot go on.
func (s *storm) blow(perSecond int) error {
	places := make(chan struct{}, mostAtATime)
	number := 0
	for range time.Tick(time.Second / time.Duration(perSecond)) {
		command, file := s.next(number), s.file(number)
		number++
		places <- struct{}{}
		go func() {
			_ = command.Run()   // how it ends does not matter
			_ = os.Remove(file) // most have none
			<-places
		}()
	}
	return nil
}

// next is the process with this number.
func (s *storm) next(number int) *exec.Cmd {
	chosen := rand.IntN(100)
	for _, kind := range kinds {
		if chosen -= kind.share; chosen < 0 {
			return kind.make(s, number)
		}
	}
	return s.plain(number)
}

func (s *storm) file(number int) string {
	return filepath.Join(s.folder, fmt.Sprintf("made%d", number))
}

// shell starts one to four processes.
func (s *storm) shell(number int) *exec.Cmd {
	scripts := []string{
		`x=$((%d * 7)); [ $x -gt 100 ] && echo $x > /dev/null`,
		`echo %d | cat | wc -c > /dev/null`,
		`for i in 1 2 3 %d; do :; done; ls / > /dev/null`,
		`y=$(echo %d | sed s/1/2/); test -n "$y"`,
	}
	return exec.Command("sh", "-c", fmt.Sprintf(scripts[number%len(scripts)], number))
}

func (s *storm) plain(number int) *exec.Cmd {
	commands := [][]string{{"true"}, {"id"}, {"date"}, {"cat", "/proc/self/stat"}, {"ls", "/usr/lib"},
		{"expr", strconv.Itoa(number), "+", "1"}, {"uname", "-a"}, {"head", "-c", "2000", "/dev/zero"}}
	words := commands[number%len(commands)]
	return exec.Command(words[0], words[1:]...)
}

// fresh is a program that was never there before, as those that tests run: its content is another
// each time.
func (s *storm) fresh(number int) *exec.Cmd {
	path := s.file(number)
	content := fmt.Appendf(append([]byte{}, s.program...), "number %d of process %d", number, os.Getpid())
	if err := os.WriteFile(path, content, 0o700); err != nil {
		return exec.Command("true")
	}
	return exec.Command(path)
}

func (s *storm) python(number int) *exec.Cmd {
	return exec.Command("python3", "-I", "-S", "-c", fmt.Sprintf("print(sum(range(%d)))", number))
}

func (s *storm) perl(number int) *exec.Cmd {
	return exec.Command("perl", "-e", fmt.Sprintf("my $x = 0; $x += $_ for 1..%d; print $x", number))
}

// compiler starts gcc, its compiler proper and the assembler.
func (s *storm) compiler(number int) *exec.Cmd {
	script := fmt.Sprintf(`printf 'int f%d(int x) { int s = 0; while (x--) s += x * %d; return s; }' |
		gcc -O1 -g -x c -c -o %s -`, number, number, s.file(number))
	return exec.Command("sh", "-c", script)
}
