// Package explain goes from recordings to suspects. investigate, compare and explain all call it,
// so that the same recordings give the same suspects in every verb. It compares both metrics in one
// pass, chooses the one to explain, asks the catalogue of causes, and gathers what limits the
// answer.
//
//	evidence, err := explain.Read(a, b, units.PerAuto)
//	known, effects, err := evidence.Test(explain.MetricAuto, 0.02)
//	judgement, err := evidence.Judge(known)
//
// A Context holds what recordings do not. A case directory keeps it, so that its recordings can be
// judged again.
//
// It runs no program. It measures what operations cost on this host, and only where the recordings
// were made here.
package explain

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"culprit/internal/compare"
	"culprit/internal/stat"
)

// The file of a case directory that keeps the context, the name of its format, and the folder of
// the recordings.
const (
	ContextFile   = "judgement.json"
	ContextSchema = "culprit.judgement/1"
	Recordings    = "recordings"
)

// MetricAuto leaves it to the evidence whether wall or CPU time is explained.
const MetricAuto = "auto"

// Context is what a judgement rests on beside the recordings.
type Context struct {
	Schema string `json:"schema"`
	// A and B are the names of the recordings that were judged, in the case's folder of recordings.
	A []string `json:"a"`
	B []string `json:"b"`
	// Metric is what is explained: "wall" or "cpu".
	Metric string `json:"metric"`
	// Percentile is that of the latency which was tested, such as "p99": suspects are then those of
	// the slow requests, where enough of them were kept. "" where another metric was.
	Percentile string `json:"percentile,omitempty"`
	// OfRequests: the mean latency of requests was tested, or their rate, which hang on what requests
	// wait for at other services as well.
	OfRequests bool `json:"of_requests,omitempty"`
	// Delivery: what answers lay in sockets for after the last call was tested with it.
	Delivery bool `json:"delivery,omitempty"`
	// Outcome of the tested metric, "" where nothing was tested. Without a difference there are no
	// suspects.
	Outcome stat.Outcome `json:"outcome"`
	// Measured is what trials without the recorder showed of wall and CPU time; a number that the
	// command prints is none.
	Measured []Measured `json:"measured"`
	// Costs of operations on the host, in nanoseconds, by their names in package bench; empty: not
	// known.
	Costs map[string]compare.Interval `json:"costs_ns"`
	// Warnings of the trials, which limit any judgement of the case.
	Warnings []string `json:"warnings"`
	// OneSided are the disturbances of trials without the recorder that come with one side only, in
	// words.
	OneSided []string `json:"one_sided"`
}

// Measured is one metric as it was tested, by trials without the recorder where there were any.
type Measured struct {
	Metric  string       `json:"metric"`
	Outcome stat.Outcome `json:"outcome"`
	// Change is B − A in seconds per run, nil where only the recordings tell.
	Change *compare.Interval `json:"change"`
}

// measured returns what is known of a metric, nil for nothing.
func (c *Context) measured(metric string) *Measured {
	for i := range c.Measured {
		if c.Measured[i].Metric == metric {
			return &c.Measured[i]
		}
	}
	return nil
}

// Save writes the context into a case directory.
func (c *Context) Save(dir string) error {
	c.Schema = ContextSchema
	text, err := json.MarshalIndent(c, "", " ")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, ContextFile), append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write context of the judgement: %w", err)
	}
	return nil
}

// ErrTooOld says that a case directory keeps no context: an earlier culprit wrote it.
var ErrTooOld = errors.New("the case is too old to be judged again: it has no " + ContextFile +
	"; `culprit report` shows what was said of it")

// Load reads the context that a case directory keeps.
func Load(dir string) (*Context, error) {
	name := filepath.Join(dir, ContextFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dir, ErrTooOld)
	}
	if err != nil {
		return nil, fmt.Errorf("read context of the judgement: %w", err)
	}
	var c Context
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", name, err)
	}
	if c.Schema != ContextSchema {
		return nil, fmt.Errorf("%s has format %q, this culprit reads %q: judge it with the culprit "+
			"that wrote it", name, c.Schema, ContextSchema)
	}
	return &c, nil
}
