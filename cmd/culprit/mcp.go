package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"culprit/internal/mcp"
)

func mcpVerb(w world) *cobra.Command {
	var act bool
	command := &cobra.Command{
		Use:   "mcp [DIR]",
		Short: "Tools for assistants: what lies in a directory, explained and compared",
		Long: `Speaks the Model Context Protocol on standard input and output, so that an assistant can list,
explain and compare the cases and recordings below DIR (the current folder where none is given).
Answers are what the terminal shows, and the JSON documents of the verbs.

Tools only read, and only below DIR. --act offers two more that record and investigate: they run
commands as the user who starts this.`,
		Example: `  culprit mcp . < /dev/null`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("offer one directory at a time, not %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			return runMCP(cmd.Context(), w, dir, act)
		},
	}
	command.Flags().BoolVar(&act, "act", false, "offer tools that run commands and record, too")
	return command
}

func runMCP(ctx context.Context, w world, dir string, act bool) error {
	whole, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("find directory %s: %w", dir, err)
	}
	return mcp.Run(ctx, mcp.Options{Dir: whole, Act: act, Program: "/proc/self/exe", Version: version,
		In: io.NopCloser(w.stdin), Out: unclosed{w.stdout}})
}

// unclosed is standard output, which is not the server's to close.
type unclosed struct{ io.Writer }

// Close leaves it open.
func (unclosed) Close() error { return nil }
