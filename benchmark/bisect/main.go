// Command bisect makes repositories of 200 commits of a real program, plants a regression in one
// commit of each, and says how often `culprit bisect` finds it, with how many decisions and in
// which time.
//
//	make build && go run ./benchmark/bisect -rounds 20
//
// The program is the compressor of Go's own compress/flate, copied out of the Go that is installed.
// Commits that change nothing add functions and move code, as real ones do; the planted one adds
// steps to findMatch, whose number is worked out beforehand so that the run takes the given part
// longer. With -noise the metric is what the program counts of its steps, spread as a host with
// that noise would time them: so the search can be judged on any host. It judges culprit from
// outside, by its command line. It refuses a host without git or Go.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// options are what may be asked for.
type options struct {
	culprit string
	folder  string
	rounds  int
	commits int
	size    float64
	noise   float64
	seed    int64
}

func main() {
	var o options
	flag.StringVar(&o.culprit, "culprit", "bin/culprit", "the culprit to judge")
	flag.StringVar(&o.folder, "folder", "", "where to work (default: a new folder, removed at the end)")
	flag.IntVar(&o.rounds, "rounds", 1, "repositories to make and search")
	flag.IntVar(&o.commits, "commits", 200, "commits between the ends")
	flag.Float64Var(&o.size, "size", 0.05, "the planted regression, 0.05 for 5 %")
	flag.Float64Var(&o.noise, "noise", 0, "0.03: the metric is what the program counts, as a host with a noise of 3 % "+
		"would time it; 0: time on this host")
	flag.Int64Var(&o.seed, "seed", 1, "of what is planted where")
	flag.Parse()
	if err := run(os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "bisect:", err)
		os.Exit(2)
	}
}

// answer is what is read of culprit's result.
type answer struct {
	Outcome string  `json:"outcome"`
	Noise   float64 `json:"noise"`
	Metric  struct {
		Name string `json:"name"`
	} `json:"metric"`
	Culprits []struct {
		Position int     `json:"position"`
		Outcome  string  `json:"outcome"`
		Effect   effect  `json:"effect"`
		Chance   float64 `json:"chance"`
	} `json:"culprits"`
	Decisions []struct {
		Runs int `json:"runs"`
	} `json:"decisions"`
	Estimate struct {
		Seconds float64 `json:"seconds"`
	} `json:"estimate"`
	ElapsedS float64 `json:"elapsed_s"`
}

type effect struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func run(out io.Writer, o options) (err error) {
	if o.culprit, err = filepath.Abs(o.culprit); err != nil {
		return err
	}
	if _, err := os.Stat(o.culprit); err != nil {
		return fmt.Errorf("%w; run make build first", err)
	}
	if o.commits < 2 || o.rounds < 1 || !(o.size > 0) {
		return errors.New("give -commits 2 or more, -rounds 1 or more and a -size above 0")
	}
	if o.folder == "" {
		if o.folder, err = os.MkdirTemp("", "culprit-bisect-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.folder)) }()
	} else if err := os.MkdirAll(o.folder, 0o755); err != nil {
		return err
	}
	p, err := newProgram(filepath.Join(o.folder, "calibration"), o)
	if err != nil {
		return err
	}
	of := "CPU time, measured on this host"
	if o.noise > 0 {
		of = fmt.Sprintf("what it counts, told with a noise of %.1f %%", 100*o.noise)
	}
	fmt.Fprintf(out, "planted: %d steps in findMatch, %+.1f %% of %s\n\n", p.steps, 100*(p.measured-1), of)
	fmt.Fprintln(out, "| planted at | found | effect | noise of a run | decisions | runs | told | took "+
		"|\n|---|---|---|---|---|---|---|---|")
	right, most, sum := 0, 0, 0
	for round := range o.rounds {
		random := rand.New(rand.NewPCG(uint64(o.seed), uint64(round)))
		at := 1 + random.IntN(o.commits)
		found, err := search(o, p, round, at)
		if err != nil {
			return err
		}
		right += row(out, at, found)
		most, sum = max(most, len(found.Decisions)), sum+len(found.Decisions)
	}
	fmt.Fprintf(out, "\nright %d of %d; decisions %.1f on average, at most %d, of %.1f allowed\n", right, o.rounds,
		float64(sum)/float64(o.rounds), most, 2.5*math.Log2(float64(o.commits)))
	return nil
}

// row prints one round; it returns 1 where it is right.
func row(out io.Writer, at int, found answer) (right int) {
	what, size := found.Outcome, ""
	for i, culprit := range found.Culprits {
		if i == 0 {
			what, size = "", fmt.Sprintf("%+.1f %% (%+.1f to %+.1f)", 100*(culprit.Effect.Ratio-1), 100*(culprit.Effect.Low-1),
				100*(culprit.Effect.High-1))
		} else {
			what += ", "
		}
		what += fmt.Sprint(culprit.Position)
	}
	if len(found.Culprits) == 1 && found.Culprits[0].Position == at {
		right = 1
	} else {
		what = "**" + what + "**"
	}
	runs := 0
	for _, decision := range found.Decisions {
		runs += decision.Runs
	}
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)).Round(time.Second) }
	fmt.Fprintf(out, "| %d | %s | %s %s | %.1f %% | %d | %d | %v | %v |\n", at, what, found.Metric.Name, size,
		100*found.Noise,
		len(found.Decisions), runs, seconds(found.Estimate.Seconds), seconds(found.ElapsedS))
	return right
}

// search makes a repository and has culprit search it.
func search(o options, p *program, round, at int) (answer, error) {
	var found answer
	folder := filepath.Join(o.folder, fmt.Sprintf("round-%d", round))
	if err := os.RemoveAll(folder); err != nil {
		return found, err
	}
	repository := filepath.Join(folder, "repository")
	if err := os.MkdirAll(repository, 0o755); err != nil {
		return found, err
	}
	if err := p.history(repository, o.commits, at, uint64(o.seed)+uint64(round)); err != nil {
		return found, err
	}
	result := filepath.Join(folder, "result.json")
	command := exec.Command(o.culprit, "bisect", "--repo", repository, "--good", "first", "--bad", "main", "--build",
		"go build -o bench .",
		"--no-investigate", "--seed", fmt.Sprint(o.seed+int64(round)), "--case", filepath.Join(folder, "case"),
		"--cache", filepath.Join(folder, "cache"), "--json", result)
	if o.noise > 0 {
		command.Args = append(command.Args, "--metric", `cost=cost ([0-9.e+]+)`)
		command.Env = append(os.Environ(), fmt.Sprint("NOISE=", o.noise))
	}
	command.Args = append(command.Args, "--", "./bench")
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil && command.ProcessState.ExitCode() != 1 {
		return found, fmt.Errorf("culprit bisect: %w", err)
	}
	text, err := os.ReadFile(result)
	if err != nil {
		return found, err
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return found, fmt.Errorf("read result: %w", err)
	}
	return found, os.RemoveAll(filepath.Join(folder, "cache"))
}
