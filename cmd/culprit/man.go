package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manVerb writes the manual from the same table that --help prints.
func manVerb(w world) *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages into a folder",
		Hidden: true, // for packagers
		Long: `Writes a manual page in roff for culprit and one for each verb. The folder is made when it
is missing. Completion of the shell comes from 'culprit completion bash|zsh|fish'.`,
		Example: `  culprit man man1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("give one folder for the manual pages, as in 'culprit man man1'")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runMan(w, cmd.Root(), args[0])
		},
	}
}

func runMan(w world, root *cobra.Command, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	root.DisableAutoGenTag = true // no date: the same source gives the same pages
	header := &doc.GenManHeader{Section: "1", Source: "culprit " + version, Manual: "culprit"}
	if err := doc.GenManTree(root, header, folder); err != nil {
		return fmt.Errorf("write manual pages: %w", err)
	}
	fmt.Fprintf(w.stderr, "culprit: manual pages written to %s; read one with: man -l %s/culprit.1\n", folder, folder)
	return nil
}
