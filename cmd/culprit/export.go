package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"culprit/internal/format"
	"culprit/recording"
)

// exportOptions is what may be typed for export.
type exportOptions struct {
	file   string
	as     string
	signal string
	out    string
	force  bool
}

func exportVerb(w world) *cobra.Command {
	var o exportOptions
	command := &cobra.Command{
		Use:   "export FILE.culprit --as FORMAT",
		Short: "Write a recording's stacks for other tools",
		Long: `Writes the stacks of one signal of a recording: folded for flamegraph.pl and inferno, pprof for
"go tool pprof", Pyroscope and Parca, speedscope for https://www.speedscope.app, otlp for collectors
of OpenTelemetry, firefox for https://profiler.firefox.com, perfetto for https://ui.perfetto.dev; the
last two show waits, too. Folded counts are samples, microseconds off the CPU, or what the signal counts.`,
		Example: `  culprit record -o sum.culprit -- sh -c 'i=0; while [ $i -lt 700000 ]; do i=$((i+1)); done'
  culprit export sum.culprit --as folded
  culprit export sum.culprit --as pprof -o sum.pb.gz
  culprit export sum.culprit --as speedscope -o sum.json
  culprit export sum.culprit --as firefox -o sum.firefox.json
  culprit export sum.culprit --as perfetto -o sum.perfetto`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("export takes one recording, not %d; see '%s --help'", len(args), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			o.file = args[0]
			return runExport(w, o)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.as, "as", "", strings.Join(format.Writable, ", ")+" (required)")
	flags.StringVar(&o.signal, "signal", recording.SignalCPU, "cpu, offcpu, or another that the recording has")
	flags.StringVarP(&o.out, "out", "o", "-", "file to write, - for standard output")
	flags.BoolVarP(&o.force, "force", "f", false, "overwrite the file")
	return command
}

func runExport(w world, o exportOptions) error {
	if !slices.Contains(format.Writable, o.as) {
		return fmt.Errorf("format %q; give --as %s", o.as, strings.Join(format.Writable, ", --as "))
	}
	if o.as == format.AsPprof && o.out == "-" && isTerminal(w.stdout) {
		return fmt.Errorf("a pprof profile is not for a terminal; give -o FILE")
	}
	if o.out != "-" {
		if err := checkOutput(o.out, o.force); err != nil {
			return err
		}
	}
	rec, err := recording.Open(o.file)
	if err != nil {
		return err
	}
	write := func(out io.Writer) error { return format.Export(out, rec, o.as, o.signal) }
	if o.out == "-" {
		err = write(w.stdout)
	} else {
		err = writeOut(w, o.out, write)
	}
	if err != nil {
		return fmt.Errorf("export %s: %w", o.file, err)
	}
	return nil
}
