package format

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"culprit/recording"
)

// perfScript reads the text of perf script.
type perfScript struct {
	names   *names
	rows    *rows
	worth   worth
	sched   scheduler
	signals map[int32]int32 // event → text of its signal
	cpuFrom int32           // the event that is the CPU signal; -1: none yet
	// How many samples of the CPU signal told a period.
	cpuSamples, cpuWeighted int64
	samples, bad, tooLong   int64
	facts                   []recording.Fact
	host, kernel            string
}

func newPerfScript() *perfScript {
	return &perfScript{names: newNames(), rows: newRows(), worth: worth{last: map[int32]lastSample{}},
		sched: scheduler{away: map[int32]*away{}}, signals: map[int32]int32{}, cpuFrom: -1}
}

func (p *perfScript) read(_ string, input *bufio.Reader) error {
	before, bad := p.samples, p.bad
	newParser := func() func([]byte) *perfBatch { return (&perfParser{names: p.names, tracing: map[int32]bool{}}).parse }
	tooLong, err := inParallel(input, newParser, p.use)
	p.tooLong += tooLong
	switch {
	case err != nil:
		return err
	case p.samples == before:
		return errors.New("no sample found; make the text with `perf script -i perf.data`")
	case p.bad-bad > 2*(p.samples-before):
		return fmt.Errorf("%d lines not understood and only %d samples; is it the text of perf script?",
			p.bad-bad, p.samples-before)
	}
	return nil
}

// use takes the samples of one chunk, in the order of the text.
func (p *perfScript) use(batch *perfBatch) {
	p.bad += batch.bad
	for _, comment := range batch.comments {
		p.comment(comment)
	}
	for i := range batch.samples {
		p.add(batch.samples[i])
	}
}

func (p *perfScript) add(sample perfSample) {
	p.samples++
	timeNs := max(0, sample.timeNs)
	if sample.timeNs >= 0 {
		p.rows.seen(timeNs)
	}
	if sample.sched != nil && sample.timeNs >= 0 {
		p.sched.use(sample, p.text, p.awayEnded)
		return
	}
	signal := p.signalOf(sample.event)
	weight := max(0, sample.period)
	if sample.event == p.cpuFrom && !isIdle(sample.pid, p.text(sample.comm)) {
		p.worth.add(sample)
		p.cpuSamples++
		if sample.period > 0 {
			p.cpuWeighted++
		}
	}
	count := int64(1)
	if sample.event != p.cpuFrom && sample.period > 0 {
		count = sample.period // of what is counted, and not the samples
	}
	p.rows.add(rowKey{pid: sample.pid, tid: sample.tid, cpu: sample.cpu, stack: sample.stack, comm: sample.comm,
		signal: signal}, timeNs, count, weight)
}

// awayEnded adds a stay off the CPU up under the stack that left it.
func (p *perfScript) awayEnded(gone away, backNs int64) {
	from := gone.sample
	if backNs < from.timeNs {
		return
	}
	p.rows.add(rowKey{pid: from.pid, tid: from.tid, cpu: from.cpu, stack: from.stack, comm: from.comm,
		signal: p.names.text([]byte(recording.SignalOffCPU))}, from.timeNs, 1, backNs-from.timeNs)
}

// signalOf is the signal of an event. Only the first event that measures CPU
// time is that signal: two of them would count every second twice.
func (p *perfScript) signalOf(event int32) int32 {
	if signal, known := p.signals[event]; known {
		return signal
	}
	name := p.text(event)
	signal, isTime := signalOf(name)
	if signal == recording.SignalCPU {
		if p.cpuFrom >= 0 {
			signal = name
		} else {
			p.cpuFrom, p.worth.isTime = event, isTime
		}
	}
	p.signals[event] = p.names.text([]byte(signal))
	return p.signals[event]
}

func (p *perfScript) text(id int32) string {
	p.names.mu.Lock()
	defer p.names.mu.Unlock()
	return p.names.texts[id]
}

