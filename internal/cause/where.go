package cause

import (
	"slices"

	"culprit/internal/compare"
	"culprit/recording"
)

// PlaceKind says what a place is.
type PlaceKind string

// The kinds of places.
const (
	InCode PlaceKind = "code"
	// InDependency is a dependency that is not the same on both sides: "jinja2 3.0.3 → 3.1.4".
	InDependency PlaceKind = "dependency"
	InFile       PlaceKind = "file"
	InKernel     PlaceKind = "kernel function"
	InCall       PlaceKind = "system call"
	InProcess    PlaceKind = "process"
	InSetting    PlaceKind = "setting"
	InOptions    PlaceKind = "options"
	InClock      PlaceKind = "clock source"
	InDevice     PlaceKind = "device"
	InCgroup     PlaceKind = "cgroup"
	InPeer       PlaceKind = "peer"
	InLock       PlaceKind = "lock"
	InLine       PlaceKind = "cache line"
	InTracer     PlaceKind = "tracer"
	InCPUs       PlaceKind = "CPUs"
	unnamedWay   PlaceKind = ""
)

// Role says how a place takes part, where it is not simply where the time goes: "held in", "sleeps
// in". It stands before the name when the place is written for people.
type Role string

// The roles.
const (
	HeldIn      Role = "held in"   // what the holder of a lock did
	WokenIn     Role = "woken in"  // where those wait who are woken
	ForkedIn    Role = "forked in" // who copied the memory map
	MappedIn    Role = "mapped or returned in"
	QueueIn     Role = "queue in"
	WaitedForIn Role = "waited for in"
	AnsweredBy  Role = "answered by" // a process of this host
	HeldBy      Role = "held by"     // another program, that has a lock
	StoppedFor  Role = "stopped for" // an operation of a run time
	SleepsIn    Role = "sleeps in"
	OtherEndIn  Role = "the other end waits in"
	TracedBy    Role = "traced by"
	CountedBy   Role = "counters opened by"
	WatchedBy   Role = "BPF programs of"
	CalledFrom  Role = "called from" // the program's call into the dependency that changed
	Competitor  Role = "CPU used by" // who had the CPU
)

// Place is where a cause is.
type Place struct {
	Kind  PlaceKind `json:"kind"`
	Role  Role      `json:"role,omitempty"`
	Name  string    `json:"name"`            // code: the way to it, "main;serve;write"; a setting's name; a process …
	Value string    `json:"value,omitempty"` // of a setting: the dearer side's
	// Starts is the name of the processes that this process starts, where that is the cause.
	Starts string `json:"starts,omitempty"`
}

// String is the place as people read it.
func (p Place) String() string {
	text := p.Name
	switch p.Kind {
	case InCode, InDependency, InTracer, InCPUs, unnamedWay:
	case InSetting:
		text += "=" + p.Value
	case InLock:
		if !recording.IsLock(text) { // else its name says what it is
			text = "lock at " + text
		}
	case InLine:
		text = "cache line of " + text
	case InProcess:
		if p.Role != Competitor && p.Role != AnsweredBy && p.Role != HeldBy {
			text = "process " + text
		}
	default:
		text = string(p.Kind) + " " + text
	}
	if p.Starts != "" {
		text += " starts " + p.Starts
	}
	if p.Role != "" {
		text = string(p.Role) + " " + text
	}
	return text
}

// whereLimit bounds the places of a suspect: more are no help to a reader.
const whereLimit = 6

// at adds a place, once.
func (c *claim) at(place Place) {
	if place.Name == "" || len(c.places) >= whereLimit || slices.Contains(c.places, place) {
		return
	}
	c.places = append(c.places, place)
}

// atFirst puts a place before the others.
func (c *claim) atFirst(place Place) {
	if place.Name == "" {
		return
	}
	rest := slices.DeleteFunc(slices.Clone(c.places), func(other Place) bool { return other == place })
	c.places = append([]Place{place}, rest...)
	c.places = c.places[:min(len(c.places), whereLimit)]
}

// behindFirst puts places right behind the first one.
func (c *claim) behindFirst(places ...Place) {
	c.places = slices.Insert(c.places, min(1, len(c.places)), places...)
	c.places = c.places[:min(len(c.places), whereLimit)]
}

// best is the best place of a claim, in words, "" where it has none.
func (c *claim) best() string {
	if len(c.places) == 0 {
		return ""
	}
	return c.places[0].String()
}

// inCode is a place in code by the way to it, as route writes it.
func inCode(way string) Place { return Place{Kind: InCode, Name: way} }

// inSetting is a setting with the value of the dearer side.
func inSetting(setting compare.FactChange) Place {
	return Place{Kind: InSetting, Name: setting.Name, Value: orNone(setting.B)}
}

func (p Place) as(role Role) Place {
	p.Role = role
	return p
}

// DoubtKind says what speaks against a suspect, or is left open.
type DoubtKind string

// The kinds of doubts.
const (
	DoubtRuns        DoubtKind = "few runs"         // too few recordings, or too unequal ones
	DoubtCheaper     DoubtKind = "cheaper parts"    // other parts got cheaper: shares were cut
	DoubtUnconfirmed DoubtKind = "unconfirmed"      // seen indirectly
	DoubtUnseen      DoubtKind = "unseen"           // what decides cannot be seen here
	DoubtSetting     DoubtKind = "setting"          // a setting differs that does not explain as much
	DoubtConsequence DoubtKind = "consequence"      // it may follow from other code, or more of it
	DoubtCoincides   DoubtKind = "coincides"        // something else changed with it
	DoubtSymbols     DoubtKind = "no symbols"       // the place is told by an address
	DoubtOwnWork     DoubtKind = "work of its own"  // part of the amount has to be done anyway
	DoubtTasks       DoubtKind = "tasks unseen"     // tasks that sleep have no stack
	DoubtTurns       DoubtKind = "taken in turns"   // each wait is as long as before; they go one after the other
	DoubtUncounted   DoubtKind = "uncounted"        // how often is not counted
	DoubtMoreCPUs    DoubtKind = "more CPUs"        // how much work it was is not known
	DoubtFree        DoubtKind = "may cost nothing" // it can be there and be harmless
)

// Doubt is what contradicts a suspect, or what it leaves open.
type Doubt struct {
	Kind DoubtKind `json:"kind"`
	Text string    `json:"text"`
}

func (c *claim) doubt(kind DoubtKind, text string) { c.against = append(c.against, Doubt{kind, text}) }

// clear takes back doubts of some kinds, that have been cleared up.
func (c *claim) clear(kinds ...DoubtKind) {
	c.against = slices.DeleteFunc(c.against, func(one Doubt) bool { return slices.Contains(kinds, one.Kind) })
}

// doubts reports whether a claim leaves something of a kind open.
func (c *claim) doubts(kind DoubtKind) bool {
	return slices.ContainsFunc(c.against, func(one Doubt) bool { return one.Kind == kind })
}
