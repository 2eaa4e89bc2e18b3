package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"culprit/internal/format"
	"culprit/internal/format/perfdata"
	"culprit/recording"
)

// importOptions is what may be typed for import.
type importOptions struct {
	format.Options
	files []string
	out   string
	force bool
	json  string
	perf  string // reads perf.data files; "": none does
}

func importVerb(w world) *cobra.Command {
	var o importOptions
	command := &cobra.Command{
		Use:   "import FILE…",
		Short: "Make a recording of what other tools wrote",
		Long: `Reads what other tools wrote (--format lists them), and writes a recording that explain and compare
take. Several files of one format become one recording.
The format is told by the content; - reads standard input.`,
		Example: `  culprit record -o sum.culprit -- sh -c 'i=0; while [ $i -lt 700000 ]; do i=$((i+1)); done'
  culprit export sum.culprit --as folded -o sum.folded
  culprit import -o again.culprit sum.folded
  culprit import -f --json - -o again.culprit - < sum.folded`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.files = args
			if err := o.check(); err != nil {
				return err
			}
			return runImport(cmd.Context(), w, o)
		},
	}
	flags := command.Flags()
	flags.StringVarP(&o.out, "out", "o", "", "file to write (required)")
	flags.BoolVarP(&o.force, "force", "f", false, "overwrite the file")
	flags.StringVar(&o.Format, "format", format.Auto, strings.Join(format.Readable, ", "))
	flags.StringVar(&o.Signal, "signal", recording.SignalCPU, "what stacks of folded and bpftrace count: cpu or offcpu")
	flags.DurationVar(&o.Period, "period", 0,
		"what one count of such stacks stands for (default 10ms of cpu, 1µs of offcpu)")
	flags.StringVar(&o.perf, "perf", "perf", "the perf that reads perf.data files; empty: refuse them")
	flags.StringVar(&o.json, "json", "", "write a summary as JSON to this file, - for standard output")
	return command
}

func (o *importOptions) check() error {
	switch {
	case len(o.files) == 0:
		return errors.New("nothing to import; give a file, or - for standard input")
	case o.out == "":
		return errors.New("no file to write; give -o FILE.culprit")
	}
	for _, file := range o.files {
		info, err := os.Stat(file)
		switch {
		case file == "-":
		case errors.Is(err, os.ErrNotExist):
			return fmt.Errorf("%s does not exist; give the file of perf script, strace, pprof or folded stacks", file)
		case err != nil:
			return fmt.Errorf("look at %s: %w", file, err)
		case info.IsDir():
			return fmt.Errorf("%s is a folder; give the files in it", file)
		}
	}
	if o.json != "" && o.json != "-" {
		if err := checkOutput(o.json, true); err != nil {
			return err
		}
	}
	return checkRecording(o.out, o.force)
}

// importMemory is where the collector begins to work harder, well below the 400 MB that an import
// may take.
const importMemory = 300 << 20

func runImport(ctx context.Context, w world, o importOptions) error {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(importMemory))
	o.Program = "culprit " + version
	rec, err := importFiles(ctx, w, o)
	if err != nil {
		return err
	}
	if err := recording.Write(o.out, rec); err != nil {
		return err
	}
	return printImported(w, o, rec)
}

func importFiles(ctx context.Context, w world, o importOptions) (*recording.Recording, error) {
	var sources []format.Source
	for _, name := range o.files {
		source := format.Source{Name: name, Reader: until(ctx, w.stdin)}
		if name != "-" {
			source.Reader = &lazyFile{ctx: ctx, name: name}
			if o.perf != "" && perfdata.Is(name) {
				source.Reader = perfdata.Script(ctx, o.perf, name)
			}
		}
		sources = append(sources, source)
	}
	progress := newProgress(w, "importing", expectedImport(o.files))
	defer progress.end()
	return format.Import(sources, o.Options)
}

// expectedImport is for the progress line only: about 300 MB a second.
func expectedImport(files []string) time.Duration {
	var size int64
	for _, name := range files {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
	}
	return time.Duration(size * 3)
}

// lazyFile opens its file at the first read and closes it at its end: a log of
// strace -ff may have more files than a process may open.
type lazyFile struct {
	ctx  context.Context
	name string
	file io.ReadCloser
	err  error
}

func (l *lazyFile) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	if l.file == nil {
		if l.file, l.err = openInput(l.ctx, l.name); l.err != nil {
			return 0, l.err
		}
	}
	n, err := l.file.Read(p)
	if err != nil {
		l.err = err
		_ = l.file.Close() // was only read
	}
	return n, err
}

// importedSchema names the JSON document that import writes.
const importedSchema = "culprit.imported/1"

// imported is that document.
type imported struct {
	Schema   string             `json:"schema"`
	File     string             `json:"file"`
	Source   string             `json:"source"`
	WindowNs int64              `json:"window_ns"`
	Samples  int                `json:"samples"`
	Stacks   int                `json:"stacks"`
	Waits    int                `json:"waits"`
	Syscalls int64              `json:"syscalls"`
	Metrics  map[string]float64 `json:"metrics"`
	Losses   []recording.Loss   `json:"losses"`
	// Unseen is what the other tool's files do not hold; BlindSpots says it in words.
	Unseen     []recording.BlindSpot `json:"unseen"`
	BlindSpots []string              `json:"blind_spots"`
}

func printImported(w world, o importOptions, rec *recording.Recording) error {
	m := rec.Manifest
	document := imported{Schema: importedSchema, File: o.out, Source: rec.Fact(recording.ImportFact), WindowNs: m.WindowNs,
		Samples: len(rec.Samples), Stacks: len(rec.Stacks), Waits: len(rec.Waits), Metrics: m.Metrics, Losses: m.Losses,
		Unseen: m.BlindSpots, BlindSpots: recording.Words(m.BlindSpots)}
	for _, call := range rec.Syscalls {
		document.Syscalls += call.Count
	}
	fmt.Fprintf(w.stderr, "culprit: %s: %s: %d samples, %d stacks, %d waits, %d system calls\n", o.out,
		document.Source, document.Samples, document.Stacks, document.Waits, document.Syscalls)
	for _, loss := range m.Losses {
		fmt.Fprintf(w.stderr, "culprit: lost: %s: %d\n", loss.What, loss.Count)
	}
	if o.json == "" {
		return nil
	}
	return writeJSON(w, o.json, document)
}
