// Command guest runs culprit, the tests of its probes and those of its counters in an emulated
// machine of another kind, with Debian's kernel:
//
//	go run ./cases/guest -arch arm64
//	go run ./cases/guest -arch arm64 -tests ./internal/probe/counters -run Sums
//	go run ./cases/guest -arch arm64 'culprit doctor; culprit count --list'
//	go run ./cases/guest -arch arm64 'culprit record --cpi -o a.culprit -- rounds 2 1; culprit explain a.culprit'
//	go run ./cases/guest -pairs lineup/_guest -out DIR   investigates those pairs there: DIR/PAIR/case
//
// Programs and tests are compiled for that machine here. The exit status is 1 where a test failed.
// Tests that need what a guest of a kernel and busybox has not (compilers, interpreters) are shown
// as skipped or failed by name.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"culprit/cases/guest/machine"
)

// arches are the machines that culprit is compiled for.
var arches = map[string]machine.Arch{"amd64": machine.AMD64, "arm64": machine.ARM64}

type options struct {
	arch     machine.Arch
	packages []string
	run      string
	limit    time.Duration
	script   string
	kernel   string // a file; "": Debian's
	pairs    string // the folder of pairs that are investigated instead
	out      string
}

func main() {
	wanted, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "guest: %v\n", err)
		os.Exit(2)
	}
	if err := run(context.Background(), wanted, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "guest: %v\n", err)
		os.Exit(1)
	}
}

func parse(words []string) (options, error) {
	flags := flag.NewFlagSet("guest", flag.ContinueOnError)
	arch := flags.String("arch", "arm64", "the machine: amd64 or arm64")
	tests := flags.String("tests", "", "packages whose tests are run, with commas; without: those of the probes")
	pattern := flags.String("run", "", "the tests, as go test has it")
	kernel := flags.String("kernel", "", "the file of a kernel, instead of Debian's")
	limit := flags.Duration("limit", 20*time.Minute, "how long the guest may take")
	pairs := flags.String("pairs", "", "a folder of pairs, in the lineup's format, that are investigated there")
	folder := flags.String("out", "", "with -pairs: where their cases are put")
	if err := flags.Parse(words); err != nil {
		return options{}, err
	}
	kind, known := arches[*arch]
	if !known {
		return options{}, fmt.Errorf("no machine %q: amd64 or arm64", *arch)
	}
	out := options{arch: kind, run: *pattern, limit: *limit, script: strings.Join(flags.Args(), " "), pairs: *pairs,
		out: *folder, kernel: *kernel}
	switch {
	case (out.pairs == "") != (out.out == "") || out.pairs != "" && (*tests != "" || out.script != ""):
		return options{}, fmt.Errorf("-pairs FOLDER and -out FOLDER go together, without tests or a script")
	case *tests != "":
		out.packages = strings.Split(*tests, ",")
	case out.script == "" && out.pairs == "":
		out.packages = tested
	}
	return out, nil
}

// tested are the packages whose tests ask the kernel or depend on the machine.
var tested = []string{"./internal/count", "./internal/probe/counters", "./internal/probe/counters/event",
	"./internal/probe/syscalls", "./internal/probe/processes", "./internal/probe/oncpu", "./internal/probe/offcpu",
	"./internal/probe/bpf", "./internal/probe/goroutine", "./internal/probe/monitors", "./internal/monitor",
	"./internal/host", "./internal/bench"}

func run(ctx context.Context, wanted options, out io.Writer) error {
	folder, err := os.MkdirTemp("", "culprit-guest-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	guest, err := machine.New(ctx, folder, wanted.arch)
	if err != nil {
		return err
	}
	guest.MegaBytes = 2048
	if wanted.kernel != "" {
		guest.Kernel = wanted.kernel
	}
	if err := fill(ctx, guest, wanted, folder); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, wanted.limit)
	defer cancel()
	if wanted.pairs != "" {
		return investigate(ctx, guest, wanted, folder, out)
	}
	text, err := guest.Run(ctx, script(wanted))
	if err != nil {
		return err
	}
	return tell(out, text)
}

// programs are those of the guest: culprit, and a load of which the work is known.
var programs = map[string]string{"./cmd/culprit": "bin/culprit", "./cases/guest/rounds": "bin/rounds"}

// fill compiles what runs in the guest.
func fill(ctx context.Context, guest *machine.Machine, wanted options, folder string) error {
	built := filepath.Join(folder, "built")
	for from, to := range programs {
		if err := compile(ctx, wanted.arch, "build", "-trimpath", "-ldflags", "-s -w", "-o", built, from); err != nil {
			return err
		}
		if err := guest.Add(built, to); err != nil {
			return err
		}
	}
	for _, each := range wanted.packages {
		if err := os.RemoveAll(built); err != nil {
			return err
		}
		if err := compile(ctx, wanted.arch, "test", "-c", "-ldflags", "-s -w", "-o", built, each); err != nil {
			return err
		}
		if err := guest.Add(built, testFile(each)); err != nil {
			return err
		}
		if err := addTruth(ctx, guest, wanted.arch, each, built); err != nil {
			return err
		}
		data := filepath.Join(each, "testdata")
		if _, err := os.Stat(data); err == nil {
			if err := guest.AddFolder(data, filepath.Join(testFolder(each), "testdata")); err != nil {
				return err
			}
		}
	}
	return nil
}

func compile(ctx context.Context, arch machine.Arch, words ...string) error {
	command := exec.CommandContext(ctx, "go", words...)
	command.Env = append(os.Environ(), "GOARCH="+arch.Name, "CGO_ENABLED=0")
	if text, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("compile for %s: go %s: %w: %s", arch.Name, strings.Join(words, " "), err, text)
	}
	return nil
}

func testFolder(named string) string { return filepath.Join("tests", strings.TrimPrefix(named, "./")) }

func testFile(named string) string { return filepath.Join(testFolder(named), "test") }

// begins marks in the console's text where the tests of a package begin.
const begins = "---tests of "

// script of the guest: what was asked for, and the tests.
func script(wanted options) string {
	var b strings.Builder
	b.WriteString("mount -t cgroup2 none /sys/fs/cgroup\n")
	if wanted.script != "" {
		b.WriteString(wanted.script + "\n")
	} else if len(wanted.packages) == len(tested) {
		b.WriteString("uname -srm; culprit doctor 2>&1; culprit count --list 2>&1\n")
	}
	for _, each := range wanted.packages {
		fmt.Fprintf(&b, "echo '%s%s'; cd /%s; ./test -test.v -test.timeout 4m -test.run '%s' 2>&1; echo \"exit $?\"\n",
			begins, each, testFolder(each), strings.ReplaceAll(wanted.run, "'", ""))
	}
	return b.String()
}
