package format

import (
	"bytes"
	"math/bits"
	"path"
	"strings"

	"culprit/recording"
)

// event takes one line of a thread. False: it was not understood.
func (s *straceReader) event(thread *straceThread, l straceLine) bool {
	text := l.text
	switch {
	case bytes.HasPrefix(text, []byte("--- ")):
		return true // a signal: what it interrupts says ERESTARTSYS or EINTR
	case bytes.HasPrefix(text, []byte("+++ ")):
		s.exited(thread, text, l.timeNs)
		return true
	case bytes.HasPrefix(text, []byte("<... ")):
		return s.resumed(thread, text, l.timeNs)
	}
	name, rest, ok := callName(text)
	if !ok {
		return false
	}
	call := &straceCall{name: name, startNs: l.timeNs, durationNs: -1}
	if unfinished, is := cutUnfinished(rest); is {
		call.args = append(call.args, unfinished[:min(len(unfinished), maxPendingArgs)]...)
		thread.pending = call
		return true
	}
	if !call.readResult(rest) {
		return false
	}
	s.finished(thread, call)
	return true
}

// cutUnfinished takes "<unfinished ...>" off, and the ") = ?" before it of a thread that another's
// exit ended.
func cutUnfinished(text []byte) ([]byte, bool) {
	text, is := bytes.CutSuffix(text, []byte(marksUnfinished))
	return bytes.TrimRight(text, " "), is
}

// resumed ends a call that another thread's lines had interrupted in the log.
func (s *straceReader) resumed(thread *straceThread, text []byte, timeNs int64) bool {
	name, rest, ok := bytes.Cut(text[len("<... "):], []byte(" resumed>"))
	if !ok || len(name) > maxCallName {
		return false
	}
	call := thread.pending
	thread.pending = nil
	if call == nil || call.name != string(name) {
		call = &straceCall{name: string(name), startNs: -1}
	}
	if cut, is := cutUnfinished(rest); is { // interrupted once more
		call.args = append(call.args, cut[:min(len(cut), maxPendingArgs)]...)
		call.args = call.args[:min(len(call.args), maxPendingArgs)]
		thread.pending = call
		return true
	}
	if !call.readResult(rest) {
		return false
	}
	if call.durationNs < 0 && call.startNs >= 0 && timeNs >= call.startNs {
		call.durationNs = timeNs - call.startNs // without -T the two lines tell it
	}
	if call.startNs < 0 && timeNs >= 0 {
		call.startNs = timeNs - max(0, call.durationNs)
	}
	s.finished(thread, call)
	return true
}

// finished books a call.
func (s *straceReader) finished(thread *straceThread, call *straceCall) {
	if call.name == "restart_syscall" { // <... resuming interrupted read ...>
		if name := between(string(call.args), "interrupted ", " "); name != "" && len(name) <= maxCallName {
			call.name = name
		}
	}
	s.count(thread, call)
	args := splitArgs(call.args, s.args[:])
	s.learn(thread, call, args)
	if call.durationNs >= slowNs || call.durationNs >= wholeWaitNs && sleeps[call.name] {
		s.keepSlow(thread, call, args)
	}
	thread.process.follow(call, args)
	if call.startNs >= 0 {
		thread.seen(call.startNs)
		end := call.startNs + min(max(0, call.durationNs), maxAmount)
		thread.seen(end)
		s.lastNs = max(s.lastNs, end)
	}
}

func (s *straceReader) count(thread *straceThread, call *straceCall) {
	key := callKey{thread, call.name}
	row := s.calls[key]
	if row == nil {
		if len(s.callList) >= maxCallRows {
			s.lostRows++
			return
		}
		row = &recording.Syscall{Name: call.name}
		s.calls[key] = row
		s.callList = append(s.callList, row)
		thread.rows = append(thread.rows, row)
	}
	row.Count++
	if call.errno != "" {
		row.Errors++
		s.fail(errnoKey{thread.process, call.name, call.errno})
	}
	if withSize[call.name] && call.hasResult && call.result > 0 {
		row.Bytes = addAmounts(row.Bytes, clampAmount(call.result))
	}
	if call.durationNs < 0 {
		return
	}
	s.lengths++
	row.TotalNs = addAmounts(row.TotalNs, clampAmount(call.durationNs))
	bucket := max(0, bits.Len64(uint64(call.durationNs))-1)
	for len(row.Buckets) <= bucket {
		row.Buckets = append(row.Buckets, 0)
	}
	row.Buckets[bucket]++
}

func (s *straceReader) fail(key errnoKey) {
	if _, known := s.errnos[key]; !known {
		if len(s.failed) >= maxCallRows {
			s.lostRows++
			return
		}
		s.failed = append(s.failed, key)
	}
	s.errnos[key]++
}

