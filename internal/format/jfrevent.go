package format

import (
	"math"
	"strings"
	"time"

	"culprit/internal/format/jfr"
	"culprit/recording"
)

// jfrPeriodUnknown is what a sample of the JDK is worth where no setting tells: that of its default
// settings.
const jfrPeriodUnknown = 20 * time.Millisecond

// use takes one event.
func (c *jfrChunk) use(event jfr.Event) {
	j := c.reader
	at := addAmounts(c.startNs, clampAmount(c.NsSince(event.Field("startTime").Int())))
	switch event.Class {
	case jfrSample, jfrCPUSample, jfrWallSample:
		c.sample(event, at)
		return
	case jfrDropped:
		j.dropped = addAmounts(j.dropped, clampAmount(event.Field("lostSamples").Int()))
		return
	case jfrNative:
		c.add(event, at, "sampledThread", "native", 1, 0)
		return
	}
	if _, is := jfrWaits[event.Class]; is {
		c.wait(event, at)
		return
	}
	if field, is := jfrSizes[event.Class]; is {
		size := event.Field(field)
		if !size.Is() {
			size = event.Field("allocationSize")
		}
		if bytes := clampAmount(size.Int()); bytes > 0 {
			c.add(event, at, "eventThread", "alloc_bytes", bytes, 0)
			j.took++
		}
	}
}

// sample takes a thread that was seen running, or, by the wall clock, sleeping. Only the first
// class of events that measures CPU time is that signal: two of them would count every second
// twice.
func (c *jfrChunk) sample(event jfr.Event, at int64) {
	j := c.reader
	thread, worth := "sampledThread", j.every[event.Class]
	if event.Class == jfrCPUSample {
		thread, worth = "eventThread", time.Duration(clampAmount(event.Field("samplingPeriod").Ns()))
	}
	if worth <= 0 {
		if worth = j.every[jfrSample]; worth <= 0 {
			worth, j.guessed = jfrPeriodUnknown, true
		}
	}
	count := max(1, min(event.Field("samples").Int(), math.MaxInt32))
	signal := recording.SignalCPU
	switch state := event.Field("state").Text(); {
	case strings.Contains(state, "SLEEP"):
		signal, j.sleeping = recording.SignalOffCPU, true
	case j.cpuFrom == "" || j.cpuFrom == event.Class:
		j.cpuFrom = event.Class
	default:
		signal = strings.TrimPrefix(strings.TrimPrefix(event.Class, "jdk."), "profiler.")
	}
	c.add(event, at, thread, signal, count, int64(min(maxAmount, float64(count)*float64(worth))))
}

func (c *jfrChunk) add(event jfr.Event, at int64, thread, signal string, count, ns int64) {
	j := c.reader
	key := c.thread(event.Field(thread))
	key.stack = c.stack(event.Field("stackTrace"))
	if key.stack == recording.NoStack {
		j.unknown++
	}
	key.signal = j.names.text([]byte(signal))
	j.took++
	j.rows.seen(at)
	j.rows.add(key, at, count, ns)
}

// wait takes an event that lasted: the time off the CPU stands below a frame that says on what.
func (c *jfrChunk) wait(event jfr.Event, at int64) {
	j := c.reader
	length := clampAmount(event.Field("duration").Ns())
	if length == 0 {
		return
	}
	on := strings.TrimPrefix(event.Class, "jdk.")
	if field := jfrWaits[event.Class]; field != "" {
		if class := className(event.Field(field)); class != "" {
			on += " of " + class
		}
	}
	leaf := j.names.frame(recording.Frame{Name: on, Kind: recording.KindJVM})
	key := c.thread(event.Field("eventThread"))
	key.stack = j.names.stack(append(c.frames(event.Field("stackTrace")), leaf))
	key.signal = j.names.text([]byte(recording.SignalOffCPU))
	j.took++
	j.rows.seen(at)
	j.rows.seen(addAmounts(at, length))
	j.rows.add(key, at, 1, length)
	if len(j.waits) >= maxPerfWait {
		j.lost++
		return
	}
	j.waits = append(j.waits, recording.Wait{TimeNs: at, BlockedNs: length, Pid: key.pid, Tid: key.tid, State: "S",
		Stack: key.stack, WakerStack: recording.NoStack})
}

// thread is who an event is of.
func (c *jfrChunk) thread(of jfr.Value) rowKey {
	if known, is := c.threads[of.Key()]; is && of.Key() != 0 {
		return known
	}
	j := c.reader
	name := of.Field("javaName").Text()
	if name == "" {
		name = of.Field("osName").Text()
	}
	key := rowKey{pid: j.pid, tid: threadNumber(of.Field("osThreadId").Int()), comm: j.names.text([]byte(name))}
	if key.tid == 0 {
		key.tid = threadNumber(of.Field("javaThreadId").Int())
	}
	if key.pid == 0 {
		key.pid = key.tid
	}
	if len(c.threads) < maxTexts {
		c.threads[of.Key()] = key
	}
	return key
}

func (c *jfrChunk) stack(of jfr.Value) int32 {
	if known, is := c.stacks[of.Key()]; is {
		return known
	}
	id := recording.NoStack
	if frames := c.frames(of); len(frames) > 0 {
		id = c.reader.names.stack(frames)
	}
	c.stacks[of.Key()] = id // at most as many as there are constants
	return id
}

// frames are those of a stack, root first; events have them leaf first.
func (c *jfrChunk) frames(of jfr.Value) []int32 {
	var frames []int32
	of.Field("frames").Each(func(one jfr.Value) bool {
		frames = append(frames, c.frame(one))
		return len(frames) < maxScratch
	})
	for a, b := 0, len(frames)-1; a < b; a, b = a+1, b-1 {
		frames[a], frames[b] = frames[b], frames[a]
	}
	return frames
}

func (c *jfrChunk) frame(of jfr.Value) int32 {
	method := of.Field("method")
	frame, known := c.methods[method.Key()]
	if !known {
		frame = recording.Frame{Name: method.Field("name").Text(), Kind: recording.KindJVM}
		if class := className(method.Field("type")); class != "" {
			frame.Name = class + "." + frame.Name
		}
		if frame.Name == "" {
			frame.Name = "[unknown]"
		}
		frame.Name = cutText(frame.Name, maxName)
		c.methods[method.Key()] = frame
	}
	switch of.Field("type").Text() {
	case "Kernel":
		frame.Kind, frame.Name = recording.KindKernel, strings.TrimSuffix(frame.Name, markKernel)
	case "C++":
		frame.Kind = recording.KindNative
	case "Native": // of the JDK a method of Java's, of async-profiler a function of C
		if !strings.Contains(frame.Name, ".") {
			frame.Kind = recording.KindNative
		}
	}
	if line := of.Field("lineNumber").Int(); line > 0 && line < math.MaxInt32 {
		frame.Line = int32(line)
	}
	return c.reader.names.frame(frame)
}

// className turns java/lang/String into java.lang.String.
func className(of jfr.Value) string {
	name := of.Field("name")
	text := name.Text()
	if text == "" {
		text = name.Field("string").Text()
	}
	text = strings.ReplaceAll(text, "/", ".")
	if at := strings.Index(text, "$$Lambda"); at > 0 { // what follows differs between runs
		text = text[:at+len("$$Lambda")]
	}
	return text
}
