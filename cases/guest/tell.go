package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// outcome of the tests of a package.
type outcome struct {
	named           string
	passed, skipped int
	failed          []string
	said            []string // by those that failed or were skipped, and what the others measured
	ended           bool
}

// tell prints what the guest said, the tests as one line for each package and what went wrong below
// it.
func tell(out io.Writer, text string) error {
	said, tests, _ := strings.Cut(text, begins)
	fmt.Fprint(out, said)
	if tests == "" {
		return nil
	}
	wrong := 0
	for part := range strings.SplitSeq(tests, begins) {
		found := read(part)
		fmt.Fprintf(out, "%-34s %3d passed %3d skipped %3d failed\n", found.named, found.passed, found.skipped,
			len(found.failed))
		for _, line := range found.said {
			fmt.Fprintln(out, "    "+line)
		}
		if len(found.failed) > 0 || !found.ended {
			wrong++
		}
	}
	if wrong > 0 {
		return fmt.Errorf("the tests of %d packages failed", wrong)
	}
	return nil
}

// read takes apart what one test program printed with -test.v.
func read(text string) outcome {
	first, rest, _ := strings.Cut(text, "\n")
	found := outcome{named: first}
	var pending []string
	for line := range strings.SplitSeq(rest, "\n") {
		word, name, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case strings.HasPrefix(line, "=== "):
			if !strings.Contains(line, "/") { // what a part of a test says stands before the verdict on the whole
				pending = nil
			}
			continue
		case word == "--- PASS":
			if !strings.HasPrefix(line, " ") {
				found.passed++
			}
			if measured := logged(pending); len(measured) > 0 {
				found.said = append(append(found.said, "passed: "+name), measured...)
			}
		case word == "--- SKIP" && !strings.HasPrefix(line, " "):
			found.skipped++
			found.said = append(append(found.said, "skipped: "+name), pending...)
		case word == "--- FAIL":
			found.failed = append(found.failed, name)
			found.said = append(append(found.said, "FAILED: "+name), pending...)
		case line == "exit 0" || line == "exit 1":
			found.ended = true
		default:
			pending = append(pending, strings.TrimRight(line, " "))
			continue
		}
		pending = nil
	}
	if !found.ended {
		found.said = append(append(found.said, "did not come to its end"), last(pending, 10)...)
	}
	return found
}

// logged are the lines of what a test logged.
func logged(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !logLine.MatchString(line) })
}

var logLine = regexp.MustCompile(`^ +\w+_test\.go:\d+: `)

func last(lines []string, count int) []string { return lines[max(0, len(lines)-count):] }
