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

// ofIntel are the events that Intel publishes by model, as data: github.com/intel/perfmon, under
// the licence that stands at its begin. published_generate.go made it.
//
//go:embed published.txt.gz
var ofIntel []byte

// ofOthers are those of AMD's and Arm's cores, out of libpfm4's tables, under the licence at its
// begin, which the kernel's own lists of them (GPL) could not be taken under. libpfm_generate.go
// made it.
//
//go:embed libpfm.txt.gz
var ofOthers []byte

// publishedLimit bounds what is unpacked.
const publishedLimit = 8 << 20

// model is how the lists call a CPU: "GenuineIntel-6-8F-4", with the stepping at its end; of Arm's
// the maker and the part, with the revision, "Arm-41-D0C-r4p1".
func (s Source) model() string {
	fields := s.cpuFields()
	if fields["CPU implementer"] != "" {
		return s.modelOfArm(fields)
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

// cpuFields are what the kernel says of the first CPU.
func (s Source) cpuFields() map[string]string {
	text, _ := s.read("/proc/cpuinfo") // "" where there is none
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, found := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); found && fields[name] == "" {
			fields[name] = strings.TrimSpace(value)
		}
	}
	return fields
}

// modelOfArm is "" where cores of two kinds, each with a PMU of its own, share the host: neither's
// list would be right on the other.
func (s Source) modelOfArm(fields map[string]string) string {
	cores := slices.DeleteFunc(s.PMUs(), func(pmu string) bool { return !ofArmCore(pmu) })
	maker, wrong := strconv.ParseUint(fields["CPU implementer"], 0, 16)
	part, err := strconv.ParseUint(fields["CPU part"], 0, 16)
	if len(cores) > 1 || wrong != nil || err != nil {
		return ""
	}
	variant, wrong := strconv.ParseUint(fields["CPU variant"], 0, 4)
	revision, err := strconv.ParseUint(fields["CPU revision"], 0, 4)
	if wrong != nil || err != nil {
		return fmt.Sprintf("Arm-%X-%X", maker, part)
	}
	return fmt.Sprintf("Arm-%X-%X-r%Xp%X", maker, part, variant, revision)
}

// fits tells whether a list is for a model: its names are without the stepping (of Arm's the
// revision), or with a class of them.
func fits(pattern, model string) bool {
	return slices.ContainsFunc([]string{"", "-?", "-r?p?"}, func(stepping string) bool {
		matched, err := path.Match(pattern+stepping, model)
		return matched && err == nil
	})
}

// eachPublished goes over the events of all lists: the name of the list, whether it is for this
// CPU, the event in small letters and the terms of its PMU.
func (s Source) eachPublished(each func(list string, ours bool, name, terms string)) {
	event := func(list string, ours bool, line string) {
		if words := strings.Fields(line); len(words) == 2 {
			each(list, ours, words[0], words[1])
		}
	}
	for _, packed := range [][]byte{ofIntel, ofOthers} {
		unpacked, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			continue // the tests read them whole
		}
		eachLine(io.LimitReader(unpacked, publishedLimit), s.model(), event)
	}
	s.eachLineOf([][]byte{slotsOfArm, slotsOfAMD}, event)
}

func eachLine(text io.Reader, model string, each func(list string, ours bool, line string)) {
	list, ours := "", false
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) > 2 && words[0] == "=":
			list = words[1]
			ours = slices.ContainsFunc(words[3:], func(pattern string) bool { return fits(pattern, model) })
		case list != "": // the licence stands before
			each(list, ours, lines.Text())
		}
	}
}

// commonOfArm are the events of Arm's architecture that the kernel has listed, for those PMUs that
// count them, since it knows their register of what they count (Linux 4.7). What is not among them
// would read 0 all the time.
const commonOfArm = 0x30

// leftOut tells whether a PMU of Arm's says of a common event that it does not count it.
func (s Source) leftOut(pmu string, config uint64) bool {
	listed := s.folder(devices, pmu, "events")
	if !ofArmCore(pmu) || config >= commonOfArm || !slices.Contains(listed, "cpu_cycles") {
		return false
	}
	return !slices.ContainsFunc(listed, func(name string) bool {
		text, err := s.read(devices, pmu, "events", name)
		number, valued := strings.CutPrefix(text, "event=")
		value, wrong := strconv.ParseUint(number, 0, 64)
		return err == nil && valued && wrong == nil && value == config
	})
}

// publishedTerms finds an event in the list of this host's CPU: the terms of its PMU. Of one that
// only other CPUs have, elsewhere names these.
func (s Source) publishedTerms(wanted string) (terms string, elsewhere []string) {
	wanted = strings.ToLower(wanted)
	s.eachPublished(func(list string, ours bool, name, its string) {
		switch {
		case name != wanted:
		case ours:
			terms = its
		case !slices.Contains(elsewhere, list):
			elsewhere = append(elsewhere, list)
		}
	})
	return terms, elsewhere
}

// partsOf are the first events of this CPU whose names begin with another one's and a dot.
func (s Source) partsOf(name string) (parts []string) {
	s.eachPublished(func(_ string, ours bool, its, _ string) {
		if ours && strings.HasPrefix(its, strings.ToLower(name)+".") && len(parts) < 8 {
			parts = append(parts, its)
		}
	})
	return parts
}

// Published are the names of the events that the CPU's maker published for it.
func (s Source) Published() []string {
	var names []string
	s.eachPublished(func(_ string, ours bool, name, _ string) {
		if ours {
			names = append(names, name)
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// ofMaker resolves an event by the name that the CPU's maker published, or that the kernel's PMU
// has, without its PMU. It is nil where neither knows it.
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
		known, err := s.ofPMU(name, pmu, terms)
		if err == nil && s.leftOut(pmu, known.Config) {
			return nil, fmt.Errorf("event %s: the PMU %s of this host says that it does not count it; "+
				"`culprit count --list` lists what it has", name, pmu)
		}
		return known, err
	case len(s.partsOf(name)) > 0:
		return nil, fmt.Errorf("event %s is counted in parts: %s", name, strings.Join(s.partsOf(name), ", "))
	case len(elsewhere) > 0:
		return nil, fmt.Errorf("event %s is of other CPUs (%s), not of this one (%s); `culprit count --list` lists those "+
			"of this host", name, strings.Join(elsewhere[:min(len(elsewhere), 6)], ", "), s.cpuName())
	}
	return nil, nil
}

// cpuName is what the kernel calls the CPU; Arm's by numbers.
func (s Source) cpuName() string {
	fields := s.cpuFields()
	switch {
	case fields["model name"] != "":
		return fields["model name"]
	case fields["CPU part"] != "":
		return "implementer " + fields["CPU implementer"] + ", part " + fields["CPU part"]
	}
	return "no model name"
}
