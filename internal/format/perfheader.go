package format

import (
	"bytes"
)

// perfHeader is the first line of a sample of perf script, as far as it was printed.
type perfHeader struct {
	comm     []byte
	pid, tid int32
	hasPid   bool
	cpu      int32 // -1: not printed
	timeNs   int64 // -1: not printed
	period   int64 // -1: not printed
	event    []byte
	rest     []byte // behind the event: a tracepoint's text, or a single frame
}

// maxHeaderFields bounds what is looked at of a line.
const maxHeaderFields = 48

// parsePerfHeader reads "comm pid/tid [cpu] seconds: period event: text", any of
// which -F may have left out; tools/perf/builtin-script.c prints it. A thread's
// name may hold blanks and numbers, so the thread's id is the first number that
// is followed by what can follow an id and leads to the event, else the first of
// the others.
func parsePerfHeader(line []byte) (h perfHeader, ok bool) {
	h = perfHeader{cpu: -1, timeNs: -1, period: -1}
	var spans [maxHeaderFields][2]int
	fields := splitFields(line, spans[:])
	if isMapping(line, fields) {
		return h, false
	}
	at := -1
	for i := range fields {
		if at >= 0 && isTime(word(line, fields, i)) {
			break // ids stand before it
		}
		ofName := at >= 0 || isEvent(word(line, fields, i)) && idsBehind(line, fields, i+1)
		if headerField(line, fields, i) && !bareID(line, fields, i) && !ofName {
			h.comm = commBefore(line, fields, i)
			at = i
			break
		}
		if pid, tid, both, isID := parseIDs(word(line, fields, i)); isID &&
			(i+1 == len(fields) && (both || i > 0) || follows(line, fields, i+1)) {
			sure := leadsToEvent(line, fields, i+1)
			if at >= 0 && !sure {
				continue
			}
			h.pid, h.tid, h.hasPid = pid, tid, true
			h.comm = commBefore(line, fields, i)
			if at = i + 1; sure {
				break
			}
		}
	}
	if at < 0 {
		return h, false
	}
	h.readFields(line, fields, at)
	return h, h.hasPid || h.timeNs >= 0 || len(h.event) > 0
}

// leadsToEvent tells whether nothing but what perf prints between the ids and the event stands from
// field i on, in its order: -F misc, the CPU, the time, the period. What looks like ids and is not
// followed so is a part of a thread's name, such as "pool 12/3 [0] x", if ids that are come behind
// it.
func leadsToEvent(line []byte, fields [][2]int, i int) bool {
	if i < len(fields) && len(bytes.Trim(word(line, fields, i), "KUHGMESDP")) == 0 {
		i++
	}
	if i < len(fields) {
		if _, is := parseCPU(word(line, fields, i)); is {
			i++
		}
	}
	if i < len(fields) && isTime(word(line, fields, i)) {
		i++
	}
	if i < len(fields) {
		if _, is := parseDecimal(word(line, fields, i)); is {
			i++
		}
	}
	return i == len(fields) || isEvent(word(line, fields, i))
}

func isTime(text []byte) bool {
	_, is := parseSeconds(text)
	return is
}

// maxPid is the largest id that Linux gives, PID_MAX_LIMIT of include/linux/threads.h.
const maxPid = 1 << 22

// bareID tells "java 19983 cycles:", which perf prints without a time, from "java 10101010
// cycles:": a number between a name and an event is the id that stands there by default, unless it
// is too large for one; then -F has left the id out, and it is the period.
func bareID(line []byte, fields [][2]int, i int) bool {
	number, is := parseDecimal(word(line, fields, i))
	return i > 0 && is && number <= maxPid && i+1 < len(fields) && isEvent(word(line, fields, i+1))
}

// readFields reads what stands behind the ids.
func (h *perfHeader) readFields(line []byte, fields [][2]int, at int) {
	for ; at < len(fields); at++ {
		text := word(line, fields, at)
		if cpu, is := parseCPU(text); is {
			h.cpu = cpu
		} else if timeNs, is := parseSeconds(text); is {
			h.timeNs = timeNs
		} else if isEvent(text) {
			h.event = text[:len(text)-1]
			h.rest = bytes.TrimSpace(line[fields[at][1]:])
			return
		} else if period, is := parseDecimal(text); is {
			h.period = period
		}
	}
}

// isMapping tells a line of /proc/PID/maps and smaps, "00400000-00401000 r-xp 00000000 fe:00 24
// /bin/true": its device and inode look like an id and an event.
func isMapping(line []byte, fields [][2]int) bool {
	if len(fields) < 5 {
		return false
	}
	from, to, is := bytes.Cut(word(line, fields, 0), []byte("-"))
	mode := word(line, fields, 1)
	if !is || !allHex(string(from)) || !allHex(string(to)) || len(mode) != 4 {
		return false
	}
	for i, flags := range []string{"r-", "w-", "x-", "ps"} {
		if bytes.IndexByte([]byte(flags), mode[i]) < 0 {
			return false
		}
	}
	return true
}