// comment reads the header that perf script --header prints.
func (p *perfScript) comment(line string) {
	name, value, ok := strings.Cut(strings.TrimLeft(line, "# "), ":")
	if !ok {
		return
	}
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	switch name {
	case "hostname":
		p.host = value
	case "os release":
		p.kernel = value
		p.fact("kernel.release", value)
	case "cpudesc":
		p.fact("cpu.model", value)
	case "cmdline":
		p.fact("import.command", value)
	case "event":
		p.frequency(value)
	}
}

func (p *perfScript) fact(name, value string) {
	const limit = 64
	if len(p.facts) < limit {
		p.facts = append(p.facts, recording.Fact{Name: name, Value: value, Source: "header of perf script"})
	}
}

// frequency reads "{ sample_period, sample_freq } = 99, … freq = 1" of the event's description.
func (p *perfScript) frequency(text string) {
	_, rate, ok := strings.Cut(text, "sample_freq } = ")
	if !ok || !strings.Contains(text, ", freq = 1,") {
		return
	}
	rate, _, _ = strings.Cut(rate, ",")
	if hz, err := strconv.Atoi(rate); err == nil && hz > 0 && hz <= 1e6 && p.worth.hz == 0 {
		p.worth.hz = hz
	}
}

func (p *perfScript) finish() (*recording.Recording, error) {
	rec := &recording.Recording{Facts: p.facts}
	m := &rec.Manifest
	m.Host, m.Kernel = p.host, p.kernel
	how := p.worth.settle(p.cpuWeighted*2 > p.cpuSamples)
	m.Hz = int(math.Round(1e9 / how.periodNs))
	texts := p.names.texts
	p.rows.into(rec, texts, func(r row) int64 {
		switch texts[r.signal] {
		case recording.SignalCPU:
			return how.ns(r)
		case recording.SignalOffCPU:
			return r.weight
		}
		return 0
	})
	rec.Waits = p.sched.waits
	if p.sched.on && len(rec.Samples)+len(rec.Waits) == 0 {
		return nil, errors.New("its switches tell of no thread that came back to a CPU: perf shows that of the whole host " +
			"only; make it with `perf record -a -e sched:sched_switch`")
	}
	for i := range rec.Waits {
		rec.Waits[i].TimeNs -= p.rows.firstNs
	}
	p.names.into(rec)
	inOrder(rec)
	lose(rec, "perf script: lines not understood", p.bad)
	lose(rec, "perf script: bytes of lines longer than 1 MiB", p.tooLong)
	lose(rec, "perf script: waits beyond the limit", p.sched.lost)
	m.Metrics = map[string]float64{"cpu": cpuSeconds(rec)}
	m.BlindSpots = append(lacks(p.lacks(how)...), m.BlindSpots...)
	setWindow(rec, p.rows, int64(how.periodNs))
	return rec, nil
}

// setWindow takes the window from the times that were seen; without any, from the CPU time.
func setWindow(rec *recording.Recording, seen *rows, lastNs int64) {
	m := &rec.Manifest
	m.WindowNs = clampAmount(int64(m.Metrics["cpu"] * 1e9))
	if seen.timed {
		m.WindowNs = clampAmount(seen.lastNs - seen.firstNs + lastNs)
	}
	m.Metrics["wall"] = float64(m.WindowNs) / 1e9
	if m.SliceNs == 0 {
		m.SliceNs = firstSliceNs
	}
}

// lacks says what the text does not hold.
func (p *perfScript) lacks(how settled) []string {
	spots := []string{"imported from perf script: no system calls, no settings of the host, no exact CPU times"}
	if p.cpuFrom < 0 {
		spots = append(spots, "no event of the text measures CPU time (cycles, cpu-clock or task-clock)")
	} else if how.how != "" {
		spots = append(spots, how.how)
	}
	switch {
	case !p.rows.timed:
		spots = append(spots, "the text has no times: when something ran is not known")
	case !p.sched.on:
		spots = append(spots, "waiting is not in the text (sched:sched_switch was not recorded)")
	case !p.sched.woken:
		spots = append(spots, "who woke a thread is not in the text (sched:sched_waking was not recorded)")
	}
	return spots
}
