package format

import (
	"cmp"
	"path"
	"slices"

	"culprit/recording"
)

// threadLine is what one thread did over time, for formats that show threads below each other.
type threadLine struct {
	pid, tid int32
	comm     string
	amounts  []amount // in order of time
	waits    []int    // numbers of recording.Waits, in order of time
	ns       int64
}

// threadLines are the target's threads, the one with the most of the signal first. Amounts without
// a thread are one.
func threadLines(rec *recording.Recording, amounts []amount) []threadLine {
	type key struct {
		pid, tid int32
		comm     string
	}
	var lines []threadLine
	at := map[key]int{}
	byThread := map[[2]int32]int{} // a wait does not tell the thread's name
	line := func(is key) *threadLine {
		place, known := at[is]
		if !known {
			place = len(lines)
			at[is], byThread[[2]int32{is.pid, is.tid}] = place, place
			lines = append(lines, threadLine{pid: is.pid, tid: is.tid, comm: is.comm})
		}
		return &lines[place]
	}
	amounts = slices.Clone(amounts)
	slices.SortStableFunc(amounts, byTime)
	for _, one := range amounts {
		thread := line(key{one.pid, one.tid, one.comm})
		thread.amounts = append(thread.amounts, one)
		thread.ns = addAmounts(thread.ns, one.ns)
	}
	for i := range rec.Waits {
		wait := &rec.Waits[i]
		place, known := byThread[[2]int32{wait.Pid, wait.Tid}]
		if !known {
			line(key{wait.Pid, wait.Tid, commOf(rec, wait.Pid, wait.Tid)})
			place = len(lines) - 1
		}
		lines[place].waits = append(lines[place].waits, i)
	}
	for i := range lines {
		slices.SortStableFunc(lines[i].waits, func(a, b int) int {
			return cmp.Compare(rec.Waits[a].TimeNs, rec.Waits[b].TimeNs)
		})
	}
	slices.SortStableFunc(lines, func(a, b threadLine) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(len(b.amounts), len(a.amounts)))
	})
	return lines
}

// commOf is a thread's name where no sample told it.
func commOf(rec *recording.Recording, pid, tid int32) string {
	for i := range rec.Threads {
		if one := &rec.Threads[i]; one.Pid == pid && one.Tid == tid {
			return one.Comm
		}
	}
	return ""
}

// processName is what a process is called: by its program, else by the target's command.
func processName(rec *recording.Recording, pid int32) string {
	for i := range rec.Processes {
		if one := &rec.Processes[i]; one.Pid == pid && one.Comm != "" {
			return plain(one.Comm)
		}
	}
	for _, name := range []string{path.Base(rec.Fact("target.executable")), rec.Manifest.Target.Command} {
		if name != "" && name != "." {
			return plain(name)
		}
	}
	return "process"
}

// waitName says what a wait was in, for a reader of a time line.
func waitName(wait *recording.Wait) string {
	switch {
	case wait.Syscall != "":
		return plain(wait.Syscall)
	case wait.WakerKind == recording.WakerNone:
		return "preempted"
	case wait.State == "D":
		return "uninterruptible"
	}
	return "blocked"
}

// waitNs is how long a wait took, until the thread ran again.
func waitNs(wait *recording.Wait) int64 {
	return addAmounts(max(0, wait.BlockedNs), max(0, wait.RunqueueNs))
}
