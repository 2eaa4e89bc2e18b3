package main

import (
	"fmt"

	"culprit/internal/record"
	"culprit/recording"
)

// printAbsent says that a recorded service did not come back; kept is what there is of it.
func printAbsent(w world, target record.Target, restarts []recording.Restart, kept string) {
	for _, restart := range restarts {
		if restart.NewPid == 0 {
			fmt.Fprintf(w.stderr, "culprit: %s did not come back: %s; %s\n", target.Name(), restart, kept)
		}
	}
}
