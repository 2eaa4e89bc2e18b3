package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// wallRounds is into how many rounds the time of a benchmark by the wall clock is divided.
const wallRounds = 15

// errOneCPU is what benchmarks of two CPUs say where there is one.
var errOneCPU = errors.New("this process may use one CPU only; it takes two")

// allowedCPUs lists the first CPUs that this process may run on, at most so many.
func allowedCPUs(most int) ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("read CPU affinity: %w", err)
	}
	var cpus []int
	for cpu := 0; cpu < 8*len(set)*8 && len(cpus) < most; cpu++ {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// onCPU runs a function on a thread of its own that is held on one CPU meanwhile. The thread gets
// its CPUs back rather than being left to end with its goroutine: the process's first one would not
// end, and stay held for good.
func onCPU(cpu int, run func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		done <- heldOn(cpu, run)
	}()
	return done
}

func heldOn(cpu int, run func() error) error {
	var before, one unix.CPUSet
	one.Set(cpu)
	err := unix.SchedGetaffinity(0, &before)
	if err == nil {
		err = unix.SchedSetaffinity(0, &one)
	}
	if err != nil {
		return fmt.Errorf("hold thread on CPU %d: %w", cpu, err)
	}
	err = run()
	if failed := unix.SchedSetaffinity(0, &before); err == nil && failed != nil {
		err = fmt.Errorf("let thread go from CPU %d: %w", cpu, failed)
	}
	return err
}

// pipePair are the two pipes of a ping-pong.
type pipePair struct{ there, back [2]int }

func newPipePair() (*pipePair, error) {
	p := &pipePair{}
	if err := unix.Pipe2(p.there[:], unix.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	if err := unix.Pipe2(p.back[:], unix.O_CLOEXEC); err != nil {
		_ = unix.Close(p.there[0])
		_ = unix.Close(p.there[1])
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	return p, nil
}

// hangUp ends the other side's waiting: it then reads the end of the pipe.
func (p *pipePair) hangUp() { _ = unix.Close(p.there[1]) }

func (p *pipePair) close() {
	for _, descriptor := range []int{p.there[0], p.back[0], p.back[1]} {
		_ = unix.Close(descriptor)
	}
}

// echo sends back what comes until the other side hangs up, and returns its CPU time for each
// message.
func (p *pipePair) echo(cpuNs *float64) error {
	var one [1]byte
	start, err := threadCPUNs()
	for count := 0; err == nil; count++ {
		n, failed := unix.Read(p.there[0], one[:])
		if n == 0 && failed == nil {
			end, err := threadCPUNs()
			*cpuNs = float64(end-start) / float64(max(1, count))
			return err
		}
		if err = failed; err == nil {
			_, err = unix.Write(p.back[1], one[:])
		}
	}
	return fmt.Errorf("echo over pipe: %w", err)
}

// pingPong measures one way of a message between two threads: half of a round trip.
func pingPong(ctx context.Context, s Settings, here, there int) (*measurement, error) {
	pipes, err := newPipePair()
	if err != nil {
		return nil, err
	}
	defer pipes.close()
	m := &measurement{}
	var otherCPU float64
	other := onCPU(there, func() error { return pipes.echo(&otherCPU) })
	err = <-onCPU(here, func() error {
		defer pipes.hangUp()
		return m.volley(ctx, s, pipes)
	})
	if echoed := <-other; err == nil {
		err = echoed
	}
	if err != nil {
		return nil, err
	}
	for i := range m.cpu {
		m.cpu[i] = (m.cpu[i] + otherCPU) / 2 // of both threads, for one way of two
	}
	return m, nil
}

// volley plays rounds of messages there and back.
func (m *measurement) volley(ctx context.Context, s Settings, pipes *pipePair) error {
	var one [1]byte
	var before, after unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &before); err != nil {
		return fmt.Errorf("read switches: %w", err)
	}
	trips := 0
	for range wallRounds {
		startCPU, err := threadCPUNs()
		if err != nil {
			return err
		}
		count, start := 0, time.Now()
		for end := start.Add(s.Time / wallRounds); count == 0 || time.Now().Before(end); count++ {
			if _, err := unix.Write(pipes.there[1], one[:]); err != nil {
				return fmt.Errorf("write to pipe: %w", err)
			}
			if _, err := unix.Read(pipes.back[0], one[:]); err != nil {
				return fmt.Errorf("read from pipe: %w", err)
			}
		}
		spent := time.Since(start)
		endCPU, err := threadCPUNs()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		m.rounds = append(m.rounds, float64(spent.Nanoseconds())/float64(count)/2)
		m.cpu = append(m.cpu, float64(endCPU-startCPU)/float64(count))
		trips += count
	}
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &after); err != nil {
		return fmt.Errorf("read switches: %w", err)
	}
	m.path = append(m.path, fmt.Sprintf("the kernel counted %.2f context switches of the sender for each round trip",
		float64(after.Nvcsw-before.Nvcsw+after.Nivcsw-before.Nivcsw)/float64(trips)),
		"a write and a read of one byte are part of it")
	return nil
}

func switchPipe(ctx context.Context, s Settings) (*measurement, error) {
	cpus, err := allowedCPUs(1)
	if err != nil {
		return nil, err
	}
	m, err := pingPong(ctx, s, cpus[0], cpus[0])
	if err != nil {
		return nil, err
	}
	// On one CPU what both use is all that it costs; waiting would count strangers in.
	m.rounds, m.cpu = m.cpu, nil
	return m, nil
}

func wakeCross(ctx context.Context, s Settings) (*measurement, error) {
	cpus, err := allowedCPUs(2)
	if err != nil {
		return nil, err
	}
	if len(cpus) < 2 {
		return nil, errOneCPU
	}
	return pingPong(ctx, s, cpus[0], cpus[1])
}

// sleepLength is what timerSleep asks for.
const sleepLength = time.Millisecond

// timerSleep asks for one millisecond and looks how much later it comes back.
func timerSleep(ctx context.Context, s Settings) (*measurement, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	m := &measurement{}
	asked := unix.NsecToTimespec(sleepLength.Nanoseconds())
	sleeps := max(1, int(s.Time/(wallRounds*(sleepLength+sleepLength/10))))
	for range wallRounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		startCPU, err := threadCPUNs()
		if err != nil {
			return nil, err
		}
		start := time.Now()
		for range sleeps {
			if err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &asked, nil); err != nil && err != unix.EINTR {
				return nil, fmt.Errorf("sleep: %w", err)
			}
		}
		spent := time.Since(start)
		endCPU, err := threadCPUNs()
		if err != nil {
			return nil, err
		}
		m.rounds = append(m.rounds, float64(spent.Nanoseconds())/float64(sleeps)-float64(sleepLength.Nanoseconds()))
		m.cpu = append(m.cpu, float64(endCPU-startCPU)/float64(sleeps))
	}
	if slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err == nil {
		m.path = append(m.path, fmt.Sprintf("the thread's timer slack of %v is part of it", time.Duration(slack)))
	}
	return m, nil
}

// together runs two functions on two CPUs and waits for both.
func together(cpus []int, first, second func() error) error {
	one, two := onCPU(cpus[0], first), onCPU(cpus[1], second)
	return errors.Join(<-one, <-two)
}
