// Package format reads what other tools wrote into a recording, so that
// compare and explain work on it, and writes recordings for other tools.
//
//	rec, err := format.Import([]format.Source{{Name: "app.txt", Reader: file}}, format.Options{})
//	err = format.Export(os.Stdout, rec, format.AsFolded, recording.SignalCPU)
//
// A recording that was imported names the program, the format and, as blind
// spots, what such a source cannot show. Input is hostile: every reader gives an
// error or a recording, within a fixed amount of memory; what did not fit or was
// not understood is counted in the losses. It refuses to guess a format that it
// cannot tell, and files of different formats in one recording, whose times have
// nothing in common.
package format

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"culprit/recording"
)

// The formats that can be read.
const (
	Auto       = "auto" // told by content
	PerfScript = "perfscript"
	Folded     = "folded"
	Pprof      = "pprof"
	Strace     = "strace"
	CPUProfile = "cpuprofile"
	OTLP       = "otlp"
	Bpftrace   = "bpftrace"
	JFR        = "jfr"
)

// Readable lists the formats for help and completion.
var Readable = []string{Auto, PerfScript, Folded, Pprof, Strace, CPUProfile, OTLP, Bpftrace, JFR}

// Source is one file to read.
type Source struct {
	Name   string // as the user gave it; "-" for standard input
	Reader io.Reader
}

// Options say how to read. The zero value is: told by content, CPU time, the format's usual period.
type Options struct {
	Format  string        // one of Readable; "" is Auto
	Program string        // "culprit" and its version, for the manifest
	Signal  string        // what stacks of folded and bpftrace count: recording.SignalCPU (also "") or SignalOffCPU
	Period  time.Duration // what one count of such a stack stands for; 0: 10 ms of CPU, 1 µs off it
}

// ErrUnknown marks input whose format could not be told.
var ErrUnknown = errors.New("format not recognised")

const (
	readerBytes = 1 << 18
	detectBytes = 64 << 10
)

// Import reads all sources into one recording. An error names the source, and
// wraps ErrUnknown when the format could not be told.
func Import(sources []Source, options Options) (*recording.Recording, error) {
	if len(sources) == 0 {
		return nil, errors.New("nothing to import; give a file, or - for standard input")
	}
	known := options.Format
	if known == Auto {
		known = ""
	}
	var target reader
	for _, source := range sources {
		input := bufio.NewReaderSize(source.Reader, readerBytes)
		is := options.Format
		if is == "" || is == Auto {
			var err error
			if is, err = detect(input); err != nil {
				return nil, fmt.Errorf("import %s: %w", source.Name, err)
			}
		}
		if known != "" && is != known {
			return nil, fmt.Errorf("import %s: it is %s, the files before it are %s; import them one by one",
				source.Name, is, known)
		}
		if known = is; target == nil {
			var err error
			if target, err = newReader(is, options); err != nil {
				return nil, err
			}
		}
		if err := target.read(source.Name, input); err != nil {
			return nil, fmt.Errorf("import %s as %s: %w", source.Name, is, oneLine(err))
		}
	}
	rec, err := target.finish()
	if err != nil {
		return nil, fmt.Errorf("import %s as %s: %w", sources[0].Name, known, err)
	}
	complete(rec, sources, known, options)
	return rec, nil
}

// reader reads files of one format, one after the other, into one recording.
type reader interface {
	read(name string, input *bufio.Reader) error
	finish() (*recording.Recording, error)
}

// newReader is the list of formats: a new one is a file and a line here.
func newReader(format string, options Options) (reader, error) {
	switch format {
	case PerfScript:
		return newPerfScript(), nil
	case Folded:
		return newFolded(options)
	case Pprof:
		return newPprof(), nil
	case Strace:
		return newStrace(), nil
	case CPUProfile:
		return newCPUProfile(), nil
	case OTLP:
		return newOTLP(), nil
	case Bpftrace:
		return newBpftrace(options)
	case JFR:
		return newJFR(), nil
	}
	return nil, fmt.Errorf("format %q; give one of %s", format, strings.Join(Readable, ", "))
}

// complete fills in what all formats share.
func complete(rec *recording.Recording, sources []Source, format string, options Options) {
	var names []string
	for _, source := range sources[:min(len(sources), namesShown)] {
		names = append(names, source.Name)
	}
	if len(sources) > namesShown {
		names = append(names, fmt.Sprintf("and %d more", len(sources)-namesShown))
	}
	m := &rec.Manifest
	m.Schema, m.Program, m.Format = recording.SchemaVersion, options.Program, format
	from := fmt.Sprintf("%s of %s", format, strings.Join(names, ", "))
	rec.Facts = append([]recording.Fact{{Name: recording.ImportFact, Value: from, Source: "import"}}, rec.Facts...)
	if m.Target.Kind == "" {
		m.Target.Kind = "import"
	}
	if m.Target.Command == "" {
		m.Target.Command = from
	}
	m.Probes = append(m.Probes, recording.ProbeStatus{Name: "import " + format, On: true})
	if m.Losses == nil {
		m.Losses = []recording.Loss{}
	}
	m.BlindSpots = append(m.BlindSpots, recording.Lost(m.Losses)...)
}

// lacks makes blind spots of what an input does not hold.
func lacks(texts ...string) []recording.BlindSpot {
	spots := make([]recording.BlindSpot, len(texts))
	for i, text := range texts {
		spots[i] = recording.BlindSpot{Kind: recording.BlindImport, What: text}
	}
	return spots
}

// namesShown bounds the files named in the manifest.
const namesShown = 4

// oneLine keeps a library's message, which may quote the input, on one line.
func oneLine(err error) error {
	if text := err.Error(); strings.ContainsAny(text, "\n\r") {
		return errors.New(strings.Join(strings.Fields(text), " "))
	}
	return err
}
