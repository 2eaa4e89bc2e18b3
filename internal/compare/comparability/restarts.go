package comparability

import (
	"fmt"
	"slices"

	"culprit/internal/compare/perrun"
	"culprit/recording"
)

// IsDisturbed tells a recording in which the service was restarted, or ended.
func IsDisturbed(rec *recording.Recording) bool { return len(rec.Manifest.Restarts) > 0 }

// restarted warns of sides whose service did not run all the time.
func restarted(a, b []*recording.Recording) (list []string) {
	for _, side := range []struct {
		of    perrun.Side
		group []*recording.Recording
	}{{perrun.A, a}, {perrun.B, b}} {
		count, all := 0, len(side.group)
		for _, rec := range side.group {
			if IsDisturbed(rec) {
				count++
			}
		}
		if count == 0 {
			continue
		}
		list = append(list, fmt.Sprintf("disturbed: in %d of %d recordings of %s the service was restarted, and is cold for "+
			"a while after: leave these out, or take parts of them such as FILE@30s..60s", count, all, side.of))
	}
	return list
}

// Disturbed are the names of those recordings of a side whose service was restarted in them.
func Disturbed(names []string, group []*recording.Recording) (list []string) {
	for i, rec := range group {
		if i < len(names) && IsDisturbed(rec) && !slices.Contains(list, names[i]) {
			list = append(list, names[i])
		}
	}
	return list
}
