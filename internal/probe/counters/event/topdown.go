package event

import (
	"fmt"
	"slices"
	"strings"
)

// TopDown is the name that stands for the events of the top-down method: where the slots of a CPU's pipeline go.
const TopDown = "topdown"

// levels of top-down events of Intel's PMU, as the kernel names them: the first leads their group.
var levels = [][]string{
	{"slots", "topdown-retiring", "topdown-bad-spec", "topdown-fe-bound", "topdown-be-bound"},
	{"topdown-heavy-ops", "topdown-br-mispredict", "topdown-fetch-lat", "topdown-mem-bound"},
}

// older are those of Intel's CPUs before Ice Lake, which count slots by the ordinary counters.
var older = []string{"topdown-total-slots", "topdown-slots-retired", "topdown-fetch-bubbles"}

// topDown is the group of the events that this host has, level 2 with them where it has that.
func (s Source) topDown() (string, error) {
	pmu := s.CorePMU()
	if pmu == "" {
		return "", fmt.Errorf("event %s: this host has no hardware counters: among its event sources (%s) there is no PMU "+
			"of the CPU, as in most virtual machines; %s", TopDown, strings.Join(s.PMUs(), ", "), StandIn("stalled"))
	}
	events := s.folder(devices, pmu, "events")
	has := func(names []string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(events, name) })
	}
	switch {
	case has(levels[0]) && has(levels[1]):
		return "{" + strings.Join(slices.Concat(levels...), ",") + "}", nil
	case has(levels[0]):
		return "{" + strings.Join(levels[0], ",") + "}", nil
	case has(older):
		return "{" + strings.Join(older, ",") + "}", nil
	}
	return "", fmt.Errorf("event %s: the PMU %s of this CPU (%s) has no events of slots, as Intel's have since "+
		"Sandy Bridge; stalled-cycles-frontend and stalled-cycles-backend tell part of it", TopDown, pmu, s.cpuName())
}
