package event

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
)

// published are the events that Intel publishes by model, as data: github.com/intel/perfmon, under the licence that
// stands at its begin. published_generate.go made it.
//
//go:embed published.txt.gz
var published []byte

// publishedLimit bounds what is unpacked.
const publishedLimit = 8 << 20

// model is how Intel's lists call a CPU: "GenuineIntel-6-8F-4", with the stepping at its end.
func (s Source) model() string {
	text, err := s.read("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, found := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); found && fields[name] == "" {
			fields[name] = strings.TrimSpace(value)
		}
	}
	name := fields["vendor_id"]
	for _, part := range []string{"cpu family", "model", "stepping"} {
		number, err := strconv.ParseUint(fields[part], 10, 16)
		if err != nil {
			return ""
		}
		name += fmt.Sprintf("-%X", number)
	}
	return name
}

// fits tells whether a list is for a model: its names are without the stepping, or with a class of them.
func fits(pattern, model string) bool {
	matched, err := path.Match(pattern, model)
	if !matched && err == nil {
		matched, err = path.Match(pattern+"-?", model)
	}
	return matched && err == nil
}

// eachPublished goes over the events of all lists: the name of the list, whether it is for this CPU, the event in
// small letters and the terms of its PMU.
func (s Source) eachPublished(each func(list string, ours bool, name, terms string)) {
	unpacked, err := gzip.NewReader(bytes.NewReader(published))
	if err != nil {
		return // the tests read it whole
	}
	model, list, ours := s.model(), "", false
	lines := bufio.NewScanner(io.LimitReader(unpacked, publishedLimit))
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) > 2 && words[0] == "=":
			list = words[1]
			ours = slices.ContainsFunc(words[3:], func(pattern string) bool { return fits(pattern, model) })
		case len(words) == 2 && list != "": // the licence stands before
			each(list, ours, words[0], words[1])
		}
	}
}

// publishedTerms finds an event in the list of this host's CPU: the terms of its PMU. Of one that only other CPUs
// have, elsewhere names these.
func (s Source) publishedTerms(wanted string) (terms string, elsewhere []string) {
	wanted = strings.ToLower(wanted)
	s.eachPublished(func(list string, ours bool, name, its string) {
		switch {
		case name != wanted:
		case ours:
			terms = its
		default:
			elsewhere = append(elsewhere, list)
		}
	})
	return terms, elsewhere
}

// Published are the names of the events that the CPU's maker published for it.
func (s Source) Published() []string {
	var names []string
	s.eachPublished(func(_ string, ours bool, name, _ string) {
		if ours {
			names = append(names, name)
		}
	})
	return names
}

// ofMaker resolves an event by the name that the CPU's maker published, or that the kernel's PMU has, without its
// PMU. It is nil where neither knows it.
func (s Source) ofMaker(name string) (*Event, error) {
	if !pmuShape.MatchString(name) {
		return nil, nil
	}
	pmu := s.CorePMU()
	if pmu != "" {
		if _, err := s.read(devices, pmu, "events", name); err == nil {
			return s.ofPMU(name, pmu, name)
		}
	}
	terms, elsewhere := s.publishedTerms(name)
	switch {
	case terms != "" && pmu == "":
		return nil, fmt.Errorf("event %s: this host has no hardware counters: among its event sources (%s) there is no "+
			"PMU of the CPU, as in most virtual machines; %s", name, strings.Join(s.PMUs(), ", "), StandIn(name))
	case terms != "":
		return s.ofPMU(name, pmu, terms)
	case len(elsewhere) > 0:
		return nil, fmt.Errorf("event %s is of other CPUs (%s), not of this one (%s); `culprit count --list` lists those "+
			"of this host", name, strings.Join(elsewhere[:min(len(elsewhere), 6)], ", "), s.cpuName())
	}
	return nil, nil
}

// cpuName is what the kernel calls the CPU.
func (s Source) cpuName() string {
	text, _ := s.read("/proc/cpuinfo") // "" where there is none
	for line := range strings.Lines(text) {
		name, value, found := strings.Cut(line, ":")
		if found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "no model name"
}
