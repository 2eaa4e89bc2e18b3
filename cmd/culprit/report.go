package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"culprit/internal/investigate"
	"culprit/internal/record"
	"culprit/internal/report"
	"culprit/internal/try"
)

// reportOptions is what may be typed for report.
type reportOptions struct {
	out  string
	text bool
}

func reportVerb(w world) *cobra.Command {
	var o reportOptions
	command := &cobra.Command{
		Use:   "report CASE",
		Short: "One self-contained HTML file of a case or an experiment",
		Long: `Writes the page of an investigation again, out of its case.json, or that of an experiment, out of its
result.json: after an update of culprit, or where only that file was kept. CASE is the directory, or
the file itself.`,
		Example: `  culprit investigate --budget 10s --case naps -- sleep 0.05
  culprit report naps -o page.html`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("give one case directory, or a case.json or result.json, not %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runReport(cmd.Context(), w, o, args[0]) },
	}
	command.Flags().StringVarP(&o.out, "output", "o", "", "the page (default: report.html in the case directory)")
	command.Flags().BoolVar(&o.text, "text", false, "print what the terminal showed instead")
	return command
}

func runReport(ctx context.Context, w world, o reportOptions, path string) error {
	if name, is := experimentIn(path); is {
		return reportExperiment(ctx, w, o, name)
	}
	c, folder, err := readCase(ctx, path)
	if err != nil {
		return err
	}
	if o.text {
		return report.Text(w.stdout, c, textOptions(w))
	}
	sides, err := requestSides(folder, c)
	if err != nil {
		return err
	}
	return o.write(w, folder, func(page string) error { return report.HTMLWith(page, c, sides...) })
}

// write writes the page to where it was asked for and prints its name.
func (o reportOptions) write(w world, folder string, page func(path string) error) error {
	if o.out == "" {
		o.out = filepath.Join(folder, "report.html")
	} else if err := checkOutput(o.out, true); err != nil {
		return err
	}
	if err := page(o.out); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w.stdout, o.out)
	return err
}

// experimentIn names the document of an experiment: the file that is given, or that of a directory
// without a case.
func experimentIn(path string) (name string, is bool) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", false
	case info.IsDir():
		if _, err := os.Stat(filepath.Join(path, "case.json")); err == nil {
			return "", false
		}
		name = filepath.Join(path, try.ResultName)
		_, err := os.Stat(name)
		return name, err == nil
	case filepath.Base(path) == try.ResultName || !info.Mode().IsRegular():
		return path, info.Mode().IsRegular()
	}
	file, err := os.Open(path)
	if err != nil {
		return "", false // who reads it says why
	}
	defer file.Close()
	begin := make([]byte, 64)
	n, _ := io.ReadFull(file, begin) // a shorter one is none
	return path, bytes.Contains(begin[:n], []byte(`"culprit.experiment/`))
}

func reportExperiment(ctx context.Context, w world, o reportOptions, name string) error {
	text, result, err := readResult(ctx, name)
	if err != nil {
		return err
	}
	if !o.text {
		return o.write(w, filepath.Dir(name), func(page string) error { return report.ExperimentHTML(page, result) })
	}
	if result.Allowed > 0 {
		return report.Overhead(w.stdout, try.OverheadOf(result), textOptions(w))
	}
	if err := report.Experiment(w.stdout, result, textOptions(w)); err != nil {
		return err
	}
	return showScaling(w, w.stdout, result, text)
}

// readResult reads the document of an experiment, and returns it as it stands, too.
func readResult(ctx context.Context, name string) (text []byte, result *try.Result, err error) {
	file, err := openInput(ctx, name)
	if err != nil {
		return nil, nil, fmt.Errorf("%w; give the case directory of a finished `culprit try`", err)
	}
	defer file.Close()
	var whole bytes.Buffer
	if result, err = try.ReadResult(io.TeeReader(file, &whole)); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return whole.Bytes(), result, nil
}

// readCase reads the document of a case.
func readCase(ctx context.Context, path string) (c *investigate.Case, folder string, err error) {
	name := path
	if information, err := os.Stat(path); err == nil && information.IsDir() {
		name = filepath.Join(path, "case.json")
		if _, err := os.Stat(filepath.Join(path, "experiment.json")); err == nil {
			return nil, "", fmt.Errorf("%s is an experiment of `culprit try`, and has no result yet; go on with it by "+
				"`culprit try --resume %s`", path, path)
		}
	}
	file, err := openInput(ctx, name)
	if errors.Is(err, os.ErrNotExist) && strings.HasSuffix(path, record.PartsSuffix) {
		return nil, "", fmt.Errorf("%s: parts of a killed recording; `culprit record --salvage %s` makes one of them",
			path, path)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, "", fmt.Errorf("%s: there is no case; give the directory that investigate named", path)
	}
	if err != nil {
		return nil, "", fmt.Errorf("read case: %w", err)
	}
	defer file.Close()
	if c, err = report.Read(file); err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	return c, filepath.Dir(name), nil
}
