// Package event knows what the kernel can count, by name: hardware, software, tracepoints, the
// events of any PMU in /sys/bus/event_source/devices and raw encodings, in the syntax of perf.
//
//	list, err := event.Parse("task-clock,{cycles,instructions}:u,sched:sched_switch", event.Host)
//	err = list.Try(event.Host) // opens each once: what this host has not, or does not permit, is named
//
// It refuses a name that nobody knows, an encoding that the PMU has no field for, and what would
// count something else than it says.
package event

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Kind tells how an event comes about, which says how it is read and where it can be attributed.
type Kind int

// The kinds of events.
const (
	Software   Kind = iota // the kernel adds to a word of memory
	Clock                  // time, of software
	Tracepoint             // as Software
	Hardware               // a counter of the CPU: there are few of them
	Free                   // of the CPU, but always there: msr
	Package                // of a whole package or device, by power and uncore PMUs: says nothing about who runs
)

// Event is one thing to count.
type Event struct {
	Name   string // as it was typed
	Kind   Kind
	Type   uint32 // and the rest as in struct perf_event_attr
	Config uint64
	// Config1 and Config2 are more of it, which some PMUs have.
	Config1, Config2 uint64
	Bits             uint64
	// Group: events with the same number are counted at the same times, by the same counters. -1:
	// alone.
	Group int
	// Scale turns a count into Unit, where the PMU has one: 2.3e-10, "Joules". 0: it is a count.
	Scale float64
	Unit  string
	// CPUs are those to count on; nil: all.
	CPUs []int
	// Shares are what the group that the event leads tells of the slots of the pipeline, by
	// formulas of its names.
	Shares []Share
}

// List are events in the order in which they were typed.
type List []Event

// Attributes are those to open it with: enabled only when it is told so.
func (e *Event) Attributes() unix.PerfEventAttr {
	attributes := unix.PerfEventAttr{Type: e.Type, Config: e.Config, Ext1: e.Config1, Ext2: e.Config2, Bits: e.Bits,
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING}
	attributes.Size = uint32(unsafe.Sizeof(attributes))
	return attributes
}

// Multiplexed tells whether the event can be without a counter for some of the time.
func (e *Event) Multiplexed() bool { return e.Kind == Hardware }

// Names of all events.
func (l List) Names() []string {
	names := make([]string, len(l))
	for i := range l {
		names[i] = l[i].Name
	}
	return names
}

// Max is how many events can be counted at once.
const Max = 32

// Parse reads a list such as
// "cycles,{instructions,branches}:u,r01c2,cpu/config=0x1/,sched:sched_switch".
func Parse(text string, source Source) (List, error) {
	words, err := split(text)
	if err != nil {
		return nil, err
	}
	var list List
	group := 0
	for _, word := range words {
		var shares []Share
		if word == TopDown {
			if word, shares, err = source.topDown(); err != nil {
				return nil, err
			}
		}
		inner, modifiers, grouped, err := ungroup(word)
		if err != nil {
			return nil, err
		}
		if grouped && shares == nil && slices.Contains(inner, TopDown) {
			return nil, fmt.Errorf("events %q: %s is a group already; leave the braces out", word, TopDown)
		}
		for i, name := range inner {
			event, err := source.find(name, modifiers)
			if err != nil {
				return nil, err
			}
			if i == 0 {
				event.Shares = shares
			}
			event.Group = -1
			if grouped {
				event.Group = group
			}
			list = append(list, *event)
		}
		if grouped {
			group++
		}
	}
	return list, list.check()
}

// check refuses lists that cannot be counted, whatever the host, and tells copies apart.
func (l List) check() error {
	if len(l) == 0 {
		return fmt.Errorf("no event is named; give one such as task-clock")
	}
	if len(l) > Max {
		return fmt.Errorf("%d events are more than the %d that can be counted at once; leave some out", len(l), Max)
	}
	// Copies of an event, which show how far its estimates agree, have names of their own.
	copies := map[string]int{}
	for i := range l {
		name := l[i].Name
		if copies[name]++; copies[name] > 1 {
			l[i].Name = fmt.Sprintf("%s#%d", name, copies[name])
		}
	}
	return nil
}

// ungroup takes "{a,b}:u" apart.
func ungroup(word string) (inner []string, modifiers string, grouped bool, err error) {
	rest, grouped := strings.CutPrefix(word, "{")
	if !grouped {
		return []string{word}, "", false, nil
	}
	rest, behind, closed := strings.Cut(rest, "}")
	if !closed {
		return nil, "", false, fmt.Errorf("event group %q has no closing brace", word)
	}
	if behind != "" {
		var found bool
		if modifiers, found = strings.CutPrefix(behind, ":"); !found {
			return nil, "", false, fmt.Errorf("event group %q: after the brace comes a comma, or a colon and u or k", word)
		}
	}
	if strings.TrimSpace(rest) == "" {
		return nil, "", false, fmt.Errorf("event group %q is empty; name events in it, such as {cycles,instructions}", word)
	}
	inner, err = split(rest)
	return inner, modifiers, true, err
}

// split cuts a list at the commas that stand outside of braces and slashes.
func split(text string) ([]string, error) {
	var words []string
	depth, slash, begin := 0, false, 0
	add := func(end int) error {
		word := strings.TrimSpace(text[begin:end])
		if word == "" {
			return fmt.Errorf("events %q: a name is empty; they are separated by single commas", text)
		}
		words = append(words, word)
		begin = end + 1
		return nil
	}
	for i, letter := range text {
		switch {
		case letter == '/':
			slash = !slash
		case slash:
		case letter == '{':
			depth++
		case letter == '}':
			depth--
		case letter == ',' && depth == 0:
			if err := add(i); err != nil {
				return nil, err
			}
		}
		if depth < 0 || depth > 1 {
			return nil, fmt.Errorf("events %q: braces are opened and closed in pairs, and hold no braces", text)
		}
	}
	if slash {
		return nil, fmt.Errorf("events %q: a slash is not closed; PMU events are written pmu/event/", text)
	}
	if depth > 0 {
		return nil, fmt.Errorf("events %q: a brace is not closed", text)
	}
	return words, add(len(text))
}
