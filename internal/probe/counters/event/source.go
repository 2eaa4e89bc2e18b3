package event

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"culprit/internal/host"
)

// Source is where encodings are read from.
type Source struct {
	Root string // "" for this host
	// Tracepoint gives the id of a tracepoint where tracefs is mounted nowhere; nil: not looked
	// for.
	Tracepoint func(system, name string) (uint64, error)
}

// Host is this host's.
var Host = Source{Root: "/", Tracepoint: func(system, name string) (uint64, error) {
	text, err := host.ReadDetached("tracefs", "events/"+system+"/"+name+"/id")
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(text), 10, 32)
}}

const devices = "/sys/bus/event_source/devices"

// fileLimit bounds what is read of one file of sysfs.
const fileLimit = 4096

func (s Source) read(parts ...string) (string, error) {
	file, err := os.Open(filepath.Join(append([]string{s.Root}, parts...)...))
	if err != nil {
		return "", err
	}
	defer file.Close()
	text := make([]byte, fileLimit)
	n, err := file.Read(text)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(text[:n])), nil
}

// folder lists names, none where the folder cannot be read.
func (s Source) folder(parts ...string) []string {
	entries, err := os.ReadDir(filepath.Join(append([]string{s.Root}, parts...)...))
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// PMUs are the names of the host's event sources.
func (s Source) PMUs() []string { return s.folder(devices) }

// CorePMU is the PMU of the CPUs: "cpu", "armv8_pmuv3"; "" where there is none. Names such as
// arm_cmn_0 are those of PMUs between Arm's cores.
func (s Source) CorePMU() string {
	for _, name := range s.PMUs() {
		if name == "cpu" || name == "cpu_core" || ofArmCore(name) {
			return name
		}
	}
	return ""
}

func ofArmCore(pmu string) bool { return strings.HasPrefix(pmu, "armv") }

// Events are the names of a PMU's own events, as they are typed.
func (s Source) Events(pmu string) []string {
	var names []string
	for _, name := range s.folder(devices, pmu, "events") {
		if !strings.Contains(name, ".") { // NAME.scale and NAME.unit go with NAME
			names = append(names, pmu+"/"+name+"/")
		}
	}
	return names
}

var (
	modifierShape   = regexp.MustCompile(`^[ukh]+$`)
	rawShape        = regexp.MustCompile(`^r[0-9a-fA-F]{1,16}$`)
	tracepointShape = regexp.MustCompile(`^[A-Za-z0-9_-]+:[A-Za-z0-9_-]+$`)
	pmuShape        = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
)

// find resolves one name with the modifiers of its group.
func (s Source) find(typed, groupModifiers string) (*Event, error) {
	name, modifiers := typed, ""
	if base, behind, found := strings.Cut(typed, ":"); found && modifierShape.MatchString(behind) &&
		!strings.Contains(base, "/") {
		name, modifiers = base, behind
	} else if pmu, inside, found := strings.Cut(typed, "/"); found {
		body, behind, _ := strings.Cut(inside, "/")
		name, modifiers = pmu+"/"+body+"/", strings.TrimPrefix(behind, ":")
	}
	event, err := s.encode(name)
	if err != nil {
		return nil, err
	}
	event.Name = typed
	if groupModifiers != "" {
		if modifiers != "" {
			return nil, fmt.Errorf("event %s has modifiers of its own and those of its group; give them once", typed)
		}
		modifiers = groupModifiers
		event.Name += ":" + groupModifiers
	}
	return event, event.restrict(modifiers)
}

// restrict leaves out what runs at other levels than those that are named.
func (e *Event) restrict(modifiers string) error {
	if modifiers == "" {
		return nil
	}
	if !modifierShape.MatchString(modifiers) {
		return fmt.Errorf("event %s: no modifier %q; there are u (user), k (kernel) and h (hypervisor)", e.Name, modifiers)
	}
	if e.Kind != Hardware {
		return fmt.Errorf("event %s cannot be split by u, k or h: only counters of the CPU tell who they count for", e.Name)
	}
	for letter, bit := range map[string]uint64{"u": unix.PerfBitExcludeUser, "k": unix.PerfBitExcludeKernel,
		"h": unix.PerfBitExcludeHv} {
		if !strings.Contains(modifiers, letter) {
			e.Bits |= bit
		}
	}
	return nil
}

// encode resolves a name without modifiers.
func (s Source) encode(name string) (*Event, error) {
	if known, found := generic[name]; found {
		return &known, nil
	}
	if known, found := cacheEvent(name); found {
		return &known, nil
	}
	switch {
	case rawShape.MatchString(name):
		config, err := strconv.ParseUint(name[1:], 16, 64)
		if err != nil {
			return nil, fmt.Errorf("event %s: %w", name, err)
		}
		return &Event{Kind: Hardware, Type: unix.PERF_TYPE_RAW, Config: config}, nil
	case strings.HasSuffix(name, "/"):
		pmu, terms, _ := strings.Cut(strings.TrimSuffix(name, "/"), "/")
		return s.ofPMU(name, pmu, terms)
	case tracepointShape.MatchString(name):
		return s.tracepoint(name)
	}
	if known, err := s.ofMaker(name); known != nil || err != nil {
		return known, err
	}
	if strings.ContainsAny(name, "*?[") {
		return nil, fmt.Errorf("no event %q: patterns are not resolved; name each event", name)
	}
	if near := nearest(name); near != "" {
		return nil, fmt.Errorf("no event %q; did you mean %s? `culprit count --list` lists those of this host", name, near)
	}
	return nil, fmt.Errorf("no event %q; `culprit count --list` lists those of this host", name)
}

// tracepoint resolves "sched:sched_switch".
func (s Source) tracepoint(name string) (*Event, error) {
	system, event, _ := strings.Cut(name, ":")
	for _, mount := range []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"} {
		text, err := s.read(mount, "events", system, event, "id")
		if err != nil {
			continue
		}
		id, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("event %s: its id reads %q", name, text)
		}
		return &Event{Kind: Tracepoint, Type: unix.PERF_TYPE_TRACEPOINT, Config: id}, nil
	}
	if s.Tracepoint != nil {
		id, err := s.Tracepoint(system, event)
		if err == nil {
			return &Event{Kind: Tracepoint, Type: unix.PERF_TYPE_TRACEPOINT, Config: id}, nil
		}
		if errors.Is(err, os.ErrPermission) {
			return nil, fmt.Errorf("event %s: the ids of tracepoints may not be read; run as root", name)
		}
	}
	if _, known := generic[system]; known {
		return nil, fmt.Errorf("event %s: no modifier %q; there are u (user), k (kernel) and h (hypervisor)", system, event)
	}
	return nil, fmt.Errorf("no event %q: this kernel has no tracepoint %s in %s, and no hardware event of that name",
		name, event, system)
}

// nearest finds a generic name like a misspelt one.
func nearest(name string) string {
	best, distance := "", 3
	for _, candidate := range Generic() {
		if d := editDistance(name, candidate); d < distance {
			best, distance = candidate, d
		}
	}
	return best
}

// editDistance counts the letters to change, add or leave out.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for i := range row {
		row[i] = i
	}
	for i := range len(a) {
		above := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			above, row[j+1] = row[j+1], min(above+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// cpuList reads a list such as "0-3,8".
func cpuList(text string) ([]int, error) {
	var cpus []int
	for _, part := range strings.Split(strings.TrimSpace(text), ",") {
		first, last, ranged := strings.Cut(part, "-")
		low, err := strconv.Atoi(first)
		high := low
		if err == nil && ranged {
			high, err = strconv.Atoi(last)
		}
		if err != nil || low < 0 || high < low || high > 1<<16 {
			return nil, fmt.Errorf("%q is no list of CPUs", text)
		}
		for cpu := low; cpu <= high; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus), nil
}