// learn takes from a call what it tells of processes, names and wake-ups.
func (s *straceReader) learn(thread *straceThread, call *straceCall, args [][]byte) {
	process := thread.process
	switch call.name {
	case "clone", "clone3", "fork", "vfork":
		if call.hasResult && call.result > 0 {
			s.started(thread, call)
		}
	case "execve", "execveat":
		file, ok := firstString(args)
		if !ok || !call.hasResult || call.result != 0 {
			return
		}
		process.command = cutText(file, maxCommentBytes)
		process.comm = cutText(path.Base(file), 15)
		thread.comm = process.comm
		process.execs++
		if process.line == "" {
			process.line = commandLine(args)
		}
	case "prctl":
		if len(args) > 1 && string(args[0]) == "PR_SET_NAME" {
			if name, ok := quoted(args[1]); ok {
				thread.comm = cutText(name, 15)
			}
		}
	case "futex":
		if len(args) > 1 && bytes.Contains(args[1], []byte("WAKE")) && len(s.futexes) < maxFutexes {
			if _, address := process.objectOf(call, args); address != 0 {
				s.futexes[address] = wake{thread, call.startNs}
			}
		}
	}
}

func firstString(args [][]byte) (string, bool) {
	for _, arg := range args[:min(len(args), 2)] {
		if text, ok := quoted(arg); ok {
			return text, true
		}
	}
	return "", false
}

// commandLine reads ["sh", "-c", "true"], execve's second argument.
func commandLine(args [][]byte) string {
	var words []string
	for _, arg := range args {
		if len(arg) > 1 && arg[0] == '[' {
			var list [maxArgs][]byte
			for _, word := range splitArgs(arg[1:len(arg)-1], list[:]) {
				if text, ok := quoted(word); ok {
					words = append(words, text)
				}
			}
			break
		}
	}
	return cutText(strings.Join(words, " "), maxCommentBytes)
}

// keepSlow keeps a long call whole, and a shorter one of those that do nothing but wait.
func (s *straceReader) keepSlow(thread *straceThread, call *straceCall, args [][]byte) {
	if len(s.slow) >= maxSlowCalls {
		s.lostSlow++
		return
	}
	on, number := thread.process.objectOf(call, args)
	on.name = cutText(on.name, maxCommentBytes)
	kept := slowCall{thread: thread, call: *call, on: on, number: number, stack: recording.NoStack}
	kept.call.args = nil
	if withSize[call.name] && len(args) > 2 && !vectored(call.name) { // readv has a list there
		kept.size, _ = parseDecimal(args[2])
	}
	switch {
	case call.errno != "" && call.errno != "ETIMEDOUT": // a signal ended it
	case timed[call.name], call.timeout, call.errno == "ETIMEDOUT":
		kept.kind = recording.WakerTimer
	case (call.name == "wait4" || call.name == "waitid") && call.hasResult && call.result > 0:
		kept.kind, kept.wakerTid = recording.WakerThread, int32(min(call.result, 1<<31-1))
		kept.waker = s.threads[kept.wakerTid]
	case call.name == "futex":
		woken, ok := s.futexes[number]
		if ok && woken.thread != thread && woken.timeNs >= call.startNs {
			kept.kind, kept.waker = recording.WakerThread, woken.thread
		}
	}
	s.slow = append(s.slow, kept)
	s.stackOf = &s.slow[len(s.slow)-1]
}

// exited reads "+++ exited with 0 +++" and "+++ killed by SIGKILL +++".
func (s *straceReader) exited(thread *straceThread, text []byte, timeNs int64) {
	if bytes.HasPrefix(text, []byte("+++ superseded")) {
		return
	}
	thread.ended, thread.pending = true, nil
	process := thread.process
	if timeNs >= 0 {
		process.endNs = max(process.endNs, timeNs)
	}
	if number, ok := bytes.CutPrefix(text, []byte("+++ exited with ")); ok {
		first, _ := cutWord(number)
		code, _ := parseID(first)
		process.exit = code
	} else if name, ok := bytes.CutPrefix(text, []byte("+++ killed by ")); ok {
		first, _ := cutWord(name)
		process.exit = 128 + signalNumbers[string(first)]
	}
}

// signalNumbers are those that end programs, on x86 and ARM.
var signalNumbers = map[string]int32{"SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGILL": 4, "SIGTRAP": 5, "SIGABRT": 6,
	"SIGBUS": 7, "SIGFPE": 8, "SIGKILL": 9, "SIGUSR1": 10, "SIGSEGV": 11, "SIGUSR2": 12, "SIGPIPE": 13, "SIGALRM": 14,
	"SIGTERM": 15, "SIGSYS": 31}
