package trial

import (
	"fmt"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// FailedError says that a command did not end well. Its text is one line.
type FailedError struct {
	Side      string
	Command   string
	ExitCode  int            // 0 when it ended by a signal or was stopped
	Signal    syscall.Signal // 0 when none
	Timeout   time.Duration  // not 0: it ran longer than this and was killed
	Flood     int64          // not 0: it printed more bytes than this and was killed
	LastLines []string       // what it printed last, errors if there are any
	When      string         // of a server or its load: what ended, and when; "" of a command
}

// The limits of what an error shows.
const (
	maxShownCommand = 160
	maxShownLine    = 200
	maxShownLines   = 5
)

// Error gives the reason, the command and its last lines on one line.
func (e *FailedError) Error() string {
	reason := e.reason()
	if e.When != "" {
		reason = e.When + ": " + reason
	}
	text := fmt.Sprintf("run %s: %s: %q", e.Side, reason, oneLine(e.Command, maxShownCommand))
	lines := make([]string, 0, maxShownLines)
	for _, line := range e.LastLines {
		if line = oneLine(line, maxShownLine); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) > maxShownLines {
		lines = lines[len(lines)-maxShownLines:]
	}
	if len(lines) == 0 {
		return text + " (it printed nothing)"
	}
	return text + ": " + strings.Join(lines, " | ")
}

func (e *FailedError) reason() string {
	switch {
	case e.Timeout > 0:
		return fmt.Sprintf("not done after %s; if it is to end by itself, give a longer --timeout", e.Timeout)
	case e.Flood > 0:
		return fmt.Sprintf("printed more than %d bytes", e.Flood)
	case e.Signal != 0:
		return fmt.Sprintf("killed by signal %d (%s)", int(e.Signal), e.Signal)
	case e.ExitCode == 127: // what POSIX has the shell answer
		return "exit status 127, command not found"
	case e.ExitCode == 126:
		return "exit status 126, command not executable"
	case e.ExitCode > 128 && e.ExitCode <= 128+64:
		// The shell's way to say that the command it waited for was killed.
		signal := syscall.Signal(e.ExitCode - 128)
		return fmt.Sprintf("exit status %d, as if killed by signal %d (%s)", e.ExitCode, int(signal), signal)
	}
	return fmt.Sprintf("exit status %d", e.ExitCode)
}

// oneLine folds line ends, drops control and formatting characters (a terminal must not obey what a
// command prints) and cuts to a number of runes.
func oneLine(text string, limit int) string {
	var line strings.Builder
	count := 0
	for _, r := range strings.TrimSpace(text) {
		switch {
		case r == '\n':
			r = '|'
		case r == '\t':
			r = ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			continue
		case r == unicode.ReplacementChar:
			r = '?'
		}
		if count == limit {
			line.WriteString("…")
			break
		}
		line.WriteRune(r)
		count++
	}
	return line.String()
}
