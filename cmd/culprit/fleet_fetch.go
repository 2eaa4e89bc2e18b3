package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// fleetFetch brings windows from a hub to this host.
func fleetFetch(w world) *cobra.Command {
	var from hubFlags
	var folder string
	command := &cobra.Command{
		Use:   "fetch ID…",
		Short: "Bring windows of a hub here, for compare --service",
		Long: `Brings windows that an answer names from the hub: each as a recording under its id, with its
manifest beside it. What they tell of a service is compared by 'culprit compare --service'.`,
		Example: "  culprit fleet fetch 5be0…c1 77af…09 --hub https://hub.example:8430 --token-file read.token -o windows",
		RunE: func(cmd *cobra.Command, ids []string) error {
			if len(ids) == 0 {
				return fmt.Errorf("no window; give the ids that an answer of 'culprit fleet' names")
			}
			if err := from.Check(); err != nil {
				return err
			}
			if err := from.readToken(); err != nil {
				return err
			}
			return fetchWindows(cmd.Context(), w, from, ids, folder)
		},
	}
	flags := command.Flags()
	from.defineHub(flags, "token-file", "file with a token of the hub that may read")
	flags.StringVarP(&folder, "out", "o", ".", "folder for the windows, which is made where it is not there")
	return command
}

func fetchWindows(ctx context.Context, w world, from hubFlags, ids []string, folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("fetch windows: %w", err)
	}
	for _, id := range ids {
		path, err := from.Fetch(ctx, id, folder)
		if err != nil {
			return err
		}
		fmt.Fprintln(w.stdout, path)
	}
	return nil
}
