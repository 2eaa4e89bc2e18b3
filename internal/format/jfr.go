package format

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"culprit/internal/format/jfr"
	"culprit/recording"
)

// jfrReader reads recordings of the JDK's Flight Recorder and of async-profiler.
type jfrReader struct {
	names    *names
	rows     *rows
	waits    []recording.Wait
	facts    []recording.Fact
	cpuFrom  string // the class of events that is the CPU signal
	every    map[string]time.Duration
	firstNs  int64 // since 1970; of the first chunk
	endNs    int64 // of the last one
	pid      int32
	command  string
	unknown  int64 // samples without a stack
	lost     int64 // waits beyond the limit
	dropped  int64 // samples that the JVM says it lost
	took     int64 // events that were taken
	guessed  bool
	open     bool // a chunk was not closed
	sleeping bool
}

func newJFR() *jfrReader {
	return &jfrReader{names: newNames(), rows: newRows(), every: map[string]time.Duration{}}
}

// The events that are read.
const (
	jfrSample     = "jdk.ExecutionSample"
	jfrCPUSample  = "jdk.CPUTimeSample"
	jfrWallSample = "profiler.WallClockSample"
	jfrNative     = "jdk.NativeMethodSample"
	jfrDropped    = "jdk.CPUTimeSamplesLost"
	jfrSetting    = "jdk.ActiveSetting"
	jfrAbout      = "jdk.JVMInformation"
)

// jfrWaits are the events that last while a thread waits, with the field that says on what.
var jfrWaits = map[string]string{"jdk.JavaMonitorEnter": "monitorClass", "jdk.JavaMonitorWait": "monitorClass",
	"jdk.ThreadPark": "parkedClass", "jdk.ThreadSleep": "", "jdk.SocketRead": "", "jdk.SocketWrite": "",
	"jdk.FileRead": "", "jdk.FileWrite": "", "jdk.FileForce": "", "jdk.ZAllocationStall": ""}

// jfrSizes are the events that stand for an amount of memory, with its field.
var jfrSizes = map[string]string{"jdk.ObjectAllocationSample": "weight", "jdk.ObjectAllocationInNewTLAB": "tlabSize",
	"jdk.ObjectAllocationOutsideTLAB": "allocationSize"}

func (j *jfrReader) read(_ string, input *bufio.Reader) error {
	var stream io.Reader = input
	if head, _ := input.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) { // a short one shows below
		unzipped, err := gzip.NewReader(input)
		if err != nil {
			return fmt.Errorf("unzip: %w", err)
		}
		stream = unzipped
	}
	before := j.took
	if err := jfr.Read(stream, j.chunk); err != nil {
		return err
	}
	if j.took == before {
		return fmt.Errorf("no samples, waits or allocations in it; record with settings=profile, or by async-profiler")
	}
	return nil
}

// jfrChunk is one chunk with the stacks that were made of it.
type jfrChunk struct {
	*jfr.Chunk
	reader  *jfrReader
	startNs int64 // since the first chunk
	stacks  map[int64]int32
	methods map[int64]recording.Frame
	threads map[int64]rowKey
}

func (j *jfrReader) chunk(of *jfr.Chunk) error {
	if j.firstNs == 0 {
		j.firstNs = of.StartNs
	}
	c := &jfrChunk{Chunk: of, reader: j, startNs: clampAmount(of.StartNs - j.firstNs), stacks: map[int64]int32{},
		methods: map[int64]recording.Frame{}, threads: map[int64]rowKey{}}
	j.open = j.open || of.Open
	j.endNs = max(j.endNs, addAmounts(c.startNs, clampAmount(of.DurationNs)))
	classes := map[int64]string{}
	if err := of.Events(func(event jfr.Event) error { classes[event.ID] = event.Class; return nil }); err != nil {
		return err
	}
	if err := of.Events(func(event jfr.Event) error { j.about(event, classes); return nil }); err != nil {
		return err
	}
	return of.Events(func(event jfr.Event) error { c.use(event); return nil })
}

