package format

import (
	"bytes"
	"strconv"
)

// straceLine is one line of a log, cut into its parts.
type straceLine struct {
	tid      int32
	hasTid   bool
	bracket  bool  // "[pid 12]": strace leaves it out while there is only one process
	timeNs   int64 // -1: not printed
	relative bool  // strace -r: since the line before
	clock    bool  // time of day, strace -t or -tt
	text     []byte
}

// parseStraceLine takes the process and the time off a line.
func parseStraceLine(line []byte) straceLine {
	l := straceLine{timeNs: -1, text: line}
	if rest, ok := bytes.CutPrefix(line, []byte("[pid ")); ok {
		number, rest, ok := bytes.Cut(rest, []byte("]"))
		tid, is := parseID(bytes.TrimSpace(number))
		if ok && is {
			l.tid, l.hasTid, l.bracket, l.text = tid, true, true, rest
		}
	} else if number, rest := cutWord(line); len(rest) > 0 {
		if tid, is := parseID(number); is {
			l.tid, l.hasTid, l.text = tid, true, rest
		}
	}
	l.text = bytes.TrimLeft(l.text, " \t")
	stamp, rest := cutWord(l.text)
	if ns, ok := parseFraction(stamp); ok {
		l.timeNs, l.text, l.relative = ns, rest, ns < 1e8*1e9
	} else if ns, ok := parseClock(stamp); ok {
		l.timeNs, l.text, l.clock = ns, rest, true
	} else if seconds, ok := parseDecimal(stamp); ok && l.hasTid && len(stamp) >= 9 && seconds < 1<<33 { // date +%s
		l.timeNs, l.text = seconds*1e9, rest
	}
	l.text = bytes.TrimLeft(l.text, " \t")
	return l
}

func cutWord(text []byte) (first, rest []byte) {
	text = bytes.TrimLeft(text, " \t")
	if end := bytes.IndexAny(text, " \t"); end >= 0 {
		return text[:end], text[end+1:]
	}
	return text, nil
}

// parseClock reads "23:12:58.936632".
func parseClock(text []byte) (int64, bool) {
	if len(text) < 8 || text[2] != ':' || text[5] != ':' {
		return 0, false
	}
	hours, a := parseDecimal(text[:2])
	minutes, b := parseDecimal(text[3:5])
	seconds, c := parseDecimal(text[6:8])
	if !a || !b || !c || hours > 24 || minutes > 59 || seconds > 60 {
		return 0, false
	}
	ns := (hours*3600 + minutes*60 + seconds) * 1e9
	if len(text) == 8 {
		return ns, true
	}
	part, ok := parseFraction(append([]byte("0"), text[8:]...))
	return ns + part, ok
}

// straceCall is one system call as it stands in the log.
type straceCall struct {
	name       string
	args       []byte
	startNs    int64 // -1: not known
	durationNs int64 // -1: not printed
	result     int64
	hasResult  bool // "= ?" has none
	errno      string
	timeout    bool // "= 0 (Timeout)"
}

const (
	marksUnfinished = "<unfinished ...>"
	maxCallName     = 64
)

// callName reads the name before the parenthesis.
func callName(text []byte) (name string, rest []byte, ok bool) {
	end := 0
	for end < len(text) && isNameByte(text[end]) {
		end++
	}
	if end == 0 || end > maxCallName || end >= len(text) || text[end] != '(' || text[0] >= '0' && text[0] <= '9' {
		return "", nil, false
	}
	return string(text[:end]), text[end+1:], true
}

func isNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// readResult reads "…args) = -1 ENOENT (No such file or directory) <0.000034>".
func (c *straceCall) readResult(text []byte) bool {
	args, result, ok := splitResult(text)
	if !ok {
		return false
	}
	c.args = append(c.args, args...)
	c.durationNs = -1
	if open := bytes.LastIndex(result, []byte(" <")); open >= 0 && result[len(result)-1] == '>' {
		if ns, ok := parseFraction(result[open+2 : len(result)-1]); ok {
			c.durationNs, result = ns, result[:open]
		}
	}
	value, rest := cutWord(result)
	if at := bytes.IndexByte(value, '<'); at > 0 { // 3</path> of strace -y
		value = value[:at]
	}
	c.timeout = bytes.HasPrefix(rest, []byte("(Timeout)"))
	number, err := strconv.ParseInt(string(value), 0, 64)
	if err == nil {
		c.result, c.hasResult = number, true
	} else if unsigned, err := strconv.ParseUint(string(value), 0, 64); err == nil {
		c.result, c.hasResult = int64(min(unsigned, 1<<63-1)), true
	} else if string(value) != "?" {
		return false
	}
	if errno, _ := cutWord(rest); (c.result == -1 || !c.hasResult) && isErrno(errno) {
		c.errno = string(errno)
	}
	return true
}

func isErrno(text []byte) bool {
	if len(text) < 3 || len(text) > maxCallName || text[0] != 'E' {
		return false
	}
	for _, c := range text {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// splitResult finds the parenthesis that ends the arguments: brackets count, but
// not those in strings and in the paths of strace -y.
func splitResult(text []byte) (args, result []byte, ok bool) {
	depth := 1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = skipString(text, i)
		case '<':
			if i > 0 && text[i-1] >= '0' && text[i-1] <= '9' {
				if end := bytes.IndexByte(text[i:], '>'); end > 0 {
					i += end
				}
			}
		case '(':
			depth++
		case ')':
			if depth--; depth > 0 {
				continue
			}
			rest := bytes.TrimLeft(text[i+1:], " \t")
			if result, is := bytes.CutPrefix(rest, []byte("= ")); is {
				return text[:i], result, true
			}
			depth = 1 // a comment of strace with a bracket of its own: look on
		}
	}
	return nil, nil, false
}

// skipString returns the place of the quote that ends the string at i.
func skipString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}

// maxArgs bounds how many arguments are told apart: no call has more than six.
const maxArgs = 8

// splitArgs cuts arguments at the commas outside of strings and brackets.
func splitArgs(text []byte, args [][]byte) [][]byte {
	args = args[:0]
	depth, start := 0, 0
	for i := 0; i < len(text) && len(args) < maxArgs; i++ {
		switch text[i] {
		case '"':
			i = skipString(text, i)
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				args = append(args, bytes.TrimSpace(text[start:i]))
				start = i + 1
			}
		}
	}
	if start < len(text) {
		args = append(args, bytes.TrimSpace(text[start:]))
	}
	return args
}

// looksLikeStrace tells a line of a log from other text.
func looksLikeStrace(line []byte) bool {
	l := parseStraceLine(line)
	for _, mark := range []string{"--- SIG", "+++ exited with ", "+++ killed by ", "<... "} {
		if bytes.HasPrefix(l.text, []byte(mark)) {
			return true
		}
	}
	_, rest, ok := callName(l.text)
	if !ok {
		return false
	}
	if bytes.HasSuffix(rest, []byte(marksUnfinished)) {
		return true
	}
	_, result, ok := splitResult(rest)
	return ok && len(result) > 0 && (result[0] == '?' || result[0] == '-' || result[0] >= '0' && result[0] <= '9')
}
