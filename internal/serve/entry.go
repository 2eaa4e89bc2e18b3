package serve

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"culprit/internal/report"
	"culprit/recording"
)

// The kinds of entries.
const (
	kindCase       = "case"       // of investigate
	kindExperiment = "experiment" // of try and overhead
	kindBisect     = "bisect"
	kindRecording  = "recording"
)

// The documents that make a folder an entry.
const (
	caseName   = "case.json"
	resultName = "result.json"
)

// recordingSuffix is that of recordings.
const recordingSuffix = ".culprit"

// Entry is one row of the library: what can be told without judging anything.
type Entry struct {
	Path    string            `json:"path"` // below the directory that is served, with slashes
	Kind    string            `json:"kind"`
	Title   string            `json:"title"`             // what ran
	Against string            `json:"against,omitempty"` // what ran as B
	Outcome string            `json:"outcome,omitempty"`
	Metric  string            `json:"metric,omitempty"`
	Effect  *Effect           `json:"effect,omitempty"`
	Suspect string            `json:"suspect,omitempty"` // the first
	Level   string            `json:"level,omitempty"`   // of its evidence
	Host    string            `json:"host,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	Started time.Time         `json:"started"` // of a recording; when the document of a case was written
	Seconds float64           `json:"seconds"`
	Size    int64             `json:"size"`
	// Of is the case whose evidence a recording is.
	Of string `json:"of,omitempty"`
	// Damaged says in one line why nothing else could be told.
	Damaged string `json:"damaged,omitempty"`
}

// Effect is how B compares with A.
type Effect struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Limits of what is kept of one entry: names come from files that anybody may have written.
const (
	textMax     = 1000
	manifestMax = 4 << 20
)

// describe reads one file of the library into an entry; what is wrong with it is told in the entry.
func describe(name string, file io.ReaderAt, info os.FileInfo) Entry {
	entry := Entry{Path: name, Size: info.Size(), Started: info.ModTime()}
	var err error
	switch path.Base(name) {
	case caseName:
		entry.Path, entry.Kind = path.Dir(name), kindCase
		err = describeCase(&entry, file)
	case resultName:
		entry.Path, entry.Kind = path.Dir(name), kindExperiment
		err = describeResult(&entry, file)
	default:
		entry.Kind = kindRecording
		err = describeRecording(&entry, file)
	}
	if err != nil {
		entry.Damaged = report.Line(err)
	}
	if year := entry.Started.Year(); year < 1 || year > 9999 { // JSON has no others
		entry.Started = time.Time{}
	}
	return entry
}

func describeRecording(entry *Entry, file io.ReaderAt) error {
	manifest, err := recording.ReadManifest(file, entry.Size, manifestMax)
	if err != nil {
		return err
	}
	entry.Title, entry.Host = short(targetOf(manifest)), short(manifest.Host)
	if len(manifest.Labels) <= recording.MaxLabels { // only the manifest was read: nothing has checked them
		entry.Labels = manifest.Labels
	}
	entry.Seconds = float64(manifest.WindowNs) / 1e9
	if !manifest.StartedAt.IsZero() {
		entry.Started = manifest.StartedAt
	}
	return nil
}

// targetOf tells an imported file, which says nothing of its target, by its format.
func targetOf(manifest *recording.Manifest) string {
	if manifest.Format != "" && manifest.Target == (recording.Target{Kind: manifest.Target.Kind}) {
		return "imported " + manifest.Format
	}
	return manifest.Target.Words()
}

func describeCase(entry *Entry, file io.ReaderAt) error {
	var document struct {
		Schema, Outcome string
		A               struct{ Command string }
		B               *struct{ Command string }
		Metric          struct{ Name string }
		Effect          *Effect
		Host            struct{ Name string }
		Elapsed         float64 `json:"elapsed_s"`
		Suspects        []struct{ Cause, Level string }
	}
	found, err := outline(file, entry.Size, "schema", "outcome", "a", "b", "metric", "effect", "host", "elapsed_s",
		"suspects")
	if err == nil {
		err = json.Unmarshal(found, &document)
	}
	if err == nil && !strings.HasPrefix(document.Schema, "culprit.case/") {
		err = fmt.Errorf("schema is %q, not that of a case", short(document.Schema))
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", caseName, err)
	}
	entry.Title, entry.Outcome, entry.Metric = short(document.A.Command), short(document.Outcome),
		short(document.Metric.Name)
	if document.B != nil {
		entry.Against = short(document.B.Command)
	}
	entry.Effect, entry.Host, entry.Seconds = document.Effect, short(document.Host.Name), document.Elapsed
	if len(document.Suspects) > 0 {
		entry.Suspect, entry.Level = short(document.Suspects[0].Cause), short(document.Suspects[0].Level)
	}
	return nil
}

func describeResult(entry *Entry, file io.ReaderAt) error {
	var document struct {
		Schema, Outcome, Command string
		Host                     struct{ Name string }
		Elapsed                  float64 `json:"elapsed_s"`
		Effect                   *Effect
	}
	found, err := outline(file, entry.Size, "schema", "outcome", "command", "host", "elapsed_s", "effect")
	if err == nil {
		err = json.Unmarshal(found, &document)
	}
	schema, _, _ := strings.Cut(document.Schema, "/")
	switch {
	case err != nil:
	case schema == "culprit.bisect":
		entry.Kind = kindBisect
	case schema != "culprit.experiment":
		err = fmt.Errorf("schema is %q, not that of an experiment", short(document.Schema))
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", resultName, err)
	}
	entry.Title, entry.Outcome, entry.Host = short(document.Command), short(document.Outcome),
		short(document.Host.Name)
	entry.Effect, entry.Seconds = document.Effect, document.Elapsed
	return nil
}

// short bounds what is kept of one text.
func short(text string) string {
	if len(text) <= textMax {
		return text
	}
	return strings.ToValidUTF8(text[:textMax], "") + "…"
}
