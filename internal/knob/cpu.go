package knob

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	cpuFolder    = "/sys/devices/system/cpu/"
	policyFolder = cpuFolder + "cpufreq/"
)

// findCPU makes the knobs of the processors: "governor", "epp", "boost", "smt".
func findCPU(name string, target Target) (Knob, bool, error) {
	switch name {
	case "governor":
		return policyKnob(name, target, "scaling_governor", "scaling_available_governors",
			About{Text: "who chooses the CPUs' frequency", WashOut: 200 * time.Millisecond})
	case "epp":
		return policyKnob(name, target, "energy_performance_preference", "energy_performance_available_preferences",
			About{Text: "what the processor prefers, energy or performance", WashOut: 200 * time.Millisecond})
	case "boost":
		return boostKnob(name, target)
	case "smt":
		return smtKnob(name, target)
	}
	return Knob{}, false, nil
}

// policyKnob has a part for each frequency policy: CPUs that share a clock.
func policyKnob(name string, target Target, file, values string, about About) (Knob, bool, error) {
	policies, err := filepath.Glob(filepath.Join(target.Root, policyFolder, "policy*", file))
	if err != nil || len(policies) == 0 {
		return Knob{}, true, fmt.Errorf("this host does not let the kernel choose frequencies (no %spolicy*/%s)",
			policyFolder, file)
	}
	var places []Place
	for _, each := range policies {
		relative, err := filepath.Rel(target.Root, each)
		if err != nil {
			return Knob{}, true, err
		}
		places = append(places, Place{Root: target.Root, Path: "/" + relative})
	}
	knob := fileKnob(name, target, places[0].Path, about)
	knob.parts = func() ([]part, error) {
		var parts []part
		for _, place := range places {
			parts = append(parts, filePart(place))
		}
		return parts, nil
	}
	knob.offers = func() ([]string, error) {
		text, err := readSetting(Place{Root: target.Root, Path: filepath.Join(filepath.Dir(places[0].Path), values)})
		return strings.Fields(text), err
	}
	return knob, true, nil
}

// boostKnob is 1 where clocks may rise above the nominal frequency. intel_pstate
// has the opposite file.
func boostKnob(name string, target Target) (Knob, bool, error) {
	about := About{Text: "clocks above the nominal frequency", WashOut: 200 * time.Millisecond}
	const plain, inverted = policyFolder + "boost", cpuFolder + "intel_pstate/no_turbo"
	switch {
	case target.exists(plain):
		knob := fileKnob(name, target, plain, about)
		knob.offers = offer("0", "1")
		return knob, true, nil
	case !target.exists(inverted):
		return Knob{}, true, fmt.Errorf("this host does not let the kernel choose (neither %s nor %s)", plain, inverted)
	}
	knob := fileKnob(name, target, inverted, about)
	knob.offers = offer("0", "1")
	opposite := map[string]string{"0": "1", "1": "0"}
	place := knob.about.Place
	knob.parts = func() ([]part, error) {
		only := filePart(place)
		only.want = func(value string) string { return opposite[value] }
		return []part{only}, nil
	}
	knob.join = func(values []string) string { return opposite[values[0]] }
	return knob, true, nil
}

// smtKnob switches sibling threads off and on. Threads that were pinned to a sibling
// alone lose that when it goes off, and the kernel does not put it back: none of
// culprit's own trials is pinned so.
func smtKnob(name string, target Target) (Knob, bool, error) {
	const path = cpuFolder + "smt/control"
	knob := fileKnob(name, target, path, About{Text: "sibling threads of a core", WashOut: time.Second})
	knob.offers = func() ([]string, error) {
		current, err := readSetting(knob.about.Place)
		if err != nil {
			return nil, err
		}
		if !slices.Contains([]string{"on", "off"}, current) {
			return nil, errors.New("this host has none to switch: " + path + " says " + current)
		}
		return []string{"on", "off"}, nil
	}
	return knob, true, nil
}

// findInterrupt makes "irq.N.affinity": the CPUs that serve an interrupt.
func findInterrupt(name string, target Target) (Knob, bool, error) {
	number, ours := strings.CutPrefix(name, "irq.")
	number, last := strings.CutSuffix(number, ".affinity")
	if !ours || !last || !isNumber(number) {
		return Knob{}, false, nil
	}
	path := "/proc/irq/" + number + "/smp_affinity_list"
	if !target.exists(path) {
		return Knob{}, true, fmt.Errorf("%w: this host has no interrupt %s", ErrUnknown, number)
	}
	knob := fileKnob(name, target, path, About{Text: "the CPUs that serve interrupt " + number})
	knob.check = checkCPUs
	place := knob.about.Place
	knob.parts = func() ([]part, error) {
		only := filePart(place)
		only.canon = sameCPUs
		return []part{only}, nil
	}
	return knob, true, nil
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == "" && len(text) < 12
}
