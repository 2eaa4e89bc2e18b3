// Package window is what agents and hubs agree on: a window of one host, which is a recording (a
// .culprit file) with a manifest beside it, the form in which both are sent, and the hub's answer.
//
// The content id of a window is the SHA-256 of its recording's bytes in hexadecimal digits. A hub
// keeps one window for each id, however often it is sent, so an agent sends a window until it is
// acknowledged and never changes a manifest that was sent once.
//
//	id, size, err := window.ContentID(file)
//	w := window.Window{Schema: window.Schema, Content: id, Bytes: size, Host: "web-17", …}
//	body, err := w.Body(file) // PUT https://hub/v1/windows/ID
//
// On disk the manifest of web.culprit is web.window.json. Everything that is read here comes from
// others: it refuses manifests that are too large, times that make no window, names with control
// characters, and numbers that no host can have.
package window

import (
	"time"
)

// Schema is written into every manifest. Readers accept it and all earlier ones.
const Schema = 1

// The ends of the names of a window's two files.
const (
	RecordingSuffix = ".culprit"
	ManifestSuffix  = ".window.json"
)

// The kinds of windows.
const (
	Light = "light" // few samples a second and the numbers of host and cgroups, all the time
	Full  = "full"  // every probe, now and then or because somebody asked
)

// Window is the manifest: of which host, services and time a recording is.
type Window struct {
	Schema  int    `json:"schema"`
	Content string `json:"content"` // SHA-256 of the recording, 64 hexadecimal digits
	Bytes   int64  `json:"bytes"`   // of the recording
	Kind    string `json:"kind"`    // Light or Full
	// Host is the name that stays with the host; two hosts of one tenant have different ones.
	Host string `json:"host"`
	// Boot is the kernel's boot id, Sequence counts the windows that the agent began in its life: a
	// number that is missing at the hub is a window that is on its way or was dropped.
	Boot     string `json:"boot,omitempty"`
	Sequence int64  `json:"sequence,omitempty"`
	// Labels are the host's: zone, instance type, what --label says.
	Labels map[string]string `json:"labels,omitempty"`
	// Start and End are by the host's clock. LengthNs is by its monotonic clock: it stays right
	// when the clock was set in between.
	Start    time.Time `json:"start"`
	End      time.Time `json:"end"`
	LengthNs int64     `json:"length_ns"`
	Cost     Cost      `json:"cost"`
	// Dropped counts windows that the agent gave up for lack of space since the one before this.
	Dropped int64 `json:"dropped,omitempty"`
	// Why says what a full window was recorded for: "asked by the hub", "web left its band".
	Why string `json:"why,omitempty"`
	// Services are what ran on the host, each with its own exact account.
	Services []Service `json:"services"`
}

// Service is one service of a window: a systemd unit, a container's or pod's cgroup, or an
// executable.
type Service struct {
	Name string `json:"name"`
	// Version is "" where none is known; VersionFrom says what it was read from: "label", "image",
	// "package", "build id".
	Version     string `json:"version,omitempty"`
	VersionFrom string `json:"version_from,omitempty"`
	Cgroup      string `json:"cgroup,omitempty"`
	// Labels of the service alone, added to those of the host and before them.
	Labels map[string]string `json:"labels,omitempty"`
	// Started is when the oldest of its processes that live was started; the zero time where that
	// is not known. With Process, "4711", it tells one life of the service from the next.
	Started time.Time `json:"started,omitzero"`
	Process string    `json:"process,omitempty"`
	// CPUNs is the scheduler's or the cgroup's exact account, not a sum of samples.
	CPUNs int64 `json:"cpu_ns"`
	// Requests that it answered, and the sum of their latencies; nil where they were not seen.
	Requests  *int64 `json:"requests,omitempty"`
	LatencyNs *int64 `json:"latency_ns,omitempty"`
	// Metrics are other columns that its hosts can be told apart by: "instructions", "cycles".
	Metrics map[string]float64 `json:"metrics,omitempty"`
	// Pids are the processes in the recording that are the service's; none: all that it targets.
	Pids []int32 `json:"pids,omitempty"`
}

// Cost is what the window took of the host, measured by the agent itself.
type Cost struct {
	CPUNs       int64 `json:"cpu_ns"`       // agent, recorder and BPF programs
	MemoryBytes int64 `json:"memory_bytes"` // resident, with BPF maps, at most
	// BudgetShare is what --cost allows: 0.005 of the host.
	BudgetShare float64 `json:"budget_share,omitempty"`
}

// Share is the part of the host's CPU time that recording took on so many CPUs.
func (w *Window) Share(cpus int) float64 {
	if w.LengthNs <= 0 || cpus <= 0 {
		return 0
	}
	return float64(w.Cost.CPUNs) / (float64(w.LengthNs) * float64(cpus))
}

// Answer is what a hub says to a window that it has, on disk and for good.
type Answer struct {
	Content string `json:"content"`
	Known   bool   `json:"known"` // it had it before
	// Asks are recordings that somebody waits for from this host.
	Asks []Ask `json:"asks,omitempty"`
}

// Ask is a wish of the hub: a full window of a service, once.
type Ask struct {
	ID      string `json:"id"` // an agent answers each id once
	Service string `json:"service"`
	Seconds int    `json:"seconds"`
	Lines   bool   `json:"lines,omitempty"` // with cache lines
	Why     string `json:"why,omitempty"`
}

// AskRequest is what a hub is sent to have hosts asked for a full window of a service.
type AskRequest struct {
	Service string   `json:"service"`
	Hosts   []string `json:"hosts"`
	Seconds int      `json:"seconds"`
	Lines   bool     `json:"lines"`
	Why     string   `json:"why"`
}

// Refusal is the body of an answer that is not 200. An agent sends a window again when Again is
// set, after the seconds of the header Retry-After, and drops and counts it otherwise.
type Refusal struct {
	Error string `json:"error"`
	Again bool   `json:"again"`
}
