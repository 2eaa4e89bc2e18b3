package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// trialVerb makes this program run one trial. Its words: seconds, appender, the C program, and the
// Java command, which may be missing.
const trialVerb = "log-both"

// native is the command that runs one thread of the C program alone: no line waits for the lock
// behind another one. both runs it with all its threads beside the Java one.
func (p programs) native(seconds float64) []string {
	return []string{p.self, trialVerb, strconv.FormatFloat(seconds, 'g', -1, 64), "{appender}", p.writer}
}

func (p programs) both(seconds float64) []string { return append(p.native(seconds), p.java...) }

// lead is how long the disk fills up, and the Java program warms up, before the first line is
// measured.
const lead = 1200 * time.Millisecond

// logBoth runs the two programs at the same time on the same file system, so that each stall meets
// both, and prints what their lines say. The measured seconds begin once the JVM is up, however
// long that takes on a busy machine.
func logBoth(ctx context.Context, out io.Writer, words []string) error {
	if len(words) < 3 {
		return fmt.Errorf("%s takes seconds, an appender, the C program and the Java command", trialVerb)
	}
	ctx, cancel := context.WithCancel(ctx) // neither outlives the other's failure
	defer cancel()
	// Children get the policy of the thread that starts them.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := first(); err != nil {
		fmt.Fprintf(os.Stderr, "without real-time priority: %v; a busy machine will look like stalls\n", err)
	}
	seconds, appender, writer := words[0], words[1], words[2]
	var java *javaWriter
	if len(words) > 3 {
		var err error
		if java, err = startJava(ctx, append(words[3:len(words):len(words)], appender, seconds)); err != nil {
			return err
		}
	}
	begin := time.Now().Add(lead).UnixMilli()
	native := exec.CommandContext(ctx, writer, appender, seconds, strconv.FormatInt(begin, 10))
	if java == nil {
		native.Args = append(native.Args, "1")
	}
	var printed bytes.Buffer
	native.Stdout, native.Stderr = &printed, os.Stderr
	if err := native.Start(); err != nil {
		return err
	}
	var logged bytes.Buffer
	if java != nil {
		if err := java.log(begin, &logged); err != nil {
			return err
		}
	}
	if err := native.Wait(); err != nil {
		return fmt.Errorf("%s: %w", writer, err)
	}
	if err := printCounted(out, "C", &printed); err != nil || java == nil {
		return err
	}
	return printCounted(out, "Java", &logged)
}

// first puts this thread, and what it starts, before all that is not real-time: what else runs on
// the machine must not look like a wait for the disk. The kernel leaves others 5 % of the time
// (sched_rt_runtime_us), and these programs sleep for most of it.
func first() error {
	attributes := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}
	return unix.SchedSetAttr(0, &attributes, 0)
}

// javaWriter is the Java program once it is up.
type javaWriter struct {
	command *exec.Cmd
	input   io.Writer
	output  *bufio.Reader
}

func startJava(ctx context.Context, words []string) (*javaWriter, error) {
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	java := &javaWriter{command, input, bufio.NewReader(output)}
	if text, err := java.output.ReadString('\n'); err != nil || text != "up\n" {
		return nil, errors.Join(fmt.Errorf("the Java program did not come up: it printed %.80q", text), err)
	}
	return java, nil
}

// log has it begin at a time of day in milliseconds and takes what it prints.
func (j *javaWriter) log(begin int64, into *bytes.Buffer) error {
	if _, err := fmt.Fprintln(j.input, begin); err != nil {
		return err
	}
	if _, err := into.ReadFrom(j.output); err != nil {
		return err
	}
	if err := j.command.Wait(); err != nil {
		return fmt.Errorf("java: %w", err)
	}
	return nil
}

func printCounted(out io.Writer, program string, lines io.Reader) error {
	c, err := count(lines)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	c.Program = program
	_, err = fmt.Fprint(out, c)
	return err
}
