package format

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"culprit/internal/format/jfr"
)

// detect tells the format by the first bytes, without taking them from the input.
func detect(input *bufio.Reader) (string, error) {
	head, err := input.Peek(detectBytes)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return "", fmt.Errorf("read: %w", err)
	}
	if len(head) == 0 {
		return "", errors.New("it is empty")
	}
	if len(head) == detectBytes { // the last line may be cut
		if end := bytes.LastIndexByte(head, '\n'); end > 0 {
			head = head[:end]
		}
	}
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		return detectZipped(head)
	}
	otlp, _ := looksLikeOTLP(head)
	switch {
	case bytes.HasPrefix(head, []byte(jfr.Magic)):
		return JFR, nil
	case looksLikePprof(head):
		return Pprof, nil
	case looksLikeBpftraceJSON(head):
		return Bpftrace, nil
	case otlp:
		return OTLP, nil
	}
	if other := otherFormat(head); other != "" {
		return "", fmt.Errorf("%w: it is %s", ErrUnknown, other)
	}
	if looksLikeCPUProfile(head) {
		return CPUProfile, nil
	}
	if format := detectText(head); format != "" {
		return format, nil
	}
	return "", fmt.Errorf("%w; it begins with %.40q: give --format %s",
		ErrUnknown, head, strings.Join(Readable[1:], ", "))
}

// detectZipped tells what is compressed by the start of what comes out: a profile of pprof where
// that does not tell.
func detectZipped(head []byte) (string, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		return Pprof, nil // which says what is wrong
	}
	inner := make([]byte, detectBytes)
	n, _ := io.ReadFull(unzipped, inner) // it is cut
	inner = inner[:n]
	if bytes.HasPrefix(inner, []byte(jfr.Magic)) {
		return JFR, nil
	}
	if looksLikePprof(inner) {
		return Pprof, nil
	}
	if otlp, _ := looksLikeOTLP(inner); otlp {
		return OTLP, nil
	}
	if other := otherFormat(inner); other != "" {
		return "", fmt.Errorf("%w: it is, compressed, %s", ErrUnknown, other)
	}
	return Pprof, nil
}

// detectText lets the first lines vote; the format with most of them wins.
func detectText(head []byte) string {
	const (
		lines  = 400
		frames = "frames" // below what perf and bpftrace begin a sample with
	)
	votes := map[string]int{}
	calls := false  // a line has a function and what it calls
	unsure := false // the line above would be the head of a sample, if a frame followed
	for line := range bytes.Lines(head) {
		line = bytes.TrimRight(line, "\r\n")
		if bytes.HasPrefix(line, []byte("# captured on")) { // perf script --header: hundreds of lines
			votes[PerfScript]++
		}
		if len(line) > 0 && line[0] == '#' {
			continue
		}
		votes["lines"]++
		above := unsure
		unsure = false
		switch {
		case len(line) == 0:
		case line[0] == '\t':
			if _, _, ok := cutAddress(line); ok {
				votes[frames]++
			}
		case looksLikeBpftrace(line):
			votes[Bpftrace]++
		case looksLikeStrace(line):
			votes[Strace]++
		case looksLikePerfHeader(line):
			votes[PerfScript]++
		case above && isFrame(line):
			votes[PerfScript] += 2 // with the head above
		case looksLikeBareHeader(line):
			unsure = true
		case looksFolded(line):
			votes[Folded]++
			calls = calls || bytes.IndexByte(line, ';') >= 0
		}
		if votes["lines"] >= lines {
			break
		}
	}
	if votes[PerfScript] == 0 && votes[Bpftrace] > 0 { // its ustack(perf) prints frames as perf does
		votes[Bpftrace] += votes[frames]
	} else {
		votes[PerfScript] += votes[frames]
	}
	if !calls { // a name and a number stand in each line of /proc/vmstat, and at the end of many a log
		votes[Folded] = 0
	}
	best := ""
	for _, format := range []string{PerfScript, Strace, Bpftrace, Folded} {
		if votes[format] > votes[best] && votes[format]*4 >= votes["lines"] || best == "" && votes[format] > 0 {
			best = format
		}
	}
	return best
}

// looksLikePerfHeader wants two marks of a sample: "MemTotal: 24684084 kB" and "daemon:x:1:" look
// like an event, too, and "VmFlags: rd mr mw me " of /proc/PID/smaps like one that perf ended with
// a blank. Where perf was told to print the event alone, the stacks below it vote.
func looksLikePerfHeader(line []byte) bool {
	header, ok := parsePerfHeader(line)
	if !ok {
		return false
	}
	// A number before a word with a colon is in many texts.
	hasPid := header.hasPid && (header.pid != header.tid || header.timeNs >= 0 || header.cpu >= 0)
	marks := 0
	for _, mark := range []bool{header.timeNs >= 0, hasPid, header.cpu >= 0, isFrame(header.rest)} {
		if mark {
			marks++
		}
	}
	sure := marks > 0
	for _, mark := range []bool{len(header.event) > 0, line[len(line)-1] == ' '} {
		if mark {
			marks++
		}
	}
	return sure && marks >= 2
}

// looksLikeBareHeader tells "java 19983 cycles:", a sample without a time.
func looksLikeBareHeader(line []byte) bool {
	header, ok := parsePerfHeader(line)
	return ok && header.hasPid && len(header.event) > 0
}

// isFrame tells an address with a name and its file, or with an offset in the name.
func isFrame(line []byte) bool {
	frame, _, ok := cutAddress(line)
	return ok && (bytes.Contains(frame, []byte("+0x")) || bytes.HasSuffix(frame, []byte(")")))
}

func looksFolded(line []byte) bool {
	_, count, ok := cutCount(line)
	return ok && count > 0
}
