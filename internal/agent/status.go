package agent

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"culprit/internal/agent/spool"
	"culprit/internal/fleet/window"
)

// StatusSchema names the document that an agent keeps in its folder and that `culprit agent status`
// prints.
const StatusSchema = "culprit.agent/1"

const (
	statusName  = "status.json"
	statusLimit = 1 << 20
)

// Status is what an agent says of itself.
type Status struct {
	Schema  string    `json:"schema"`
	Running bool      `json:"running"`
	Pid     int       `json:"pid"`
	Program string    `json:"program"`
	Host    string    `json:"host"`
	Folder  string    `json:"folder"`
	Started time.Time `json:"started"`
	Written time.Time `json:"written"` // when it said so last

	Windows     int       `json:"windows"` // that are kept
	Oldest      time.Time `json:"oldest,omitzero"`
	Newest      time.Time `json:"newest,omitzero"`
	Bytes       int64     `json:"bytes"`
	Keep        int64     `json:"keep"`
	EveryNs     int64     `json:"every_ns"`
	Hz          int       `json:"hz"` // of the next light window
	BudgetShare float64   `json:"budget_share"`
	Cost        Spent     `json:"cost"`      // since the start
	LastCost    Spent     `json:"last_cost"` // of the last window
	MemoryBytes int64     `json:"memory_bytes"`
	Skipped     int64     `json:"skipped"` // windows that were left out to keep to the budget
	Deaths      int64     `json:"deaths"`  // recorders that ended by themselves
	Hub         string    `json:"hub,omitempty"`
	Unsent      int       `json:"unsent"` // windows that the hub has not
	LastSent    time.Time `json:"last_sent,omitzero"`
	Services    []string  `json:"services"` // of the last window, the dearest first
	Troubles    []string  `json:"troubles"` // what goes wrong now
	spool.State
}

// Spent is CPU time in a length of time.
type Spent struct {
	CPUNs    int64   `json:"cpu_ns"`
	LengthNs int64   `json:"length_ns"`
	Share    float64 `json:"share"` // of the host
}

func (s *Spent) add(took, length time.Duration, cpus int) {
	s.CPUNs += took.Nanoseconds()
	s.LengthNs += length.Nanoseconds()
	if s.LengthNs > 0 {
		s.Share = float64(s.CPUNs) / float64(s.LengthNs) / float64(cpus)
	}
}

// maxNamed is how many services a status names.
const maxNamed = 20

// status is the document in the making.
type status struct{ Status }

func newStatus(a *Agent) *status {
	return &status{Status{Schema: StatusSchema, Pid: os.Getpid(), Program: a.options.Program, Host: a.host,
		Folder: a.options.Folder, Started: time.Now().UTC(), Keep: a.options.Keep, EveryNs: int64(a.options.Every),
		BudgetShare: a.options.Cost, Hub: a.options.Hub, Services: []string{}, Troubles: []string{}}}
}

// saw notes a window that was kept.
func (s *status) saw(manifest *window.Window, took, length time.Duration) {
	s.LastCost = Spent{}
	s.LastCost.add(took, length, cpus())
	s.Cost.add(took, length, cpus())
	s.MemoryBytes = manifest.Cost.MemoryBytes
	s.Services = s.Services[:0]
	for i := range manifest.Services {
		if i < maxNamed {
			s.Services = append(s.Services, manifest.Services[i].Name)
		}
	}
}

// write brings it to disk, with the state of the windows. A disk that is full is told of by the
// windows themselves.
func (s *status) write(a *Agent, running bool) {
	s.Running, s.Written = running, time.Now().UTC()
	s.State = a.spool.State()
	s.Hz, s.Skipped, s.Deaths, s.Troubles = a.budget.hz(), a.skipped, a.deaths, a.log.troubles()
	s.Unsent, s.LastSent = 0, a.lastSent()
	if a.options.Hub != "" {
		s.Unsent = a.spool.CountUnsent()
	}
	s.kept(a.spool.All())
	s.Bytes = a.spool.Bytes()
	text, err := json.MarshalIndent(s.Status, "", " ")
	if err == nil {
		err = a.spool.WriteBeside(statusName, append(text, '\n'))
	}
	if err == nil {
		err = a.spool.Save()
	}
	if err != nil {
		a.log.trouble("status", fmt.Sprintf("write status: %v", err))
		return
	}
	a.log.better("status", "the status is written again")
}

// kept fills in what windows there are.
func (s *Status) kept(entries []spool.Entry) {
	s.Windows, s.Oldest, s.Newest = len(entries), time.Time{}, time.Time{}
	if len(entries) > 0 {
		s.Oldest, s.Newest = entries[0].Start, entries[len(entries)-1].Start
	}
}

// ReadStatus is what the agent of a folder says of itself, and whether it runs.
func ReadStatus(folder string) (*Status, error) {
	file, err := os.Open(filepath.Join(folder, statusName))
	if os.IsNotExist(err) {
		return nil, fmt.Errorf("no agent has recorded in %s; start one with `culprit agent`, or give its folder with --dir",
			folder)
	}
	if err != nil {
		return nil, fmt.Errorf("read status: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, statusLimit))
	if err != nil {
		return nil, fmt.Errorf("read status: %w", err)
	}
	status := &Status{}
	if err := json.Unmarshal(text, status); err != nil {
		return nil, fmt.Errorf("read status in %s: %w", folder, err)
	}
	if status.Schema != StatusSchema {
		return nil, fmt.Errorf("read status in %s: it is of schema %q, this culprit reads %q", folder, status.Schema,
			StatusSchema)
	}
	status.Running = spool.InUse(folder)
	if entries, err := spool.List(folder); err == nil {
		status.kept(entries)
	}
	return status, nil
}
