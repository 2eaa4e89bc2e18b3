package monitor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// pair are two processes of this program on one CPU, in cgroups of their own where those can be
// made.
type pair struct {
	cpu     int
	one     [2]*process
	cgroups [2]*os.File // nil where none could be made
	noGroup error       // why
	made    []string    // folders, to be removed
}

// process is one of them.
type process struct {
	command *exec.Cmd
	orders  io.WriteCloser
	answers *bufio.Scanner
	thread  int
}

// program is what runs Serve: the arguments before the CPU. Tests have their own.
var program = []string{"/proc/self/exe", Verb}

// newPair starts them. They end with this process: the kernel kills them when the thread that
// started them ends, to which the caller is bound until close.
func newPair(ctx context.Context) (p *pair, err error) {
	runtime.LockOSThread()
	p = &pair{}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.cpu, err = firstCPU(); err != nil {
		return nil, err
	}
	p.makeCgroups()
	var there, back [2]int
	if err = unix.Pipe2(there[:], unix.O_CLOEXEC); err != nil {
		return p, fmt.Errorf("make pipe: %w", err)
	}
	if err = unix.Pipe2(back[:], unix.O_CLOEXEC); err != nil {
		return p, fmt.Errorf("make pipe: %w", err)
	}
	ends := []*os.File{os.NewFile(uintptr(there[0]), "pipe"), os.NewFile(uintptr(there[1]), "pipe"),
		os.NewFile(uintptr(back[0]), "pipe"), os.NewFile(uintptr(back[1]), "pipe")}
	defer func() {
		for _, end := range ends {
			end.Close()
		}
	}()
	if p.one[0], err = p.start(ctx, 0, ends[2], ends[1]); err == nil {
		p.one[1], err = p.start(ctx, 1, ends[0], ends[3])
	}
	return p, err
}

// firstCPU is the first that this process may run on.
func firstCPU() (int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0, fmt.Errorf("read CPU affinity: %w", err)
	}
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			return cpu, nil
		}
	}
	return 0, errors.New("read CPU affinity: no CPU")
}

func (p *pair) start(ctx context.Context, number int, in, out *os.File) (*process, error) {
	words := append(append([]string{}, program[1:]...), strconv.Itoa(p.cpu))
	command := exec.CommandContext(ctx, program[0], words...)
	command.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=off")
	command.ExtraFiles, command.Stderr = []*os.File{in, out}, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if group := p.cgroups[number]; group != nil {
		command.SysProcAttr.UseCgroupFD, command.SysProcAttr.CgroupFD = true, int(group.Fd())
	}
	made := &process{command: command}
	orders, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	answers, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start a process to be monitored: %w", err)
	}
	made.orders, made.answers = orders, bufio.NewScanner(answers)
	thread, err := made.answer()
	made.thread = int(thread)
	return made, err
}

func (o *process) order(text string) error {
	_, err := io.WriteString(o.orders, text+"\n")
	return err
}

// answer reads the number that it prints next.
func (o *process) answer() (int64, error) {
	if !o.answers.Scan() {
		return 0, fmt.Errorf("a process to be monitored ended: %w", errors.Join(o.answers.Err(), io.ErrUnexpectedEOF))
	}
	return strconv.ParseInt(strings.TrimSpace(o.answers.Text()), 10, 64)
}

// What is measured, and how often in a round: some 5 ms each.
const (
	switchTurns = 1000 // two switches each
	callTurns   = 15000
	faultTurns  = 3000
)

// measure gives the CPU time of a switch, a call and a fault, in ns.
func (p *pair) measure() (took [3]float64, err error) {
	if err := p.one[1].order(fmt.Sprintf("echo %d", switchTurns)); err != nil {
		return took, err
	}
	for at, order := range []struct {
		what  string
		turns int
	}{{"play", switchTurns}, {"call", callTurns}, {"fault", faultTurns}} {
		if err := p.one[0].order(fmt.Sprintf("%s %d", order.what, order.turns)); err != nil {
			return took, err
		}
		spent, err := p.one[0].answer()
		if err != nil {
			return took, err
		}
		if order.what == "play" {
			other, err := p.one[1].answer()
			if err != nil {
				return took, err
			}
			spent = (spent + other) / 2 // two switches a turn
		}
		took[at] = float64(spent) / float64(order.turns)
	}
	return took, nil
}

// close ends them and removes their cgroups.
func (p *pair) close() {
	for _, one := range p.one {
		if one != nil {
			_ = one.orders.Close() // it ends with its input
			_ = one.command.Wait()
		}
	}
	p.removeCgroups()
	runtime.UnlockOSThread()
}