// follows tells whether what can follow an id begins with field i: the letters of -F misc may stand
// before it.
func follows(line []byte, fields [][2]int, i int) bool {
	if i < len(fields) && len(bytes.Trim(word(line, fields, i), "KUHGMESDP")) == 0 {
		i++
	}
	return i < len(fields) && headerField(line, fields, i)
}

// idsBehind tells whether an id with a CPU or a time comes later, which perf prints before the
// event: what looks like an event is then part of a name such as "pool: 3".
func idsBehind(line []byte, fields [][2]int, from int) bool {
	for i := from; i+1 < len(fields); i++ {
		if _, _, _, isID := parseIDs(word(line, fields, i)); !isID {
			continue
		}
		next := word(line, fields, i+1)
		if _, is := parseCPU(next); is {
			return true
		}
		if _, is := parseSeconds(next); is {
			return true
		}
	}
	return false
}

// headerField tells whether field i is a CPU, a time, an event, or a period before an event.
func headerField(line []byte, fields [][2]int, i int) bool {
	text := word(line, fields, i)
	if _, is := parseCPU(text); is {
		return true
	}
	if _, is := parseSeconds(text); is {
		return true
	}
	if isEvent(text) {
		return true
	}
	_, number := parseDecimal(text)
	return number && i+1 < len(fields) && isEvent(word(line, fields, i+1))
}

func commBefore(line []byte, fields [][2]int, i int) []byte {
	if i == 0 {
		return nil
	}
	return line[fields[0][0]:fields[i-1][1]]
}

func word(line []byte, fields [][2]int, i int) []byte { return line[fields[i][0]:fields[i][1]] }

// splitFields finds the words of a line, as many as spans has room for.
func splitFields(line []byte, spans [][2]int) [][2]int {
	count, i := 0, 0
	for count < len(spans) {
		for i < len(line) && isBlank(line[i]) {
			i++
		}
		if i == len(line) {
			break
		}
		start := i
		for i < len(line) && !isBlank(line[i]) {
			i++
		}
		spans[count] = [2]int{start, i}
		count++
	}
	return spans[:count]
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// parseIDs reads "tid" or "pid/tid". With one number, which perf prints for the
// thread, the process is not known and taken to be the thread.
func parseIDs(text []byte) (pid, tid int32, both, ok bool) {
	first, second, both := bytes.Cut(text, []byte("/"))
	a, ok := parseID(first)
	if !ok {
		return 0, 0, false, false
	}
	if !both {
		return a, a, false, true
	}
	b, ok := parseID(second)
	return a, b, true, ok
}

func parseID(text []byte) (int32, bool) {
	if len(text) == 2 && text[0] == '-' && text[1] == '1' {
		return -1, true
	}
	number, ok := parseDecimal(text)
	return int32(number), ok && number < 1<<31
}

func parseDecimal(text []byte) (int64, bool) {
	if len(text) == 0 || len(text) > 18 {
		return 0, false
	}
	var number int64
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		number = number*10 + int64(c-'0')
	}
	return number, true
}

// parseCPU reads "[003]".
func parseCPU(text []byte) (int32, bool) {
	if len(text) < 3 || text[0] != '[' || text[len(text)-1] != ']' {
		return 0, false
	}
	number, ok := parseDecimal(text[1 : len(text)-1])
	return int32(number), ok && number < 1<<20
}

// parseSeconds reads "2507.023279:" or, with --ns, nine digits.
func parseSeconds(text []byte) (int64, bool) {
	if len(text) < 4 || text[len(text)-1] != ':' {
		return 0, false
	}
	return parseFraction(text[:len(text)-1])
}

// parseFraction reads seconds with up to nine digits behind the point as nanoseconds.
func parseFraction(text []byte) (int64, bool) {
	whole, part, cut := bytes.Cut(text, []byte("."))
	seconds, ok := parseDecimal(whole)
	if !ok || !cut || len(part) == 0 || len(part) > 9 || seconds > 1<<33 {
		return 0, false
	}
	ns, ok := parseDecimal(part)
	for range 9 - len(part) {
		ns *= 10
	}
	return seconds*1e9 + ns, ok
}

// isEvent tells "cycles:", "cycles:ppp:", "sched:sched_switch:", "cpu_core/cycles/:" from other
// words.
func isEvent(text []byte) bool {
	if len(text) < 3 || text[len(text)-1] != ':' || text[0] == ':' {
		return false
	}
	return text[0] >= 'a' && text[0] <= 'z' || text[0] >= 'A' && text[0] <= 'Z' || text[0] == '_'
}