// about reads settings and what the virtual machine says of itself.
func (j *jfrReader) about(event jfr.Event, classes map[int64]string) {
	switch event.Class {
	case jfrSetting:
		name, value := event.Field("name").Text(), event.Field("value").Text()
		of := classes[event.Field("id").Int()]
		switch name {
		case "period", "throttle":
			if period, ok := jfrPeriod(value); ok && of != "" {
				j.every[of] = period
			}
		case "interval", "wall": // async-profiler, in ns
			ns, err := strconv.ParseInt(value, 10, 64)
			if ns == 0 {
				ns = int64(asyncPeriod)
			}
			if err == nil && ns > 0 && ns < int64(time.Minute) {
				if name == "wall" {
					j.every[jfrWallSample] = time.Duration(ns)
				} else {
					j.every[jfrSample] = time.Duration(ns)
				}
			}
		}
	case jfrAbout:
		if j.pid == 0 {
			j.pid = threadNumber(event.Field("pid").Int())
		}
		if arguments := event.Field("javaArguments").Text(); j.command == "" && arguments != "" {
			j.command = cutText("java "+arguments, maxText)
			for _, field := range []string{"jvmVersion", "jvmArguments"} {
				if value := event.Field(field).Text(); value != "" {
					j.facts = append(j.facts, recording.Fact{Name: "java." + strings.ToLower(strings.TrimPrefix(field, "jvm")),
						Value: cutText(value, maxCommentBytes), Source: jfrAbout})
				}
			}
		}
	}
}

// asyncPeriod is that of async-profiler where none was given, which it writes as 0.
const asyncPeriod = 10 * time.Millisecond

// jfrPeriod reads "20 ms".
func jfrPeriod(text string) (time.Duration, bool) {
	period, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
	return period, err == nil && period > 0 && period < time.Minute
}

func (j *jfrReader) finish() (*recording.Recording, error) {
	rec := &recording.Recording{Facts: j.facts}
	firstNs := j.rows.firstNs
	j.rows.into(rec, j.names.texts, func(r row) int64 { return r.weight })
	for _, wait := range j.waits {
		wait.TimeNs = max(0, wait.TimeNs-firstNs)
		rec.Waits = append(rec.Waits, wait)
	}
	j.names.into(rec)
	inOrder(rec)
	lose(rec, "jfr: samples without a stack", j.unknown)
	lose(rec, "jfr: samples of CPU time that the JVM lost", j.dropped)
	lose(rec, "jfr: waits beyond the limit", j.lost)
	m := &rec.Manifest
	m.StartedAt = time.Unix(0, max(0, min(j.firstNs, maxUnixNs)))
	if every := j.every[j.cpuFrom]; every > 0 {
		m.Hz = int(math.Round(float64(time.Second) / float64(every)))
	}
	m.Target.Command, m.Target.Pid = j.command, int(j.pid)
	m.Metrics = map[string]float64{"cpu": cpuSeconds(rec)}
	setWindow(rec, j.rows, 0)
	if length := j.endNs; length > 0 && length <= maxAmount {
		m.WindowNs = max(m.WindowNs, length)
		m.Metrics["wall"] = float64(m.WindowNs) / 1e9
	}
	m.BlindSpots = append(lacks(j.lacks(rec)...), m.BlindSpots...)
	return rec, nil
}

func (j *jfrReader) lacks(rec *recording.Recording) []string {
	texts := []string{"imported from a Flight Recorder's file: no system calls, no settings of the host; waits shorter " +
		"than the recording's threshold (20 ms, or 10 ms with settings=profile) are not in it"}
	if j.cpuFrom == jfrSample && !j.sleeping {
		texts = append(texts, "of the JDK's samples a few threads are taken at a time: with more threads busy than that, "+
			"CPU time is too small, and shares are right")
	}
	if j.open {
		texts = append(texts, "the recording was not closed, as when the JVM is killed: what it did since it wrote last, "+
			"usually a second, is not in it")
	}
	if j.guessed {
		texts = append(texts, "the file does not say how often was sampled: 20 ms are taken, so shares are right and "+
			"seconds may not be")
	}
	return append(texts, keptForExport(rec, nil)...)
}
