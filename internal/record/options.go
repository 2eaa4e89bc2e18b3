// Package record makes recordings: it runs the probes over a window of time and
// turns what they saw into a recording.Recording.
//
// The recorder is a process of its own, loaded once and used for many windows:
//
//	recorder, err := record.Start(ctx, record.Options{Hz: 99})
//	defer recorder.Close()
//	err = recorder.Begin(record.Target{Pid: pid})
//	…the target runs…
//	summary, err := recorder.End(record.Finish{Path: "a.culprit"})
//
// A process of its own because the unwinder may need a seccomp filter that
// children inherit and pay for, because a crash of it must not take the
// experiment along, and because its CPU time is then its own in every account.
// When it dies, the kernel detaches all its probes.
//
// It refuses to start where BPF is not permitted: the error wraps
// ErrNotSupported and says what is missing.
package record

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// ErrNotSupported is wrapped by errors that say that this host, or this user, cannot record.
var ErrNotSupported = bpf.ErrNotSupported

// Options are the plan of a recorder. The zero value of a field means its default.
type Options struct {
	Hz     int           `json:"hz"`     // on-CPU samples per second and CPU; default 99
	Wait   time.Duration `json:"wait"`   // keep stays off the CPU whole from here on; default 1 ms
	Unwind time.Duration `json:"unwind"` // at most about one off-CPU stack in this time per thread; default 10 ms
	Slice  time.Duration `json:"slice"`  // time resolution of samples; default 50 ms
	// Poll is how often stacks are fetched, default 50 ms. Interpreted frames are named by
	// reading the live process: a long pause loses the names of a short one.
	Poll      time.Duration `json:"poll"`
	WholeHost bool          `json:"whole_host"` // every process is the target
	RunTimes  []string      `json:"run_times"`  // whose unwinders are loaded at once, by unwind.RunTimeOf
	NoCalls   bool          `json:"no_calls"`   // leave the system calls out
	Light     bool          `json:"light"`      // only what costs next to nothing: see lightProbes
	// Forever: the recorder stays for as long as the host runs. What is looked at every second is
	// looked at every ten, a new process once it has lived for up to a second.
	Forever  bool   `json:"forever,omitempty"`
	Program  string `json:"program"`  // name and version for the manifest
	Requests bool   `json:"requests"` // follow the requests of services
	// Over is from when on a request is slow; 0: when it is among the Worst share of its kind,
	// default 1 %.
	Over  time.Duration `json:"over"`
	Worst float64       `json:"worst"`
	// ByCalls has requests followed by system calls, as on kernels without hooks on sockets: for
	// tests.
	ByCalls bool `json:"by_calls,omitempty"`
	// WalkFiles has sockets found by open files, as on kernels that refuse walks over maps: for
	// tests.
	WalkFiles bool `json:"walk_files,omitempty"`
	// MemoryBy is an event that stands for a processor's samples of memory: for tests.
	MemoryBy string `json:"memory_by,omitempty"`
	// Counters are events to count for the target, in the syntax of `culprit count`; "": none.
	Counters string `json:"counters,omitempty"`
	// CPI samples stacks by cycles and by instructions as well.
	CPI bool `json:"cpi,omitempty"`
	// Confirm has debug registers watch the cache lines that threads seem to share: a millisecond
	// of each thread.
	Confirm bool `json:"confirm,omitempty"`
	// Allocations remembers where heap blocks are allocated, for words of shared cache lines.
	Allocations bool `json:"allocations,omitempty"`
	// Labels are what the recording is called by, for its manifest.
	Labels map[string]string `json:"labels,omitempty"`
}

// MaxHz bounds the rate: at 18 µs per sample in the kernel more would disturb what it measures.
const MaxHz = 4999

// Normal fills in the defaults; an error names the option that makes no sense.
func (o Options) Normal() (Options, error) {
	if o.Hz == 0 {
		o.Hz = 99
	}
	if o.Worst == 0 {
		o.Worst = 0.01
	}
	if o.Worst < 0 || o.Worst > 0.5 || o.Over < 0 {
		return o, fmt.Errorf("call the worst %g of requests, or those over %v, slow: give a share up to 0.5, or a time",
			o.Worst, o.Over)
	}
	if len(o.Labels) > recording.MaxLabels {
		return o, fmt.Errorf("%d labels; give at most %d", len(o.Labels), recording.MaxLabels)
	}
	if o.Hz < 0 || o.Hz > MaxHz {
		return o, fmt.Errorf("sample at %d Hz: give a rate between 1 and %d", o.Hz, MaxHz)
	}
	for _, setting := range []struct {
		value    *time.Duration
		standard time.Duration
		name     string
	}{{&o.Wait, time.Millisecond, "wait"}, {&o.Unwind, 10 * time.Millisecond, "unwind"},
		{&o.Slice, 50 * time.Millisecond, "slice"}, {&o.Poll, 50 * time.Millisecond, "poll"}} {
		if *setting.value < 0 {
			return o, fmt.Errorf("record with %s %v: give a positive duration", setting.name, *setting.value)
		}
		if *setting.value == 0 {
			*setting.value = setting.standard
		}
	}
	return o, nil
}

