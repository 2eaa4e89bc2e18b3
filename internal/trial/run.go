package trial

import "time"

// The kinds of runs. Only KindMeasure decides the metric: those runs have no recorder beside them.
const (
	KindWarmup   = "warmup"
	KindMeasure  = "measure"
	KindEvidence = "evidence"
	KindProof    = "proof"
)

// Run is one execution of one side's command: what it took and whether it counts.
type Run struct {
	Side string `json:"side"` // "A" or "B"
	// Pair counts from 0; warm-ups and evidence trials have numbers of their own.
	Pair int `json:"pair"`
	// Order counts from 1, over the whole investigation.
	Order    int                `json:"order"`
	Kind     string             `json:"kind"`            // "warmup", "measure", "evidence", "proof"
	Level    string             `json:"level,omitempty"` // proof trials: the knob's level
	Start    time.Time          `json:"start"`
	Metrics  map[string]float64 `json:"metrics"` // see Metric* constants; seconds, counts, bytes
	Disturb  Disturbance        `json:"disturbance"`
	Valid    bool               `json:"valid"`
	LeftOut  *Exclusion         `json:"left_out,omitempty"` // why it does not count
	Why      string             `json:"why,omitempty"`      // LeftOut in words
	ExitCode int                `json:"exit_code"`
	Stdout   string             `json:"stdout,omitempty"` // file under the case directory
	Stderr   string             `json:"stderr,omitempty"` // file under the case directory
	// Outlived counts the processes that outlived the command and were killed.
	Outlived int `json:"outlived,omitempty"`
}

// The metrics every run has. Metrics printed by the command stand beside them under their own
// names.
const (
	MetricWall        = "wall"        // seconds from release to the end of the command
	MetricCPU         = "cpu"         // seconds, user + system of the whole tree
	MetricUser        = "user"        // seconds
	MetricSystem      = "system"      // seconds
	MetricVoluntary   = "voluntary"   // context switches
	MetricInvoluntary = "involuntary" // context switches
	MetricMinorFaults = "minor_faults"
	MetricMajorFaults = "major_faults"
	MetricMemory      = "memory" // peak resident bytes of the largest process
)

// Disturbance is what came from outside during one run.
type Disturbance struct {
	StealS    float64 `json:"steal_s"`    // hypervisor took the CPU
	OthersS   float64 `json:"others_s"`   // CPU time of processes outside the tree
	RunqueueS float64 `json:"runqueue_s"` // run-queue delay of the target
}
