package format

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"culprit/recording"
)

// folded reads stacks as stackcollapse-*.pl, inferno, bcc and async-profiler
// write them: "main;work;leaf 42", root first
// (https://github.com/brendangregg/FlameGraph).
type folded struct {
	names    *names
	rows     *rows
	frames   textCache
	signal   int32
	periodNs float64
	options  Options
	bad      int64
	tooLong  int64
	rounded  int64 // counts that were no whole number
}

const (
	foldedCPUPeriod    = 10 * time.Millisecond
	foldedOffCPUPeriod = time.Microsecond // as bcc's offcputime -f counts
)

func newFolded(options Options) (*folded, error) {
	options, periodNs, err := countsOf(options)
	if err != nil {
		return nil, err
	}
	f := &folded{names: newNames(), rows: newRows(), options: options, periodNs: periodNs}
	f.signal = f.names.text([]byte(f.options.Signal))
	return f, nil
}

// countsOf says what one count of a stack stands for, where the input does not.
func countsOf(options Options) (Options, float64, error) {
	if options.Signal == "" {
		options.Signal = recording.SignalCPU
	}
	switch {
	case options.Period < 0 || options.Period > time.Hour:
		return options, 0, fmt.Errorf("period %v: give the time of one count, such as 10.1ms", options.Period)
	case options.Signal != recording.SignalCPU && options.Signal != recording.SignalOffCPU:
		return options, 0, fmt.Errorf("signal %q: stacks are read as cpu or offcpu", options.Signal)
	case options.Period > 0:
		return options, float64(options.Period), nil
	case options.Signal == recording.SignalOffCPU:
		return options, float64(foldedOffCPUPeriod), nil
	}
	return options, float64(foldedCPUPeriod), nil
}

func (f *folded) read(_ string, input *bufio.Reader) error {
	lines := &lineReader{input: input}
	var stack []int32
	good, bad := 0, f.bad
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		text, count, ok := cutCount(line)
		if !ok {
			f.bad++
			continue
		}
		good++
		stack = f.stack(text, stack[:0])
		f.add(f.names.stack(stack), count)
	}
	f.tooLong += lines.tooLong
	if wrong := f.bad - bad; good == 0 || wrong > int64(good) {
		return fmt.Errorf("%d lines are stacks and %d are not; a line is \"main;work;leaf 42\"", good, wrong)
	}
	return nil
}

func (f *folded) add(stack int32, count float64) {
	ns := min(count*f.periodNs, maxAmount)
	whole := int64(math.Round(min(count, maxAmount)))
	if float64(whole) != count {
		f.rounded++
	}
	if f.options.Signal == recording.SignalOffCPU {
		whole = 1
	}
	f.rows.add(rowKey{stack: stack, signal: f.signal}, 0, whole, int64(math.Round(ns)))
}

// stack appends the frames of "main;work;leaf". Behind the entry of a system call
// or interrupt everything is the kernel's, also where no _[k] says so.
func (f *folded) stack(text []byte, stack []int32) []int32 {
	inKernel := false
	for len(text) > 0 && len(stack) < maxScratch {
		name := text
		if end := bytes.IndexByte(text, ';'); end >= 0 {
			name, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		if len(name) == 0 {
			continue
		}
		inKernel = inKernel || entersKernel(name)
		cache, key := &f.frames, name
		if inKernel {
			key = append(slices.Clone(name), 0)
		}
		id, known := cache.get(key)
		if !known {
			id = f.names.frame(foldedFrame(string(name), inKernel))
			cache.put(key, id)
		}
		stack = append(stack, id)
	}
	return stack
}

// entersKernel tells the functions at which x86 and ARM enter the kernel.
func entersKernel(name []byte) bool {
	for _, entry := range []string{"entry_SYSCALL", "do_syscall_64", "el0_sync", "el0t_64_sync", "asm_exc_", "asm_sysvec_",
		"ret_from_fork"} {
		if bytes.HasPrefix(name, []byte(entry)) {
			return true
		}
	}
	return false
}

// The marks that stackcollapse-perf.pl --all appends: kernel, JIT, inlined, and bcc's waker.
const (
	markKernel  = "_[k]"
	markJIT     = "_[j]"
	markInlined = "_[i]"
)

func foldedFrame(name string, inKernel bool) recording.Frame {
	frame := recording.Frame{Name: name, Kind: recording.KindNative}
	switch {
	case strings.HasSuffix(name, markKernel):
		frame.Name, frame.Kind = strings.TrimSuffix(name, markKernel), recording.KindKernel
	case strings.HasSuffix(name, markJIT):
		frame.Name, frame.Kind = strings.TrimSuffix(name, markJIT), recording.KindJVM
	case strings.HasSuffix(name, markInlined):
		frame.Name = strings.TrimSuffix(name, markInlined)
	case inKernel:
		frame.Kind = recording.KindKernel
	case name == "[vdso]":
		frame.Kind = recording.KindVDSO
	default:
		frame = placed(frame)
	}
	if frame.Name == "" {
		frame.Name = name
	}
	return frame
}

// cutCount splits a line into its stack and the number behind the last blank.
func cutCount(line []byte) (stack []byte, count float64, ok bool) {
	line = bytes.TrimRight(line, " \t")
	at := bytes.LastIndexAny(line, " \t")
	if at <= 0 {
		return nil, 0, false
	}
	number := line[at+1:]
	if whole, is := parseDecimal(number); is {
		return bytes.TrimRight(line[:at], " \t"), float64(whole), true
	}
	if len(number) > 40 || number[0] != '.' && (number[0] < '0' || number[0] > '9') {
		return nil, 0, false
	}
	count, err := strconv.ParseFloat(string(number), 64)
	if err != nil || math.IsNaN(count) || math.IsInf(count, 0) || count < 0 {
		return nil, 0, false
	}
	return bytes.TrimRight(line[:at], " \t"), count, true
}

func (f *folded) finish() (*recording.Recording, error) {
	rec := weighed(f.rows, f.names)
	lose(rec, "folded: lines not understood", f.bad)
	lose(rec, "folded: lines longer than 4 MiB", f.tooLong)
	m := &rec.Manifest
	m.Metrics = map[string]float64{"cpu": cpuSeconds(rec)}
	if f.options.Signal == recording.SignalCPU {
		m.Hz = int(math.Round(1e9 / f.periodNs))
	}
	setWindow(rec, f.rows, 0)
	m.BlindSpots = append(m.BlindSpots, lacks(f.lacks()...)...)
	return rec, nil
}

// lacks says what the stacks do not hold.
func (f *folded) lacks() []string {
	texts := []string{"imported from folded stacks: no threads, no times, no waits, no system calls, no settings"}
	if f.options.Period == 0 {
		texts = append(texts, fmt.Sprintf("folded stacks tell no unit: one count is taken as %v of %s time,"+
			" so shares are right and seconds may not be (import --period sets it)",
			time.Duration(f.periodNs), f.options.Signal))
	}
	if f.rounded > 0 {
		texts = append(texts, fmt.Sprintf("%d counts have a fraction: times keep it, counts are rounded", f.rounded))
	}
	return texts
}
