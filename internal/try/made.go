package try

import (
	"time"

	"culprit/internal/trial"
)

// Trial is one run, or one period of a running service, under one combination of levels.
type Trial struct {
	Order int    `json:"order"` // 1-based, over the whole experiment
	Kind  string `json:"kind"`  // "warmup" or "measure"
	// Stage is the set of blocks; design one has one for each factor.
	Stage     int                `json:"stage"`
	Block     int                `json:"block"`
	Condition int                `json:"condition"`
	Levels    map[string]string  `json:"levels"`
	Control   bool               `json:"control,omitempty"`
	Start     time.Time          `json:"start"`
	Metrics   map[string]float64 `json:"metrics"` // seconds, bytes, counts
	Disturb   trial.Disturbance  `json:"disturbance"`
	Valid     bool               `json:"valid"`
	LeftOut   *trial.Exclusion   `json:"left_out,omitempty"` // why it does not count
	Why       string             `json:"why,omitempty"`      // LeftOut in words
	// TookS includes setting the levels and clearing away.
	TookS  float64 `json:"took_s"`
	Stdout string  `json:"stdout,omitempty"`
	Stderr string  `json:"stderr,omitempty"`
}

// leave marks a trial that does not count.
func (t *Trial) leave(why trial.Exclusion) {
	t.Valid, t.LeftOut, t.Why = false, &why, why.String()
}

// counts tells whether a trial was made as it should have been; disturbances from outside are
// judged apart.
func (t Trial) counts() bool { return t.Why == "" }
