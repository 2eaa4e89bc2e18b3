package trial

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The limits of what a command may print and of what is kept of it.
const (
	maxOutputBytes  = 1 << 30  // where the Spec sets no limit
	keepOutputBytes = 1 << 20  // of each file, after the run
	findOutputBytes = 16 << 20 // searched for printed metrics, from the end
	tailOutputBytes = 8 << 10  // read for the last lines of an error
)

// outputs are the files that a command's output goes to. The command writes to them itself: a pipe
// would make culprit's own speed part of the measurement.
type outputs struct {
	stdout, stderr         *os.File
	stdoutName, stderrName string // relative to the case directory
	maxBytes               int64
}

// createOutputs makes the two files of a run.
func createOutputs(spec Spec) (*outputs, error) {
	folder := spec.OutDir
	if folder == "" {
		folder = "runs"
	}
	if err := os.MkdirAll(filepath.Join(spec.CaseDir, folder), 0o755); err != nil {
		return nil, fmt.Errorf("make output directory: %w", err)
	}
	name := fmt.Sprintf("%04d-%s-%s", spec.Order, safeName(spec.Kind), safeName(spec.Side))
	o := &outputs{
		stdoutName: filepath.Join(folder, name+".stdout"),
		stderrName: filepath.Join(folder, name+".stderr"),
		maxBytes:   spec.MaxOutputBytes,
	}
	if o.maxBytes <= 0 {
		o.maxBytes = maxOutputBytes
	}
	var err error
	if o.stdout, err = createOutput(filepath.Join(spec.CaseDir, o.stdoutName)); err != nil {
		return nil, err
	}
	if o.stderr, err = createOutput(filepath.Join(spec.CaseDir, o.stderrName)); err != nil {
		o.stdout.Close()
		return nil, err
	}
	return o, nil
}

func createOutput(path string) (*os.File, error) {
	// Appending, because the command may open its own /dev/stdout again and would else write over
	// the beginning.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create output file: %w", err)
	}
	return file, nil
}

// safeName keeps letters and digits: labels become file names.
func safeName(label string) string {
	kept := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, label)
	if kept == "" {
		return "run"
	}
	return kept[:min(len(kept), 20)]
}

// flooded tells whether the command has printed more than a run may.
func (o *outputs) flooded() bool {
	return max(size(o.stdout), size(o.stderr)) > o.maxBytes
}

// close cuts the files to what is kept and closes them.
func (o *outputs) close() error {
	err := cut(o.stdout)
	if errCut := cut(o.stderr); err == nil {
		err = errCut
	}
	for _, file := range []*os.File{o.stdout, o.stderr} {
		if errClose := file.Close(); err == nil && errClose != nil {
			err = fmt.Errorf("close output file: %w", errClose)
		}
	}
	return err
}

// find reads the printed metrics from both files: standard output first, then standard error.
func (o *outputs) find(printed []Printed, into map[string]float64) error {
	if len(printed) == 0 {
		return nil
	}
	out, err := tail(o.stdout, findOutputBytes)
	if err != nil {
		return err
	}
	errs, err := tail(o.stderr, findOutputBytes)
	if err != nil {
		return err
	}
	for _, metric := range printed {
		value, err := metric.find(out)
		if err != nil && metric.Pattern.MatchString(errs) {
			value, err = metric.find(errs)
		}
		if err != nil {
			return fmt.Errorf("%w; it printed last: %s", err, oneLine(strings.Join(o.lastLines(), " | "), 600))
		}
		into[metric.Name] = value
	}
	return nil
}

// lastLines returns the last lines of standard error, or of standard output when there are none.
func (o *outputs) lastLines() []string {
	for _, file := range []*os.File{o.stderr, o.stdout} {
		text, err := tail(file, tailOutputBytes)
		if err != nil {
			continue
		}
		var lines []string
		for _, line := range strings.Split(text, "\n") {
			if line = oneLine(line, maxShownLine); line != "" {
				lines = append(lines, line)
			}
		}
		if len(lines) > 0 {
			return lines[max(0, len(lines)-maxShownLines):]
		}
	}
	return nil
}

func size(file *os.File) int64 {
	info, err := file.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// tail returns at most limit bytes from the end of a file.
func tail(file *os.File, limit int64) (string, error) {
	end := size(file)
	start := max(0, end-limit)
	text := make([]byte, end-start)
	n, err := file.ReadAt(text, start)
	if err != nil && err != io.EOF {
		return "", fmt.Errorf("read output file: %w", err)
	}
	return string(text[:n]), nil
}

// cut keeps the end of a file that is too long, with a first line that says so.
func cut(file *os.File) error {
	total := size(file)
	if total <= keepOutputBytes {
		return nil
	}
	text, err := tail(file, keepOutputBytes)
	if err != nil {
		return err
	}
	if err := file.Truncate(0); err != nil {
		return fmt.Errorf("cut output file: %w", err)
	}
	note := fmt.Sprintf("[culprit left out the first %d bytes]\n", total-keepOutputBytes)
	if _, err := file.WriteString(note + text); err != nil {
		return fmt.Errorf("cut output file: %w", err)
	}
	return nil
}
