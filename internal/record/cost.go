package record

import (
	"maps"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"culprit/internal/probe/bpf"
)

// The kernel's account of BPF run time costs two clock reads at every run of every program of the
// host, and switching it on interrupts every CPU, for code of the kernel is patched. It is
// therefore on for costSample in costEvery, after costSoon samples in costSeldom unless somebody
// asks for them, and what it showed is scaled to the whole window.
const (
	costSample = 50 * time.Millisecond
	costEvery  = time.Second
	costSoon   = 10
	costSeldom = 5 * time.Second
)

// costAsked is how long a sample that was asked for has the next ones taken at the first pace: who
// keeps to a budget asks once a second.
const costAsked = 3 * time.Second

// costMeter samples what the recorder's own programs take while a window is open.
type costMeter struct {
	every    time.Duration
	programs []bpf.OwnProgram
	done     chan struct{}
	ended    chan struct{}
	taken    map[string]int64 // by program, while the account was on
	sampled  time.Duration
	latest   chan load     // what the last sample showed; holds one
	asked    atomic.Int64  // when it was asked for, as Unix time in ns
	slices   *slicesOf     // a probe that is attached in slices of time; nil: none is
	attached time.Duration // of sampled, while it was
}

// slicesOf is a probe that is attached in slices of time. What it costs is measured while it is.
type slicesOf struct {
	probe    string
	share    float64                                         // of the time
	watching func() (slice int64, attachedFor time.Duration) // 0: none is
	// rates are the seconds per second that its programs took when they were last seen attached,
	// from window to window.
	rates map[string]float64
}

// load is what recording takes, in seconds of CPU per second.
type load struct {
	BPF map[string]float64 `json:"bpf"` // by probe
	CPU float64            `json:"cpu"` // of the recorder's process, since the sample before
}

// meterCost begins to sample.
func meterCost(programs []bpf.OwnProgram, every time.Duration, slices *slicesOf) *costMeter {
	m := &costMeter{every: every, programs: programs, done: make(chan struct{}), ended: make(chan struct{}),
		taken: map[string]int64{}, latest: make(chan load, 1), slices: slices}
	go m.run()
	return m
}

func (m *costMeter) run() {
	defer close(m.ended)
	beganAt, cpu := time.Now(), ownCPU()
	for taken := 1; ; taken++ {
		byProbe, on := m.sample()
		if !on {
			return // not permitted, or a kernel before 5.8
		}
		stopped := !pause(m.done, m.pauseAfter(taken, time.Now())-costSample)
		now, used := time.Now(), ownCPU()
		m.tell(load{BPF: byProbe, CPU: float64(used-cpu) / float64(now.Sub(beganAt))})
		if stopped {
			return
		}
		beganAt, cpu = now, used
	}
}

// pauseAfter lies between the beginnings of two samples, when so many have been taken.
func (m *costMeter) pauseAfter(taken int, now time.Time) time.Duration {
	if taken < costSoon || now.Sub(time.Unix(0, m.asked.Load())) < costAsked {
		return m.every
	}
	return max(m.every, costSeldom)
}

// sample switches the account on for a moment and adds what it showed, in seconds per second by
// probe.
func (m *costMeter) sample() (byProbe map[string]float64, on bool) {
	account, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
	if err != nil {
		return nil, false
	}
	defer account.Close()
	slice := m.slice()
	before := m.runTimes()
	beganAt := time.Now()
	pause(m.done, costSample)
	length := time.Since(beganAt)
	after := m.runTimes()
	whole := slice > 0 && m.slice() == slice // attached from begin to end
	byProbe = map[string]float64{}
	for i, program := range m.programs {
		name, rate := program.Probe+"/"+program.Name, float64(after[i]-before[i])/float64(length)
		if m.slices != nil && program.Probe == m.slices.probe {
			if whole {
				m.slices.rates[name] = rate
				m.taken[name] += after[i] - before[i]
			}
			byProbe[program.Probe] += m.slices.rates[name] * m.slices.share
			continue
		}
		m.taken[name] += after[i] - before[i]
		byProbe[program.Probe] += rate
	}
	if m.sampled += length; whole {
		m.attached += length
	}
	return byProbe, true
}

// slice is the number of the one that is watched now; 0: none is.
func (m *costMeter) slice() int64 {
	if m.slices == nil {
		return 0
	}
	number, _ := m.slices.watching()
	return number
}

func (m *costMeter) runTimes() []int64 {
	times := make([]int64, len(m.programs))
	for i, program := range m.programs {
		if stats, err := program.Program.Stats(); err == nil {
			times[i] = int64(stats.Runtime)
		}
	}
	return times
}

// tell replaces the last load.
func (m *costMeter) tell(now load) {
	select {
	case <-m.latest:
	default:
	}
	m.latest <- now
}

// last is the load that the last sample showed, nil when none was taken since it was asked for
// before.
func (m *costMeter) last() *load {
	m.asked.Store(time.Now().UnixNano())
	select {
	case latest := <-m.latest:
		return &latest
	default:
		return nil
	}
}

// stop ends the sampling and returns the run time of every program that ran, scaled to the window.
func (m *costMeter) stop(window time.Duration) (perProgram map[string]int64, sampled time.Duration) {
	close(m.done)
	<-m.ended
	if m.sampled <= 0 {
		return nil, 0
	}
	scale := max(1, float64(window)/float64(m.sampled))
	for i := range m.programs {
		program := &m.programs[i]
		name := program.Probe + "/" + program.Name
		if m.slices != nil && program.Probe == m.slices.probe {
			m.taken[name] = m.inSlices(name)
			continue
		}
		m.taken[name] = int64(float64(m.taken[name]) * scale)
	}
	maps.DeleteFunc(m.taken, func(_ string, ns int64) bool { return ns == 0 })
	return m.taken, m.sampled
}

// inSlices is what a program took in all slices in which it was attached: at the rate that was seen
// while it was, in this window, or in the one before where no sample met a slice.
func (m *costMeter) inSlices(name string) int64 {
	_, attachedFor := m.slices.watching()
	if m.attached > 0 {
		return int64(float64(m.taken[name]) / float64(m.attached) * float64(attachedFor))
	}
	return int64(m.slices.rates[name] * float64(attachedFor))
}

// ownCPU is the CPU time of this process so far.
func ownCPU() int64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
