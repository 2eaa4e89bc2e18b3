package event

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// field is where a term of a PMU's format goes: "config1:0-7,32-35".
type field struct {
	word int // 0 config, 1 config1, 2 config2
	bits []int
}

// ofPMU resolves "pmu/terms/": the name of one of its events, or terms of its format.
func (s Source) ofPMU(typed, pmu, terms string) (*Event, error) {
	if !pmuShape.MatchString(pmu) || !slices.Contains(s.PMUs(), pmu) {
		return nil, fmt.Errorf("event %s: this host has no PMU %q; it has %s; %s", typed, pmu, strings.Join(s.PMUs(), ", "),
			StandIn(typed))
	}
	text, err := s.read(devices, pmu, "type")
	if err != nil {
		return nil, fmt.Errorf("event %s: read the type of its PMU: %w", typed, err)
	}
	number, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("event %s: the type of its PMU reads %q", typed, text)
	}
	event := &Event{Name: typed, Kind: kindOf(pmu), Type: uint32(number)}
	if err := s.placement(event, pmu); err != nil {
		return nil, err
	}
	for _, term := range strings.Split(terms, ",") {
		if err := s.term(event, pmu, strings.TrimSpace(term), true); err != nil {
			return nil, err
		}
	}
	return event, nil
}

func kindOf(pmu string) Kind {
	switch pmu {
	case "msr":
		return Free
	case "software":
		return Software
	}
	return Hardware
}

// placement looks on which CPUs the PMU counts: one of each package for what belongs to the
// package.
func (s Source) placement(event *Event, pmu string) error {
	text, err := s.read(devices, pmu, "cpumask")
	if err != nil {
		// Hybrid CPUs have a PMU for each kind of core, which says where it counts.
		if text, err = s.read(devices, pmu, "cpus"); err != nil {
			return nil
		}
		event.CPUs, err = cpuList(text)
		return err
	}
	event.Kind = Package
	event.CPUs, err = cpuList(text)
	return err
}

// term applies "event=0x3c", "config=1", a flag, or the name of an event, which is a list of terms
// itself.
func (s Source) term(event *Event, pmu, term string, mayBeName bool) error {
	name, value, valued := strings.Cut(term, "=")
	if !pmuShape.MatchString(name) {
		return fmt.Errorf("event %s: %q is no term; write pmu/event/ or pmu/config=0x1/", event.Name, term)
	}
	if mayBeName && !valued {
		if text, err := s.read(devices, pmu, "events", name); err == nil {
			for _, part := range strings.Split(text, ",") {
				if err := s.term(event, pmu, strings.TrimSpace(part), false); err != nil {
					return err
				}
			}
			return s.unit(event, pmu, name)
		}
	}
	number := uint64(1)
	if valued {
		var err error
		if number, err = strconv.ParseUint(value, 0, 64); err != nil {
			return fmt.Errorf("event %s: %q of term %s is no number", event.Name, value, name)
		}
	}
	switch name {
	case "config":
		event.Config |= number
		return nil
	case "config1":
		event.Config1 |= number
		return nil
	case "config2":
		event.Config2 |= number
		return nil
	}
	text, err := s.read(devices, pmu, "format", name)
	if err != nil {
		return fmt.Errorf("event %s: PMU %s has no event and no term %q; it has %s", event.Name, pmu, name,
			strings.Join(append(s.Events(pmu), s.terms(pmu)...), " "))
	}
	place, err := parseField(text)
	if err != nil {
		return fmt.Errorf("event %s: term %s: %w", event.Name, name, err)
	}
	return event.put(name, place, number)
}

// put spreads a number over the bits of a term.
func (e *Event) put(name string, place field, number uint64) error {
	word := []*uint64{&e.Config, &e.Config1, &e.Config2}[place.word]
	for i, bit := range place.bits {
		*word |= number >> i & 1 << bit
	}
	if len(place.bits) < 64 && number>>len(place.bits) != 0 {
		return fmt.Errorf("event %s: %d of term %s needs more than its %d bits", e.Name, number, name, len(place.bits))
	}
	return nil
}

// unit reads what one count of an event is worth.
func (s Source) unit(event *Event, pmu, name string) error {
	text, err := s.read(devices, pmu, "events", name+".scale")
	if err != nil {
		return nil // most have none
	}
	if event.Scale, err = strconv.ParseFloat(text, 64); err != nil || event.Scale <= 0 {
		return fmt.Errorf("event %s: its scale reads %q", event.Name, text)
	}
	event.Unit, _ = s.read(devices, pmu, "events", name+".unit") // "" where it has none
	return nil
}

func (s Source) terms(pmu string) []string {
	entries := s.folder(devices, pmu, "format")
	for i := range entries {
		entries[i] += "="
	}
	return entries
}

// parseField reads "config:0-7,32-35".
func parseField(text string) (field, error) {
	name, ranges, found := strings.Cut(text, ":")
	place := field{word: slices.Index([]string{"config", "config1", "config2"}, name)}
	if !found || place.word < 0 {
		return place, fmt.Errorf("its format %q is not known here", text)
	}
	bits, err := cpuList(ranges) // the same notation
	if err != nil || slices.Max(bits) > 63 {
		return place, fmt.Errorf("its format %q is not known here", text)
	}
	place.bits = bits
	return place, nil
}
