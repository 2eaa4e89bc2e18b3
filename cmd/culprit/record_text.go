package main

import (
	"fmt"
	"time"

	"culprit/internal/record"
	"culprit/recording"
)

// recordedSchema names the JSON document that record writes.
const recordedSchema = "culprit.recorded/1"

// recorded is that document.
type recorded struct {
	Schema string `json:"schema"`
	File   string `json:"file"`
	*record.Summary
	BlindSpots []string `json:"blind_spots"` // Summary.Unseen in words
}

// printRecorded says what is in the file and what it cost. Standard output belongs to the command.
func printRecorded(w world, o recordOptions, summary *record.Summary, goesOn bool) error {
	fmt.Fprintf(w.stderr, "culprit: %s: %d samples, %d waits; recorder used %.3f s CPU (and %.2f s to load)\n",
		o.out, summary.Samples, summary.Waits, float64(summary.Cost.RecorderCPUNs)/1e9,
		float64(summary.Cost.StartCPUNs)/1e9)
	if check := summary.Cost.Check; check != nil {
		fmt.Fprintf(w.stderr, "culprit: self-check: %s\n", check)
	}
	for _, thinned := range summary.Thinned {
		fmt.Fprintf(w.stderr, "culprit: thinned after %v: %s: %s (%s)\n",
			time.Duration(thinned.TimeNs).Round(100*time.Millisecond), thinned.Probe, thinned.Did, thinned.Why)
	}
	for _, throttled := range summary.Throttled {
		fmt.Fprintf(w.stderr, "culprit: held back: %s\n", throttled)
	}
	if goesOn {
		fmt.Fprintf(w.stderr, "culprit: recorded the first %v; the command goes on unrecorded (-d sets the time)\n",
			o.duration)
	}
	printAbsent(w, o.target, summary.Restarts, "what was recorded before is kept")
	if summary.Ended && !o.target.ComesBack() {
		fmt.Fprintf(w.stderr, "culprit: process %d and all that it started ended after %v\n", o.target.Pid,
			time.Duration(summary.WindowNs).Round(100*time.Millisecond))
	}
	for _, loss := range summary.Losses {
		fmt.Fprintf(w.stderr, "culprit: lost: %s: %d\n", loss.What, loss.Count)
	}
	for _, off := range summary.Off {
		fmt.Fprintf(w.stderr, "culprit: not recorded: %s: %s\n", off.Name, off.Why)
	}
	if o.json == "" {
		return nil
	}
	return writeJSON(w, o.json, recorded{Schema: recordedSchema, File: o.out, Summary: summary,
		BlindSpots: recording.Words(summary.Unseen)})
}