// Target is what a window is about.
type Target struct {
	Kind    string `json:"kind"` // "command", "pid", "cgroup" or "host"
	Pid     int    `json:"pid,omitempty"`
	Cgroup  string `json:"cgroup,omitempty"` // directory below /sys/fs/cgroup
	Command string `json:"command,omitempty"`
	// Named is how it was asked for, "port:8080"; see ParseTarget.
	Named string `json:"named,omitempty"`

	// A recording can be made of several windows, its parts. Resume: this one goes on with what was
	// followed at the end of the one before, wherever it is now; Gap says why there was an end.
	// Without are probes to leave off from here on; Hz, when it is not 0, the rate of samples from
	// here on.
	Resume  bool     `json:"resume,omitempty"`
	Gap     string   `json:"gap,omitempty"`
	Without []string `json:"without,omitempty"`
	Hz      int      `json:"hz,omitempty"`
	// Share of the time for which requests are watched from here on, in slices; 0: all of it.
	Share float64 `json:"share,omitempty"`
	// Salvage is the file to write when the owner dies before it has ended the window; "": none.
	Salvage string `json:"salvage,omitempty"`
}

// String names the target in errors.
func (t Target) String() string {
	switch {
	case t.Kind == "command":
		return fmt.Sprintf("command %q (process %d)", t.Command, t.Pid)
	case t.Named != "" && t.Pid > 0 && !strings.HasPrefix(t.Named, namedPid):
		return fmt.Sprintf("%s (process %d)", t.Named, t.Pid)
	case t.Named != "":
		return t.Named
	case t.Cgroup != "":
		return fmt.Sprintf("cgroup %s", t.Cgroup)
	case t.Pid > 0:
		return fmt.Sprintf("process %d", t.Pid)
	}
	return "the host"
}

// Finish says what to do with a window that has ended.
type Finish struct {
	Path    string             `json:"path"`              // file to write
	Metrics map[string]float64 `json:"metrics"`           // what the caller measured of the window
	Drop    bool               `json:"drop"`              // write nothing
	Part    bool               `json:"part"`              // more is to come: naming is kept short
	GoesOn  bool               `json:"goes_on,omitempty"` // the next window follows at once
	// Thinned and Check are for the manifest: what was given up before this window, and what
	// recording did to the target.
	Thinned []recording.Thinning `json:"thinned,omitempty"`
	Check   *recording.SelfCheck `json:"check,omitempty"`
	// Restarts of the target, by the time since this window began.
	Restarts []recording.Restart `json:"restarts,omitempty"`
}

// Summary is what a finished window looked like.
type Summary struct {
	Samples int              `json:"samples"` // on-CPU samples of the target
	Waits   int              `json:"waits"`
	Broken  int              `json:"broken"` // samples whose stack did not reach its root
	Losses  []recording.Loss `json:"losses"`
	Cost    recording.Cost   `json:"cost"`
	// Off are the probes that did not run, and why.
	Off       []recording.ProbeStatus `json:"off,omitempty"`
	Unseen    []recording.BlindSpot   `json:"unseen"`
	WindowNs  int64                   `json:"window_ns"`
	Gaps      []recording.Gap         `json:"gaps,omitempty"`
	Thinned   []recording.Thinning    `json:"thinned,omitempty"`
	Throttled []Throttled             `json:"throttled,omitempty"` // by limits of I/O
	Restarts  []recording.Restart     `json:"restarts,omitempty"`  // of the service
	// Ended: the process that was named by its id, and all that it started, ended before the time
	// was up; or the service did, and did not come back.
	Ended bool `json:"ended,omitempty"`
	// RunTimes are those whose first process came up within the window: its first stacks have no
	// frames of it.
	RunTimes []string `json:"run_times,omitempty"`
}

// ErrGone is wrapped by the error of a window whose target has ended.
var ErrGone = errors.New("it has ended")

// errClosed is returned by calls on a recorder that has ended.
var errClosed = errors.New("the recorder has ended")
