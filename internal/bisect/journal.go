package bisect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"culprit/internal/trial"
)

// The files of a case directory.
const (
	DesignName = "bisect.json"  // what is searched, with all candidates
	EventsName = "events.jsonl" // one build or run a line, in the order in which they were made
	ResultName = "result.json"  // the document of the result
	maxEvents  = 200_000
	maxDesign  = 64 << 20 // bytes
)

// event is one build or one run.
type event struct {
	Kind     string             `json:"kind"` // "build" or "run"
	Position int                `json:"position"`
	TookS    float64            `json:"took_s,omitempty"`
	Metrics  map[string]float64 `json:"metrics,omitempty"`
	Skip     string             `json:"skip,omitempty"` // why the candidate is skipped
}

// The kinds of events.
const (
	buildEvent = "build"
	runEvent   = "run"
)

// journal keeps events. Each one is on the disk before the next begins; those of an earlier process
// are given out again in their order, so that the engine comes to where it was.
type journal struct {
	lines  *trial.Lines
	before []event
	given  int
	runs   int // that it holds
}

// spent is how long what earlier processes did took, in seconds.
func (j *journal) spent() float64 {
	sum := 0.0
	for _, made := range j.before {
		sum += made.TookS
	}
	return sum
}

// openJournal takes the events of a case directory for this process alone.
func openJournal(dir string) (*journal, error) {
	lines, err := trial.OpenLines(filepath.Join(dir, EventsName), "search")
	if err != nil {
		return nil, err
	}
	j := &journal{lines: lines}
	if err := lines.Read(maxEvents, "lines", j.remember); err != nil {
		return nil, errors.Join(err, lines.Close())
	}
	return j, nil
}

// remember takes in an event of an earlier process.
func (j *journal) remember(line []byte) error {
	var made event
	if err := json.Unmarshal(line, &made); err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	j.before = append(j.before, made)
	j.count(made)
	return nil
}

// next gives out what an earlier process did here; false when there is nothing more of it.
func (j *journal) next(kind string, position int) (made event, found bool, err error) {
	if j.given == len(j.before) {
		return event{}, false, nil
	}
	made = j.before[j.given]
	j.given++
	if made.Kind != kind || made.Position != position {
		return made, false, fmt.Errorf("read %s: line %d is a %s of candidate %d, but a %s of candidate %d comes there: "+
			"it was written by another culprit or is damaged", EventsName, j.given, made.Kind, made.Position, kind, position)
	}
	return made, true, nil
}

// append writes an event down.
func (j *journal) append(made event) error {
	if err := j.lines.Append(made); err != nil {
		return err
	}
	j.count(made)
	return nil
}

func (j *journal) count(made event) {
	if made.Kind == runEvent && made.Skip == "" {
		j.runs++
	}
}

func (j *journal) close() error { return j.lines.Close() }

// save writes a document beside its name and renames it: it is whole or not there.
func save(path string, document any) error {
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := trial.ReplaceFile(path, append(text, '\n')); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// remembered is a lab whose answers are written down, and given out again after a kill.
type remembered struct {
	lab     lab
	journal *journal
}

func (r remembered) prepare(ctx context.Context, position int) (time.Duration, error) {
	made, found, err := r.journal.next(buildEvent, position)
	if err != nil {
		return 0, err
	}
	if !found {
		took, err := r.lab.prepare(ctx, position)
		made = event{Kind: buildEvent, Position: position, TookS: took.Seconds()}
		if err = r.keep(made, err); err != nil {
			return took, err
		}
	}
	return time.Duration(made.TookS * float64(time.Second)), skipped(made)
}

func (r remembered) run(ctx context.Context, position int) (map[string]float64, error) {
	made, found, err := r.journal.next(runEvent, position)
	if err != nil {
		return nil, err
	}
	if !found {
		metrics, err := r.lab.run(ctx, position)
		made = event{Kind: runEvent, Position: position, TookS: metrics[trial.MetricWall], Metrics: metrics}
		if err = r.keep(made, err); err != nil {
			return nil, err
		}
	}
	return made.Metrics, skipped(made)
}

// keep writes down what was done, also that a candidate is skipped. Any other error ends the
// search, and is none of it.
func (r remembered) keep(made event, err error) error {
	if err == nil {
		return r.journal.append(made)
	}
	if !errors.Is(err, errSkip) {
		return err
	}
	made.Skip = err.Error()
	return errors.Join(err, r.journal.append(made))
}

func skipped(made event) error {
	if made.Skip == "" {
		return nil
	}
	return skipError(made.Skip)
}
