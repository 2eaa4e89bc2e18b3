package host

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"

	"culprit/recording"
)

const (
	processLimit    = 1 << 16 // processes looked at
	descriptorLimit = 1 << 14 // descriptors looked at in each
	detailLimit     = 16      // details kept of each tracer
	programLimit    = 64      // programs of each tracer that are priced
	tagLimit        = 512     // tags of each: a recorder holds some 100 programs
)

// Tracer is a process (or, with Pid 0, the kernel's ftrace) that watches others
// and may make them pay for it.
type Tracer struct {
	Pid         int
	Name        string // comm of the process; "ftrace" and the instance for the kernel's
	PerfEvents  int    // open perf events
	BPFPrograms int    // programs of kinds that trace; those for sockets, cgroups and devices do not count
	BPFLinks    int    // attached links of such programs
	Ptraced     []int  // processes that it stops and steps by ptrace
	Ftrace      bool   // events or a tracer switched on in a tracefs instance
	Details     []string
	// Costs of its BPF programs, where PricePrograms measured them.
	Costs    []ProgramCost `json:",omitempty"`
	programs []program
	tags     []string // of its programs: the kernel's hash of their code, as the names of their symbols have it
}

// Holds reports whether the tracer holds a BPF program with this tag.
func (tracer *Tracer) Holds(tag string) bool { return slices.Contains(tracer.tags, tag) }

// recorderProgram is the name of this program, which starts recorders and whose recorder's other
// threads are called so.
const recorderProgram = "culprit"

// OfRecorder tells a recorder of this program, or who started it.
func (tracer *Tracer) OfRecorder() bool {
	return tracer.Name == recording.RecorderComm || tracer.Name == recorderProgram
}

// program is one that a tracer holds, and where it is attached, as far as its link tells.
type program struct {
	id    ebpf.ProgramID
	place string
}

// String says what the tracer holds: "strace (pid 12): ptraces 1 process".
func (tracer Tracer) String() string {
	var parts []string
	count := func(number int, one, many string) {
		switch {
		case number == 1:
			parts = append(parts, "1 "+one)
		case number > 1:
			parts = append(parts, strconv.Itoa(number)+" "+many)
		}
	}
	count(tracer.PerfEvents, "perf event", "perf events")
	count(tracer.BPFPrograms, "BPF program", "BPF programs")
	count(tracer.BPFLinks, "BPF link", "BPF links")
	count(len(tracer.Ptraced), "process under ptrace", "processes under ptrace")
	if tracer.Ftrace {
		parts = append(parts, "tracing switched on")
	}
	text := tracer.Name
	if tracer.Pid > 0 {
		text += fmt.Sprintf(" (pid %d)", tracer.Pid)
	}
	text += ": " + strings.Join(parts, ", ")
	if len(tracer.Details) > 0 {
		text += " (" + strings.Join(tracer.Details, ", ") + ")"
	}
	return text
}

// Tracers finds who holds perf events, BPF programs or ptraced processes, and
// ftrace instances that are on, leaving out the given pids (our own). Holders
// whose descriptors we may not read stay unseen: without root that is everyone else's.
func Tracers(root string, exclude ...int) []Tracer {
	files := tree{root}
	byPid := map[int]*Tracer{}
	of := func(pid int) *Tracer {
		if byPid[pid] == nil {
			name := files.line("/proc/" + strconv.Itoa(pid) + "/comm")
			byPid[pid] = &Tracer{Pid: pid, Name: name}
		}
		return byPid[pid]
	}
	processes := 0
	for _, name := range files.names("/proc") {
		pid, err := strconv.Atoi(name)
		if err != nil || pid <= 0 || processes >= processLimit {
			continue
		}
		processes++
		if tracer := tracerOf(files, pid); tracer > 0 && !slices.Contains(exclude, tracer) {
			holder := of(tracer)
			holder.Ptraced = append(holder.Ptraced, pid)
		}
		if slices.Contains(exclude, pid) {
			continue
		}
		if held := heldBy(files, pid); held.PerfEvents+held.BPFPrograms+held.BPFLinks > 0 {
			holder := of(pid)
			holder.PerfEvents, holder.BPFPrograms, holder.BPFLinks = held.PerfEvents, held.BPFPrograms, held.BPFLinks
			holder.Details, holder.programs, holder.tags = held.Details, held.programs, held.tags
		}
	}
	tracers := ftraceInstances(files)
	for _, tracer := range byPid {
		tracers = append(tracers, *tracer)
	}
	sort.Slice(tracers, func(i, j int) bool {
		if tracers[i].Pid != tracers[j].Pid {
			return tracers[i].Pid < tracers[j].Pid
		}
		return tracers[i].Name < tracers[j].Name
	})
	return tracers
}

// tracerOf returns the process that ptraces another, 0 when none does.
func tracerOf(files tree, pid int) int {
	text, _ := files.read("/proc/"+strconv.Itoa(pid)+"/status", fileLimit)
	thread := field(text, "TracerPid")
	if thread == "" || thread == "0" {
		return 0
	}
	// TracerPid is the tracing thread; its process is what we name.
	status, _ := files.read("/proc/"+path.Base(thread)+"/status", fileLimit)
	if group := field(status, "Tgid"); group != "" {
		thread = group
	}
	tracer, err := strconv.Atoi(thread)
	if err != nil {
		return 0
	}
	return tracer
}

