package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"culprit/cases/guest/machine"
)

// pair is what a pair of the lineup is here: two command lines of a program of Go.
type pair struct {
	name   string
	A      string `yaml:"a"`
	B      string `yaml:"b"`
	Metric string `yaml:"metric"`
	before string // a script of the guest that begins what runs beside both
}

// readPairs reads those of a folder.
func readPairs(folder string) ([]pair, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*", "scenario.yaml"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s holds no PAIR/scenario.yaml (%v)", folder, err)
	}
	var pairs []pair
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		one := pair{name: filepath.Base(filepath.Dir(file))}
		if err := yaml.Unmarshal(text, &one); err != nil || one.A == "" || one.B == "" {
			return nil, fmt.Errorf("read %s: a and b are needed (%v)", file, err)
		}
		before, err := os.ReadFile(filepath.Join(filepath.Dir(file), "before.sh"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		one.before = string(before)
		pairs = append(pairs, one)
	}
	return pairs, nil
}

// built is what a command line calls the pair's program.
var built = regexp.MustCompile(`\{built:([a-z0-9-]+)\}`)

// Marks in the console's text: what comes between the last two is a case, packed.
const (
	pairBegins = "---pair "
	caseBegins = "---case"
	caseEnds   = "---case ends"
)

// kept is what a judgement is made again of.
const kept = "case.json judgement.json recordings"

// investigate investigates pairs in the guest and puts their cases into folders.
func investigate(ctx context.Context, guest *machine.Machine, wanted options, folder string, out io.Writer) error {
	pairs, err := readPairs(wanted.pairs)
	if err != nil {
		return err
	}
	guest.CPUs = 2
	var script strings.Builder
	// An emulated interrupt takes so long that the kernel would lower the rate of samples below the
	// one that is asked for.
	script.WriteString("mount -t cgroup2 none /sys/fs/cgroup\necho 0 > /proc/sys/kernel/perf_cpu_time_max_percent\n")
	for _, one := range pairs {
		program := built.FindStringSubmatch(one.A)
		if program == nil {
			return fmt.Errorf("pair %s: its command names no {built:PROGRAM}", one.name)
		}
		source := filepath.Join(wanted.pairs, one.name, "main.go")
		to := filepath.Join(folder, "built-"+one.name)
		if err := compile(ctx, wanted.arch, "build", "-o", to, source); err != nil {
			return err
		}
		if err := guest.Add(to, filepath.Join("pairs", one.name, program[1])); err != nil {
			return err
		}
		script.WriteString(one.script())
	}
	text, err := guest.Run(ctx, script.String())
	if err != nil {
		return err
	}
	return unpackAll(text, wanted.out, out)
}

// script investigates the pair and prints its case.
func (p *pair) script() string {
	command := func(text string) string {
		text = built.ReplaceAllString(text, "./$1")
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	metric := ""
	if p.Metric != "" {
		metric = " --metric " + p.Metric
	}
	return fmt.Sprintf(`echo '%s%s'; cd /pairs/%s; export PATH=/bin:.
%s
culprit investigate --counters '{cycles,instructions}' --cpi --prove none%s --case /tmp/case \
	--a %s --b %s > /tmp/said 2>&1
cat /tmp/said; cd /tmp/case && { echo '%s'; tar -c %s | gzip | base64; echo '%s'; }
rm -rf /tmp/case
`, pairBegins, p.name, p.name, p.before, metric, command(p.A), command(p.B), caseBegins, kept, caseEnds)
}

// unpackAll prints what culprit said of each pair, and unpacks the cases.
func unpackAll(text, into string, out io.Writer) error {
	var failed []string
	_, text, _ = strings.Cut(text, pairBegins)
	for part := range strings.SplitSeq(text, pairBegins) {
		name, rest, _ := strings.Cut(part, "\n")
		said, packed, found := strings.Cut(rest, caseBegins+"\n")
		packed, _, whole := strings.Cut(packed, caseEnds)
		fmt.Fprintf(out, "%s\n%s\n", name, said)
		err := errors.New("it left no case")
		if found && whole {
			err = unpack(packed, filepath.Join(into, name, "case"))
		}
		if err != nil {
			failed = append(failed, fmt.Sprintf("%s: %v", name, err))
		}
	}
	if len(failed) > 0 {
		return errors.New(strings.Join(failed, "; "))
	}
	return nil
}

func unpack(packed, folder string) error {
	content, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(packed, "\n", ""))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	tar := exec.Command("tar", "-xz", "-C", folder)
	tar.Stdin = strings.NewReader(string(content))
	if text, err := tar.CombinedOutput(); err != nil {
		return fmt.Errorf("unpack: %w: %s", err, text)
	}
	return nil
}
