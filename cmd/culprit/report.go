package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"culprit/internal/investigate"
	"culprit/internal/record"
	"culprit/internal/report"
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
		Short: "One self-contained HTML file of a case",
		Long: `Writes the page of an investigation again, out of its case.json: after an update of culprit, or
where only that file was kept. CASE is the directory, or the file itself.`,
		Example: `  culprit investigate --budget 10s --case naps -- sleep 0.05
  culprit report naps -o page.html`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("give one case directory, or a case.json, not %d", len(args))
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
	c, folder, err := readCase(ctx, path)
	if err != nil {
		return err
	}
	if o.text {
		return report.Text(w.stdout, c, textOptions(w))
	}
	if o.out == "" {
		o.out = filepath.Join(folder, "report.html")
	} else if err := checkOutput(o.out, true); err != nil {
		return err
	}
	if err := report.HTML(o.out, c); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w.stdout, o.out)
	return err
}

// readCase reads the document of a case.
func readCase(ctx context.Context, path string) (c *investigate.Case, folder string, err error) {
	name := path
	if information, err := os.Stat(path); err == nil && information.IsDir() {
		name = filepath.Join(path, "case.json")
		if _, err := os.Stat(filepath.Join(path, "experiment.json")); err == nil {
			return nil, "", fmt.Errorf("%s is an experiment of `culprit try`: its report.html is written with it", path)
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
