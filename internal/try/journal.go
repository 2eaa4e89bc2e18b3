package try

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/trial"
)

// The files of a case directory.
const (
	DesignName  = "experiment.json" // what to try
	TrialsName  = "results.jsonl"   // one trial a line, in the order in which they were made
	ResultName  = "result.json"     // the document of the result
	maxTrials   = 100_000
	maxDocument = 16 << 20 // bytes
)

// journal is the case directory of an experiment. Each trial is on disk before the next one begins.
type journal struct {
	dir     string
	design  Experiment
	records []Trial // that were there when it was opened
	lines   *trial.Lines
	made    int           // trials written now, warm-ups apart
	before  time.Duration // that earlier trials took
	fresh   bool
}

// create makes the case directory.
func create(dir string, experiment Experiment) (*journal, error) {
	if dir == "" {
		return nil, errors.New("no case directory; give --case DIR")
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find folder of case %s: %w", dir, err)
	}
	if err := os.Mkdir(absolute, 0o755); errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("case directory %s exists; give another --case DIR, or --resume %s to go on with it", dir, dir)
	} else if err != nil {
		return nil, fmt.Errorf("make case directory: %w", err)
	}
	experiment.Schema = designSchema
	if service := experiment.Service; service != nil && service.Pid != 0 {
		known := *service
		known.Born = born(service.Pid)
		experiment.Service = &known
	}
	j := &journal{dir: absolute, design: experiment, fresh: true}
	if err = j.save(); err == nil {
		err = j.open()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(absolute))
	}
	return j, nil
}

// reopen reads the case directory of an experiment that was cut short.
func reopen(dir string) (*journal, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find folder of case %s: %w", dir, err)
	}
	j := &journal{dir: absolute}
	content, err := readLimited(filepath.Join(absolute, DesignName))
	if err != nil {
		return nil, fmt.Errorf("resume %s: no experiment is there: %w", dir, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&j.design); err != nil {
		return nil, fmt.Errorf("resume %s: %s is damaged: %w", dir, DesignName, err)
	}
	if j.design.Schema != designSchema {
		return nil, fmt.Errorf("resume %s: schema is %q, want %q: was it written by another culprit?", dir, j.design.Schema,
			designSchema)
	}
	if err := j.design.Check(); err != nil {
		return nil, fmt.Errorf("resume %s: %w", dir, err)
	}
	if err := j.open(); err != nil {
		return nil, err
	}
	if err := j.read(); err != nil {
		return nil, errors.Join(err, j.close())
	}
	return j, nil
}

func readLimited(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxDocument+1))
	if err == nil && len(content) > maxDocument {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxDocument)
	}
	return content, err
}

// open opens the file of trials and takes it for this process alone.
func (j *journal) open() (err error) {
	j.lines, err = trial.OpenLines(filepath.Join(j.dir, TrialsName), "experiment")
	return err
}

// read reads the trials of an earlier process.
func (j *journal) read() error {
	err := j.lines.Read(maxTrials, "trials", func(line []byte) error {
		var made Trial
		if err := json.Unmarshal(line, &made); err != nil {
			return fmt.Errorf("no trial: %w", err)
		}
		j.records = append(j.records, made)
		j.before += time.Duration(made.TookS * float64(time.Second))
		return nil
	})
	if err != nil {
		return err
	}
	layout, err := layOut(j.design)
	if err != nil {
		return err
	}
	for i, made := range j.records {
		if made.Condition < 0 || made.Condition >= len(layout.conditions) || made.Stage < 0 ||
			made.Stage >= len(layout.stages) || made.Block < 0 {
			return fmt.Errorf("read %s: line %d belongs to another experiment", TrialsName, i+1)
		}
	}
	return nil
}

// append writes a trial down.
func (j *journal) append(made Trial) error {
	if err := j.lines.Append(made); err != nil {
		return err
	}
	if made.Kind == trial.KindMeasure {
		j.made++
	}
	return nil
}

// planned notes for how many blocks a stage was laid out.
func (j *journal) planned(stage, blocks int) error {
	for len(j.design.Planned) <= stage {
		j.design.Planned = append(j.design.Planned, 0)
	}
	j.design.Planned[stage] = blocks
	return j.save()
}

// save writes the design, whole or not at all.
func (j *journal) save() error {
	content, err := json.MarshalIndent(j.design, "", "  ")
	if err == nil {
		err = trial.ReplaceFile(filepath.Join(j.dir, DesignName), append(content, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", DesignName, err)
	}
	return nil
}

// spent is the time that the trials so far took.
func (j *journal) spent() time.Duration { return j.before }

func (j *journal) close() error {
	if j.lines == nil {
		return nil
	}
	lines := j.lines
	j.lines = nil
	return lines.Close()
}

// cutShort says what is left of an experiment that failed: nothing when no trial was made, else how
// to go on.
func (j *journal) cutShort(err error) error {
	if j.fresh && j.made == 0 {
		if removed := os.RemoveAll(j.dir); removed != nil {
			return fmt.Errorf("%w; remove %s: %w", err, j.dir, removed)
		}
		return err
	}
	if len(j.records)+j.made == 0 {
		return err
	}
	return fmt.Errorf("%w; %d trials are kept: go on with --resume %s", err, len(j.records)+j.made, j.dir)
}
