package tail

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"culprit/internal/cause"
	"culprit/internal/code"
	"culprit/recording"
)

// bucket is what stretches of requests have in common: the cause that they speak for, and where. A
// stretch that speaks for none has only a class.
type bucket struct {
	cause cause.ID
	class string
	kind  cause.PlaceKind
	place string
}

// reader tells what stretches speak for.
type reader struct {
	rec    *recording.Recording
	parts  map[int64][]*recording.RequestPart // by request
	frames map[int32][]recording.Frame
	loops  map[int32]bool // processes of which one thread reads all requests of several sockets
	own    map[int32]bool // processes of the target
	syncs  map[int32]bool // processes that wait for files in calls that force data to disk, mostly
	// pools are loops whose requests wait for threads of their own that force data to disk, with
	// the longest sync of these.
	pools map[int32]poolSync
	// within are the services that the target asks and is itself: what they waited for is told by
	// their own requests.
	within     map[string]bool
	nameServer string // who is waited for where a name is looked up
	// throttled: a quota stopped the target about as long as its slow requests waited for a CPU.
	throttled bool
	cgroup    string
	left      int64                       // requests that the recorder itself kept from a CPU
	waits     map[int32][]*recording.Wait // by thread; nil: not needed yet
	holders   map[*recording.RequestPart]holder
	answers   map[int32]bool        // threads that read requests or answer them
	stops     map[int32][]operating // by thread that stops all others; nil: not needed yet
	senders   map[int32]string      // where processes send to sockets
	timers    map[int32]timers      // of event loops, by process
	atTimers  map[int32]string      // places of sleptIn, by process
	// usualTimers are those of usualTimer, by process.
	usualTimers map[int32]int64
	delivered   bool            // what answers lie in sockets for counts
	inHand      map[int32]int64 // of processes: how long a usual request is in hand, in ns
	// turns is the cause of waiting for a loop's turns that are as long as any: none among the
	// requests of one recording, which all wait for such.
	turns cause.ID
	// blocking are the places where loops ran while requests waited to be read.
	blocking map[bucket]bool
}

func newReader(rec *recording.Recording) *reader {
	r := &reader{rec: rec, frames: map[int32][]recording.Frame{}, loops: map[int32]bool{}, own: map[int32]bool{},
		holders: map[*recording.RequestPart]holder{}, blocking: map[bucket]bool{},
		senders: map[int32]string{}, timers: map[int32]timers{}, atTimers: map[int32]string{}, usualTimers: map[int32]int64{},
		within: withinTarget(rec), nameServer: nameServerOf(rec), inHand: inHandOf(rec), syncs: syncsOf(rec),
		answers: rec.Answering()}
	r.parts = map[int64][]*recording.RequestPart{}
	for i := range rec.RequestParts {
		part := &rec.RequestParts[i]
		r.parts[part.Request] = append(r.parts[part.Request], part)
	}
	r.findLoops()
	r.pools = poolSyncsOf(rec, r.loops)
	for i := range rec.Processes {
		r.own[rec.Processes[i].Pid] = true
	}
	r.readQuota()
	return r
}

// throttledMetric is the counter of the table of metrics.
const throttledMetric = "cgroup.cpu.throttled_s"

// readQuota finds a cgroup of the target that a quota stopped while its requests were without a
// CPU.
func (r *reader) readQuota() {
	first, last := map[string]float64{}, map[string]float64{}
	for i := range r.rec.Metrics {
		if row := &r.rec.Metrics[i]; row.Name == throttledMetric {
			if _, known := first[row.Scope]; !known {
				first[row.Scope] = row.Value
			}
			last[row.Scope] = row.Value
		}
	}
	queued := 0.0
	for i := range r.rec.RequestParts {
		part := &r.rec.RequestParts[i]
		if part.Class == recording.PartQueued && !part.StoodStill() && part.LengthNs > 1e6 {
			queued += float64(part.LengthNs) / 1e9
		}
	}
	most := 0.0
	for scope, value := range last {
		if grown := value - first[scope]; grown > most {
			most, r.cgroup = grown, scope
		}
	}
	// Many requests may wait at once for one stop; a stop that nobody's request fell into counts
	// for nothing.
	r.throttled = most > 0 && queued > 0 && most >= 0.1
}

func (r *reader) stack(id int32) []recording.Frame {
	if id < 0 || int(id) >= len(r.rec.Stacks) {
		return nil
	}
	if frames, known := r.frames[id]; known {
		return frames
	}
	frames := make([]recording.Frame, 0, len(r.rec.Stacks[id].Frames))
	for _, frame := range r.rec.Stacks[id].Frames {
		frames = append(frames, r.rec.Frames[frame])
	}
	r.frames[id] = frames
	return frames
}

// bucketOf says what a stretch of a request speaks for.
func (r *reader) bucketOf(part *recording.RequestPart, pid int32) bucket {
	if part.Class == partUnsent {
		return r.unsent(part, pid)
	}
	b := r.byClass(part)
	switch {
	case isTimer(part):
		b.place = r.sleptIn(pid)
	case r.asTimer(part, pid):
		b = bucket{cause: cause.SleepDeliberate, class: recording.PartSleep, kind: cause.InCode, place: r.sleptIn(pid)}
	case b.cause == "" && part.Class == recording.PartDisk && r.syncs[pid]:
		b.cause = cause.FileSync
	case b.cause == cause.CodeGrew && !part.Before && !r.loops[pid]: // a loop's work is the loop's
		b.cause = cmp.Or(cause.WorkOf(r.stack(part.Stack)), b.cause)
	}
	longest, pooled := r.pools[pid]
	if pooled && b.cause == "" && part.Class == recording.PartNet && isSum(part) {
		b = r.byPool(longest)
	}
	if part.Beside && r.waitsBehind(part, b) {
		return bucket{cause: cause.RequestQueued, class: b.class, kind: b.kind, place: b.place}
	}
	if part.Before && r.waitsBehind(part, b) {
		if !r.loops[pid] && r.lockedOut(part, b) {
			return b
		}
		if held := r.holding(part); held.place != "" { // the reader waited for work or a lock, this is what for
			b.kind, b.place = cause.InCode, held.place
		}
		queued := bucket{cause: cause.RequestQueued, class: b.class, kind: b.kind, place: b.place}
		if r.loops[pid] {
			queued.cause = cause.LoopBlocked
			r.blocking[bucket{class: b.class, kind: b.kind, place: b.place}] = true
		}
		return queued
	}
	return b
}

