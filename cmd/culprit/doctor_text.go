package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	textWidth  = 100 // columns
	nameWidth  = 21
	markWidth  = 11 // "  ✓ works  "
	noteIndent = markWidth + 2
)

// print writes the findings for a person: plain lines without colour, so that
// a pager or a ticket takes them as they are.
func (d *diagnosis) print(w io.Writer) error {
	t := &table{}
	fmt.Fprintf(&t.out, "%s on %s\n", d.Program, d.hostLine())
	t.head("Recording: a test program was run under each probe")
	for i, check := range d.Probes {
		seen := check.Sees
		if check.Saw != "" {
			seen = check.Saw + "; " + seen
		}
		why, fix := check.Why, check.Fix
		if i > 0 && why != "" && why == d.Probes[i-1].Why {
			why, fix = "the same", "" // one missing right takes all probes
		}
		t.row(check.Works, check.Name, seen, why, check.Hides, fix)
	}
	if d.Recorder.WindowS > 0 {
		t.note("cost", fmt.Sprintf("the recorder used %.2f s of CPU to load and %.3f s in a window of %.2f s at %d Hz",
			d.Recorder.LoadCPUS, d.Recorder.CPUS, d.Recorder.WindowS, doctorHz))
	}
	t.head("This host and this user")
	var silent []string // what works and has nothing to tell takes one row together
	for _, c := range d.Capabilities {
		switch {
		case !c.Available:
			t.row(false, c.Name, "", c.Why, c.Hides, c.Fix)
		case c.Why != "":
			t.row(true, c.Name, c.Why, "", "", "")
		default:
			silent = append(silent, c.Name)
		}
	}
	if len(silent) > 0 {
		t.row(true, "also", strings.Join(silent, ", "), "", "", "")
	}
	t.head("Who else watches programs here")
	d.printTracers(t)
	t.head("Clock source")
	d.printClock(t)
	if len(d.Managers) > 0 {
		t.head("Programs that set this host's settings")
		d.printManagers(t)
	}
	t.head("Settings that are changed")
	d.printPending(t)
	d.printSum(t)
	if _, err := w.Write(t.out.Bytes()); err != nil {
		return fmt.Errorf("write findings: %w", err)
	}
	return nil
}

func (d *diagnosis) hostLine() string {
	h := d.Host
	words := []string{plainText(h.Name), "Linux " + plainText(h.Kernel), fmt.Sprintf("%d × %s", h.CPUs, plainText(h.CPU))}
	if h.Hypervisor != "" {
		words = append(words, "guest of "+plainText(h.Hypervisor))
	}
	return strings.Join(words, ", ")
}

// printManagers names who may set a setting in the middle of an experiment.
func (d *diagnosis) printManagers(t *table) {
	for _, manager := range d.Managers {
		t.line(fmt.Sprintf("%s (pid %d) %s: stop it for the time of an experiment with those", manager.Name, manager.Pid,
			manager.Text))
	}
}

func (d *diagnosis) printClock(t *table) {
	clock := d.Clock
	t.line(fmt.Sprintf("current: %s; offered here: %s", orNone(clock.Current), orNone(strings.Join(clock.Available, " "))))
	if clock.ReadNs > 0 {
		way := "the vDSO answers"
		if !clock.VDSOServes {
			way = "the vDSO cannot answer: each read enters the kernel"
		}
		t.line(fmt.Sprintf("reading the time costs %.0f ns of CPU (%s), by a system call %.0f ns",
			clock.ReadNs, way, clock.SyscallNs))
	}
	if clock.Flippable {
		t.line("`investigate --prove auto` may flip it in trials, and puts it back")
	} else {
		t.line("it cannot be flipped for proof: " + clock.Why)
	}
	if clock.Note != "" {
		t.line(clock.Note)
	}
}

