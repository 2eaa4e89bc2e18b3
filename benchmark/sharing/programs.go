package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"culprit/benchmark/peers"
)

//go:embed programs
var programs embed.FS

// What the programs can be told to do: share a line, one word of it, or be a twin that does not.
const (
	sharesLine = "false"
	sharesWord = "true"
	padded     = "padded" // twin of sharesLine
	ownWords   = "own"    // twin of sharesWord
)

// unbounded is more operations than any run makes.
const unbounded = 1 << 50

// language is a program and how it is built and started, in its folder.
type language struct {
	name   string
	source string
	build  []string
	start  []string
	place  string // of the code that touches the line; the JVM puts note into batch
	// fields has debug information that tells the fields of what it shares.
	fields bool
	folder string
}

func allLanguages() []*language {
	return []*language{
		{name: "C", source: "sharing.c", build: words("gcc -O2 -g -pthread -o c sharing.c"), start: words("./c"),
			place: "note", fields: true},
		{name: "C++", source: "sharing.cpp", build: words("g++ -std=c++17 -O2 -g -pthread -o cpp sharing.cpp"),
			start: words("./cpp"), place: "note", fields: true},
		{name: "Go", source: "golang/sharing.go", build: words("go build -o golang sharing.go"), start: words("./golang"),
			place: "main.note", fields: true},
		{name: "Rust", source: "sharing.rs", build: words("rustc -O -g -o rust sharing.rs"), start: words("./rust"),
			place: "note", fields: true},
		{name: "Java", source: "Sharing.java", build: words("javac -d . Sharing.java"), start: words("java -cp . Sharing"),
			place: "Sharing."},
	}
}

func words(line string) []string { return strings.Fields(line) }

// build builds the programs that are wanted; languages that are not installed are told and left
// out.
func (o options) build(out io.Writer, folder string) (list []*language, err error) {
	for _, one := range allLanguages() {
		if !o.only.MatchString(one.name) {
			continue
		}
		one.folder = folder
		if err := one.make(); errors.Is(err, peers.ErrNotHere) {
			fmt.Fprintf(out, "%s is left out: %v\n", one.name, err)
			continue
		} else if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

func (l *language) make() error {
	return compile(l.folder, l.source, l.build)
}

func compile(folder, source string, build []string) error {
	text, err := programs.ReadFile(filepath.Join("programs", source))
	if err != nil {
		panic(err) // it is embedded
	}
	if err := os.WriteFile(filepath.Join(folder, filepath.Base(source)), text, 0o644); err != nil {
		return fmt.Errorf("write a program: %w", err)
	}
	command := exec.Command(build[0], build[1:]...)
	command.Dir = folder
	said, err := command.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%w: %s is not installed", peers.ErrNotHere, build[0])
	} else if err != nil {
		return fmt.Errorf("build %s: %w: %s", source, err, peers.FirstLine(string(said)))
	}
	return nil
}

// command is the words of a run.
func (l *language) command(kind string, threads int, lasts time.Duration, operations int64) []string {
	return append(append([]string{}, l.start...), kind, strconv.Itoa(threads), strconv.FormatInt(lasts.Milliseconds(), 10),
		strconv.FormatInt(operations, 10))
}

// costs runs words in the program's folder, its threads on different CPUs, and returns the CPU ns
// of an operation, as the program counts.
func (l *language) costs(command []string) (ns float64, err error) {
	ns, _, err = l.run(command, spread)
	return ns, err
}

// costsFree is the CPU time of the whole process for an operation, with the threads where the
// scheduler puts them: what a trial of culprit's own takes.
func (l *language) costsFree(command []string) (ns float64, err error) {
	_, ns, err = l.run(command, func(int, <-chan struct{}) {})
	return ns, err
}

// run gives the CPU time of an operation as the program counts it, and that of all of the process.
func (l *language) run(command []string, place func(process int, over <-chan struct{})) (own, all float64, err error) {
	run := exec.Command(command[0], command[1:]...)
	run.Dir, run.SysProcAttr = l.folder, peers.EndsWithOwner()
	var text, said bytes.Buffer
	run.Stdout, run.Stderr = &text, &said
	if err := run.Start(); err != nil {
		return 0, 0, fmt.Errorf("run %s: %w", strings.Join(command, " "), err)
	}
	over := make(chan struct{})
	go place(run.Process.Pid, over)
	err = run.Wait()
	close(over)
	if err != nil {
		return 0, 0, fmt.Errorf("run %s: %w: %s", strings.Join(command, " "), err, peers.FirstLine(said.String()))
	}
	var operations, used int64
	for line := range strings.Lines(text.String()) {
		if n, _ := fmt.Sscan(line, &operations, &used); n == 2 && operations > 0 {
			all := run.ProcessState.UserTime() + run.ProcessState.SystemTime()
			return float64(used) / float64(operations), float64(all) / float64(operations), nil
		}
	}
	return 0, 0, fmt.Errorf("run %s: it does not say how many operations it made: %s", strings.Join(command, " "),
		peers.FirstLine(text.String()))
}