// lockedOut tells that a thread which reads requests waited for a lock that one holds which serves
// none: more readers would wait there as well.
func (r *reader) lockedOut(part *recording.RequestPart, b bucket) bool {
	return b.cause == cause.LockContended && r.holding(part).comm != "" && !r.answers[part.WakerTid] &&
		code.WaitsFor(r.stack(part.Stack)) == code.WaitLock
}

// waitsBehind tells that the thread was at something of the program's, and not kept from running by
// others.
func (r *reader) waitsBehind(part *recording.RequestPart, b bucket) bool {
	switch b.cause {
	case cause.RuntimeGC, cause.CPUThrottled, cause.CPUStarved, cause.MemoryReclaim, cause.MemoryPageIn,
		cause.MemoryMapLock:
		return false
	}
	return part.Class != recording.PartIdle && part.Class != recording.PartQueued
}

func (r *reader) byClass(part *recording.RequestPart) bucket {
	frames := r.stack(part.Stack)
	b := bucket{class: part.Class}
	b.kind, b.place = cause.InCode, placeOf(frames)
	collector := code.IsCollector(part.RunnerComm) || part.RunnerComm == jvmStopper
	if collects(frames) || collector && part.Class == recording.PartQueued {
		b.cause = cause.RuntimeGC
		return b
	}
	switch part.Class {
	case recording.PartCPU:
		if b.cause = cause.CodeGrew; inKernel(frames, syncFunctions) { // on a fast disk most of a sync is work
			b.cause = cause.FileSync
		}
	case recording.PartQueued:
		return r.queued(part)
	case recording.PartLock:
		return r.lock(part, frames, b)
	case recording.PartSleep:
		if b.cause = cause.SleepDeliberate; code.AtDatabaseLock(frames) {
			return atDatabaseLock(frames, b)
		}
	case recording.PartDisk, recording.PartFault:
		return r.file(part, frames, b)
	case recording.PartDownstream:
		if r.within[part.Where] {
			return bucket{class: part.Class, place: part.Where}
		}
		return downstream(part, part.Where)
	case recording.PartNet, recording.PartOther:
		return r.network(part, frames, b)
	case recording.PartHandover:
		if r.awaitsTasks(part) {
			return bucket{class: recording.PartUnknown}
		}
		b.cause = cause.RequestQueued
	default:
		return bucket{class: part.Class}
	}
	return b
}

// queued: without a CPU.
func (r *reader) queued(part *recording.RequestPart) bucket {
	if part.StoodStill() {
		return stoodStill
	}
	if r.throttled && part.LengthNs > 1e6 {
		return bucket{cause: cause.CPUThrottled, class: part.Class, kind: cause.InCgroup, place: r.cgroup}
	}
	if part.WakerKind == recording.WakerBeside { // a goroutine that no thread took up: these were at others
		if place := placeOf(r.stack(part.WakerStack)); place != "" {
			return bucket{cause: cause.CPUStarved, class: part.Class, kind: cause.InCode, place: place}
		}
	}
	if part.LengthNs <= 1e6 { // who had the CPU is only known of longer ones
		return bucket{cause: cause.CPUStarved, class: part.Class}
	}
	return bucket{cause: cause.CPUStarved, class: part.Class, kind: cause.InProcess, place: part.RunnerComm}
}

// awaitsTasks tells that the thread which took a request up had slept until then because none of
// its tasks was ready: the request was not queued for it, but waited for what is not seen.
func (r *reader) awaitsTasks(part *recording.RequestPart) bool {
	if part.Tid == 0 {
		return false // a goroutine, which was seen
	}
	longest := r.longest(part.Tid, part.TimeNs, part.TimeNs+part.LengthNs)
	return longest != nil && code.AwaitsTasks(r.stack(longest.Stack))
}

// disturbedBy is how much of a request's time the recorder may have taken.
const disturbedBy = 0.2

// disturbed tells a request that waited for a CPU which the recorder had: it would not have been
// slow without.
func (r *reader) disturbed(a *asked) bool {
	taken := int64(0)
	for _, part := range a.parts {
		if part.Class == recording.PartQueued && part.RunnerComm == recording.RecorderComm {
			taken += part.LengthNs
		}
	}
	return float64(taken) > disturbedBy*float64(a.row.LatencyNs)
}

// placeOf is the innermost function of the program's own, else the innermost of all in user space,
// else of the kernel.
func placeOf(frames []recording.Frame) string {
	if at := code.Innermost(frames); at >= 0 {
		return nameOf(&frames[at])
	}
	for i := len(frames) - 1; i >= 0; i-- {
		if frames[i].Kind != recording.KindKernel {
			return nameOf(&frames[i])
		}
	}
	return ""
}

// nameOf gives a function without a name its place in the source.
func nameOf(frame *recording.Frame) string {
	if frame.File == "" || frame.Name != "" && !strings.HasPrefix(frame.Name, "<") {
		return frame.Name
	}
	return fmt.Sprintf("%s (%s:%d)", frame.Name, path.Base(frame.File), frame.Line)
}
