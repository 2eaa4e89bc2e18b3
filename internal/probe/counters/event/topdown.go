package event

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// TopDown is the name that stands for the events of the top-down method: where the slots of a CPU's
// pipeline go.
const TopDown = "topdown"

// SMTContention is the part of AMD's slots that went to the other thread of a core.
const SMTContention = "smt-contention"

// Share is a part of the slots of a CPU's pipeline, as its maker computes it of the events that it
// has.
type Share struct {
	Name string
	*Formula
}

// slotsOfArm are the formulas that Arm publishes, with the codes of their events;
// topdown_generate.go made it.
//
//go:embed topdown_arm.txt
var slotsOfArm []byte

// slotsOfAMD are those of AMD's manuals.
//
//go:embed topdown_amd.txt
var slotsOfAMD []byte

// levels of top-down events of Intel's PMU, as the kernel names them: the first leads their group.
var levels = [][]string{
	{"slots", "topdown-retiring", "topdown-bad-spec", "topdown-fe-bound", "topdown-be-bound"},
	{"topdown-heavy-ops", "topdown-br-mispredict", "topdown-fetch-lat", "topdown-mem-bound"},
}

// older are those of Intel's CPUs before Ice Lake, which count slots by the ordinary counters.
var older = []string{"topdown-total-slots", "topdown-slots-retired", "topdown-fetch-bubbles"}

// topDown is the group of the events that this host has, level 2 with them where it has that, and
// how shares are computed of them where they are no events themselves.
func (s Source) topDown() (group string, shares []Share, err error) {
	pmu := s.CorePMU()
	if pmu == "" {
		return "", nil, fmt.Errorf("event %s: this host has no hardware counters: among its event sources (%s) there is no "+
			"PMU of the CPU, as in most virtual machines; %s", TopDown, strings.Join(s.PMUs(), ", "), StandIn("stalled"))
	}
	events := s.folder(devices, pmu, "events")
	has := func(names []string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(events, name) })
	}
	switch {
	case has(levels[0]) && has(levels[1]):
		return inGroup(slices.Concat(levels...)), nil, nil
	case has(levels[0]):
		return inGroup(levels[0]), nil, nil
	case has(older):
		return inGroup(older), nil, nil
	}
	if shares, err = s.shares(pmu); err != nil {
		return "", nil, err
	}
	var names []string
	for _, share := range shares {
		for _, name := range share.Events {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if missing := s.notListed(pmu, names); missing != "" {
		return "", nil, fmt.Errorf("event %s: the PMU %s of this host does not list %s, which would then read 0; "+
			"cycles and instructions tell how fast it went", TopDown, pmu, missing)
	}
	return inGroup(names), shares, nil
}

func inGroup(names []string) string { return "{" + strings.Join(names, ",") + "}" }

// shares are the formulas of this CPU.
func (s Source) shares(pmu string) ([]Share, error) {
	var shares []Share
	var failed error
	perCycle := ""
	s.eachLineOf([][]byte{slotsOfArm, slotsOfAMD}, func(_ string, ours bool, line string) {
		name, text, found := strings.Cut(line, " = ")
		if !ours || !found || failed != nil {
			return
		}
		if name == "slots" {
			perCycle = text
			return
		}
		var formula *Formula
		if formula, failed = parseFormula(text); failed == nil {
			shares = append(shares, Share{name, formula})
		}
	})
	switch {
	case failed != nil:
		return nil, failed
	case len(shares) == 0:
		return nil, fmt.Errorf("event %s: the PMU %s of this CPU (%s) has no events of slots that are known here: Intel's "+
			"have them since Sandy Bridge, AMD's since Zen 4, Arm's in Neoverse V1, N2 and later; "+
			"stalled-cycles-frontend and stalled-cycles-backend tell part of it", TopDown, pmu, s.cpuName())
	}
	if slots, err := s.read(devices, pmu, "caps", "slots"); err == nil && slots != "" {
		told, err := strconv.ParseUint(slots, 0, 16)
		if err == nil && told != 0 && strconv.FormatUint(told, 10) != perCycle {
			return nil, fmt.Errorf("event %s: the PMU %s says that it has %d slots in a cycle, and what is published of this "+
				"CPU (%s) counts with %s", TopDown, pmu, told, s.cpuName(), perCycle)
		}
	}
	if watchdog, err := s.read("/proc/sys/kernel/nmi_watchdog"); err == nil && watchdog == "1" {
		// AMD's cores have six counters, and the watchdog holds one: the fifth part is what the
		// others leave.
		shares = slices.DeleteFunc(shares, func(share Share) bool { return share.Name == SMTContention })
	}
	return shares, nil
}

// slotEvents are those of Arm's common events that tell of slots. The kernel lists those that the
// PMU says it counts.
var slotEvents = []string{"stall_slot_frontend", "stall_slot_backend", "op_retired", "op_spec"}

// notListed is the first of the names that Arm's PMU would have to list and does not.
func (s Source) notListed(pmu string, names []string) string {
	if !ofArmCore(pmu) {
		return ""
	}
	events := s.folder(devices, pmu, "events")
	for _, name := range slotEvents {
		if slices.Contains(names, name) && !slices.Contains(events, name) {
			return name
		}
	}
	return ""
}

// eachLineOf goes over the lines of lists that are not packed.
func (s Source) eachLineOf(lists [][]byte, each func(list string, ours bool, line string)) {
	model := s.model()
	for _, list := range lists {
		eachLine(io.LimitReader(bytes.NewReader(list), publishedLimit), model, each)
	}
}
