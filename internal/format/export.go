package format

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"culprit/recording"
)

// The formats that can be written.
const (
	AsFolded     = "folded"
	AsPprof      = "pprof"
	AsSpeedscope = "speedscope"
	AsOTLP       = "otlp"
	AsFirefox    = "firefox"
	AsPerfetto   = "perfetto"
)

// Writable lists the formats for help and completion.
var Writable = []string{AsFolded, AsPprof, AsSpeedscope, AsOTLP, AsFirefox, AsPerfetto}

// Export writes one signal of a recording's target: recording.SignalCPU,
// SignalOffCPU, or any other that the recording has. It is an error when there
// is nothing of that signal.
func Export(w io.Writer, rec *recording.Recording, as, signal string) error {
	amounts := amountsOf(rec, signal)
	if len(amounts) == 0 {
		has := "no samples at all"
		if names := signalsOf(rec); len(names) > 0 {
			has = list(names)
		}
		return fmt.Errorf("the recording has no %s samples; it has %s", signal, has)
	}
	switch as {
	case AsFolded:
		return writeFolded(w, rec, signal, amounts)
	case AsPprof:
		return writePprof(w, rec, signal, amounts)
	case AsSpeedscope:
		return writeSpeedscope(w, rec, signal, amounts)
	case AsOTLP:
		return writeOTLP(w, rec, signal, amounts)
	case AsFirefox:
		return writeFirefox(w, rec, signal, amounts)
	case AsPerfetto:
		return writePerfetto(w, rec, signal, amounts)
	}
	return fmt.Errorf("format %q; give one of %s", as, strings.Join(Writable, ", "))
}

// amount is what one thread spent at one stack.
type amount struct {
	comm     string
	pid, tid int32
	stack    int32
	timeNs   int64 // of the first
	count    int64
	ns       int64
}

// amountsOf are the target's samples of a signal in their order.
func amountsOf(rec *recording.Recording, signal string) []amount {
	var list []amount
	for i := range rec.Samples {
		one := &rec.Samples[i]
		if one.Signal == signal && one.Target {
			list = append(list, amount{comm: one.Comm, pid: one.Pid, tid: one.Tid, stack: one.Stack, timeNs: one.TimeNs,
				count: clampAmount(one.Count), ns: clampAmount(one.ValueNs)})
		}
	}
	return list
}

// together adds up amounts that differ in nothing that same keeps apart.
func together(amounts []amount, same func(amount) amount) []amount {
	type sum struct{ count, ns int64 }
	sums := map[amount]*sum{}
	var keys []amount
	for _, one := range amounts {
		key := same(one)
		key.count, key.ns, key.timeNs = 0, 0, 0
		total := sums[key]
		if total == nil {
			total = &sum{}
			sums[key] = total
			keys = append(keys, key)
		}
		total.count, total.ns = addAmounts(total.count, one.count), addAmounts(total.ns, one.ns)
	}
	for i := range keys {
		keys[i].count, keys[i].ns = sums[keys[i]].count, sums[keys[i]].ns
	}
	return keys
}

// plain makes a name safe for formats of one line: control characters become blanks.
func plain(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, "?"))
	if clean = strings.TrimSpace(clean); clean == "" {
		return "[unknown]"
	}
	return clean
}

// writeFolded writes "thread;main;work;leaf 42" for flamegraph.pl and inferno:
// samples of CPU time, microseconds off the CPU, else what the signal counts.
// Kernel frames end with _[k], Java's with _[j], as stackcollapse-perf.pl --all does.
func writeFolded(w io.Writer, rec *recording.Recording, signal string, amounts []amount) error {
	texts := make([]string, len(rec.Frames))
	for i, frame := range rec.Frames {
		texts[i] = strings.ReplaceAll(plain(frame.Name), ";", ":")
		switch frame.Kind {
		case recording.KindKernel:
			texts[i] += markKernel
		case recording.KindJVM:
			texts[i] += markJIT
		}
	}
	sums := map[string]int64{}
	for _, one := range together(amounts, func(a amount) amount { return amount{comm: a.comm, stack: a.stack} }) {
		value := one.count
		if signal == recording.SignalOffCPU {
			value = (one.ns + 500) / 1000
		}
		line := foldedLine(rec, texts, one)
		sums[line] = addAmounts(sums[line], value)
	}
	lines := make([]string, 0, len(sums))
	for line, value := range sums {
		if value > 0 {
			lines = append(lines, fmt.Sprintf("%s %d\n", line, value))
		}
	}
	slices.Sort(lines)
	for _, line := range lines {
		if _, err := io.WriteString(w, line); err != nil {
			return fmt.Errorf("write folded stacks: %w", err)
		}
	}
	return nil
}

func foldedLine(rec *recording.Recording, texts []string, one amount) string {
	var parts []string
	if one.comm != "" {
		parts = append(parts, strings.ReplaceAll(plain(one.comm), ";", ":"))
	}
	for _, frame := range framesOf(rec, one.stack) {
		parts = append(parts, texts[frame])
	}
	if len(parts) == 0 {
		parts = append(parts, "[unknown]")
	}
	return strings.Join(parts, ";")
}

// framesOf are the frame numbers of a stack, nil of an unknown one.
func framesOf(rec *recording.Recording, stack int32) []int32 {
	if stack < 0 || int(stack) >= len(rec.Stacks) {
		return nil
	}
	return rec.Stacks[stack].Frames
}

// byTime orders amounts by thread, then by time.
func byTime(a, b amount) int {
	return cmp.Or(cmp.Compare(a.pid, b.pid), cmp.Compare(a.tid, b.tid), cmp.Compare(a.comm, b.comm),
		cmp.Compare(a.timeNs, b.timeNs))
}

// areTimed tells amounts that are nanoseconds from those that are only counts.
func areTimed(amounts []amount) bool {
	return slices.ContainsFunc(amounts, func(a amount) bool { return a.ns > 0 })
}

// commName is a thread's name, where it is known.
func commName(comm string) string {
	if comm == "" {
		return "all threads"
	}
	return plain(comm)
}

// encodeJSON writes a document whole.
func encodeJSON(w io.Writer, format string, document any) error {
	buffered := bufio.NewWriter(w)
	if err := json.NewEncoder(buffered).Encode(document); err != nil {
		return fmt.Errorf("write %s: %w", format, err)
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("write %s: %w", format, err)
	}
	return nil
}