// tracingProgram tells whether a BPF program type (enum bpf_prog_type in
// linux/bpf.h) runs on events of other programs: kprobe 2, tracepoint 5,
// perf_event 7, raw_tracepoint 17 and 24, tracing 26, lsm 29.
func tracingProgram(kind string) bool {
	return slices.Contains([]string{"2", "5", "7", "17", "24", "26", "29"}, kind)
}

// tracingLink tells the same of a link's type as its fdinfo prints it.
func tracingLink(kind string) bool {
	return slices.Contains([]string{"raw_tracepoint", "tracing", "perf", "perf_event", "kprobe_multi", "kretprobe_multi",
		"uprobe_multi", "uretprobe_multi"}, kind)
}

// HeldBy counts what one process holds open, below a root.
func HeldBy(root string, pid int) Tracer { return heldBy(tree{root}, pid) }

// heldBy counts what one process holds open.
func heldBy(files tree, pid int) Tracer {
	folder := "/proc/" + strconv.Itoa(pid)
	var held Tracer
	descriptors := files.names(folder + "/fd")
	for _, descriptor := range descriptors[:min(len(descriptors), descriptorLimit)] {
		target, found := strings.CutPrefix(files.link(folder+"/fd/"+descriptor), "anon_inode:")
		if !found {
			continue
		}
		target = strings.Trim(target, "[]")
		if target != "perf_event" && !strings.HasPrefix(target, "bpf") {
			continue
		}
		information, _ := files.read(folder+"/fdinfo/"+descriptor, fileLimit)
		kind := field(information, "link_type")
		switch {
		case target == "perf_event":
			held.PerfEvents++
		case target == "bpf-prog" && tracingProgram(field(information, "prog_type")):
			held.BPFPrograms++
			held.program(field(information, "prog_id"), "")
			held.tagged(field(information, "prog_tag"))
		case target == "bpf_link" && tracingLink(kind):
			held.BPFLinks++
			held.program(field(information, "prog_id"), field(information, "tp_name"))
			held.tagged(field(information, "prog_tag"))
			held.detail(kind, field(information, "tp_name"))
		case target == "bpf-raw-tracepoint": // before Linux 5.8
			held.BPFLinks++
			held.detail("raw_tracepoint", field(information, "tp_name"))
		}
	}
	return held
}

// program remembers a program by its number, each once: its owner may have closed it and hold its
// link only.
func (tracer *Tracer) program(number, place string) {
	id, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return
	}
	at := slices.IndexFunc(tracer.programs, func(known program) bool { return known.id == ebpf.ProgramID(id) })
	switch {
	case at >= 0 && place != "":
		tracer.programs[at].place = clean(place, 64)
	case at < 0 && len(tracer.programs) < programLimit:
		tracer.programs = append(tracer.programs, program{ebpf.ProgramID(id), clean(place, 64)})
	}
}

// tagged remembers the tag of a program, each once.
func (tracer *Tracer) tagged(tag string) {
	if tag != "" && len(tracer.tags) < tagLimit && !slices.Contains(tracer.tags, tag) {
		tracer.tags = append(tracer.tags, tag)
	}
}

// Runs tells that a program of the tracer runs at a place, where its descriptors do not tell.
func (tracer *Tracer) Runs(id uint32, place string) {
	tracer.program(strconv.FormatUint(uint64(id), 10), place)
}

// detail remembers what a link is attached to, each once.
func (tracer *Tracer) detail(kind, place string) {
	text := strings.TrimSpace(kind + " " + place)
	if len(tracer.Details) < detailLimit && !slices.Contains(tracer.Details, text) {
		tracer.Details = append(tracer.Details, text)
	}
}

// ftraceInstances lists the instances of tracefs in which something is on.
// Without a mounted tracefs there is nothing to see, though instances may exist.
func ftraceInstances(files tree) []Tracer {
	var folder string
	for _, mount := range mountTable(files) {
		if mount.kind == "tracefs" {
			folder = mount.point
			break
		}
	}
	if folder == "" {
		return nil
	}
	instances := []string{""}
	for _, name := range files.names(folder + "/instances") {
		instances = append(instances, "/instances/"+name)
	}
	var tracers []Tracer
	for _, instance := range instances {
		at := folder + instance
		tracer := Tracer{Name: "ftrace" + clean(instance, 64), Ftrace: true}
		if current := files.line(at + "/current_tracer"); current != "" && current != "nop" {
			tracer.detail("tracer", current)
		}
		if on, events := eventsOn(files, at); on {
			tracer.detail("events", events)
		}
		if len(tracer.Details) > 0 {
			tracers = append(tracers, tracer)
		}
	}
	return tracers
}

// eventsOn tells whether trace events are on in an instance, and which. The event
// of bpf_trace_printk does not count: the kernel switches it on by itself when any
// program that could print is loaded, leaves it on, and it costs others nothing.
func eventsOn(files tree, instance string) (bool, string) {
	// "0": none is on; "1" or "X": all or some are.
	if state := files.line(instance + "/events/enable"); state != "1" && state != "X" {
		return false, ""
	}
	text, err := files.read(instance+"/set_event", fileLimit)
	var events []string
	for _, event := range strings.Fields(text) {
		if event != "bpf_trace:bpf_trace_printk" {
			events = append(events, event)
		}
	}
	// A list that cannot be read whole is long, or hidden: on is what we know.
	return err != nil || len(events) > 0, clean(strings.Join(events, " "), 256)
}