func (d *diagnosis) printPending(t *table) {
	stale := 0
	for _, p := range d.Pending {
		text := fmt.Sprintf("%s is %s, was %s", p.Knob, orNone(p.Current), p.Original)
		if p.InUse {
			t.line(fmt.Sprintf("%s: in use by culprit with pid %d, which puts it back", text, p.OwnerPid))
			continue
		}
		stale++
		if p.Current == p.Original {
			t.line(fmt.Sprintf("%s is %s, as it was; a killed run left its journal entry", p.Knob, p.Current))
			continue
		}
		t.line(fmt.Sprintf("%s: LEFT CHANGED by a killed run since %s", text, p.Begun.Local().Format("2006-01-02 15:04:05")))
	}
	if d.PendingNote != "" {
		t.line(d.PendingNote)
	}
	switch {
	case stale > 0:
		t.line("run `culprit restore` to put it back")
	case len(d.Pending) == 0 && d.PendingNote == "":
		t.line("none")
	}
}

// printSum ends with the answer.
func (d *diagnosis) printSum(t *table) {
	missing := 0
	for _, check := range d.Probes {
		if !check.Works {
			missing++
		}
	}
	var hidden []string
	for _, c := range d.Capabilities {
		if !c.Available {
			hidden = append(hidden, c.Name)
		}
	}
	t.out.WriteByte('\n')
	sum := "All probes work."
	switch {
	case !d.CanRecord:
		sum = "NOTHING CAN BE RECORDED; trials and their statistics work all the same."
	case missing > 0:
		sum = fmt.Sprintf("Recording works, with %d of %d probes missing.", missing, len(d.Probes))
	}
	if len(hidden) > 0 {
		sum += " Missing on this host: " + strings.Join(hidden, ", ") + "."
	}
	for _, line := range wrapText(sum, textWidth) {
		fmt.Fprintln(&t.out, line)
	}
}

// table collects lines of text.
type table struct{ out bytes.Buffer }

func (t *table) head(text string) { fmt.Fprintf(&t.out, "\n%s\n", text) }

// row says of one thing that it works, and how, or that it is missing, why, what that hides and the
// way out.
func (t *table) row(works bool, name, how, why, hides, fix string) {
	mark := "✓ works"
	if !works {
		mark = "✗ MISSING"
	}
	start := fmt.Sprintf("  %s%s%-*s", mark, strings.Repeat(" ", markWidth-utf8.RuneCountInString(mark)), nameWidth, name)
	for i, line := range wrapText(how, textWidth-utf8.RuneCountInString(start)) {
		if i > 0 {
			start = strings.Repeat(" ", noteIndent+nameWidth)
		}
		fmt.Fprintln(&t.out, strings.TrimRight(start+line, " "))
	}
	t.note("why", why)
	t.note("hides", hides)
	t.note("way out", fix)
}

// note writes labelled text below a row.
func (t *table) note(label, text string) {
	if text == "" {
		return
	}
	const indent = noteIndent + 9
	for i, line := range wrapText(text, textWidth-indent) {
		if i > 0 {
			label = ""
		}
		fmt.Fprintf(&t.out, "%s%-9s%s\n", strings.Repeat(" ", noteIndent), label, line)
	}
}

func (t *table) line(text string) {
	for i, line := range wrapText(text, textWidth-4) {
		indent := "  "
		if i > 0 {
			indent = "    "
		}
		fmt.Fprintln(&t.out, indent+line)
	}
}

// wrapText breaks text into lines at spaces; "" is one empty line. Whatever
// could move a terminal's cursor is spelled out.
func wrapText(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(plainText(text)) {
		last := &lines[len(lines)-1]
		if *last != "" && utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, word)
			continue
		}
		*last = strings.TrimLeft(*last+" "+word, " ")
	}
	return lines
}

// plainText spells out what is not printable: names of processes are chosen by strangers.
func plainText(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == ' ' || unicode.IsPrint(r):
			out.WriteRune(r)
		default:
			fmt.Fprintf(&out, "\\u%04x", r)
		}
	}
	return out.String()
}

func orNone(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}
