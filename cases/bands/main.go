// Command bands repeats the hunt for two bands of nodes (JDK-8180450, published by Netflix): 40
// processes of one service that do the same work, each with a memory layout of its own. Each is
// made a node of a fleet: they have work by turns of some milliseconds, an agent records them all,
// and each window is cut into one for each node. `culprit fleet bands` is asked of them without a
// label; then a node of each band is recorded in full, and what its cache lines tell is printed.
// Where the class really lies each node tells on its standard output. Nothing reads it but the
// lines "truth" at the end.
//
//	go run ./cases/bands                           # 40 nodes of JVM 17
//	go run ./cases/bands -java /usr/lib/jvm/temurin-25-jdk-amd64/bin/java -expect one
//
// It needs root, bin/culprit, bin/culprit-hub, javac, and two CPUs. Exit status: 0 when the answer
// is the known one, 1 when it is not, 2 when it could not ask.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"time"

	"culprit/cases/child"
)

// options are what may be typed.
type options struct {
	nodes  int
	seed   int
	java   string
	binary string
	length time.Duration
	keep   string
	expect string
}

func main() {
	o := options{}
	flag.IntVar(&o.nodes, "nodes", 40, "nodes")
	flag.IntVar(&o.seed, "seed", 500, "layout of the first node; the others have the numbers after it")
	flag.StringVar(&o.java, "java", "/usr/lib/jvm/java-17-openjdk-amd64/bin/java", "the JVM")
	flag.StringVar(&o.binary, "bin", "bin", "directory of culprit and culprit-hub")
	flag.DurationVar(&o.length, "for", 5*time.Minute, "how long the nodes are recorded, all together")
	flag.StringVar(&o.keep, "keep", "", "directory to keep windows and store in")
	flag.StringVar(&o.expect, "expect", "two", "the known answer: one or two bands")
	flag.Parse()
	child.Bind()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	known, err := run(ctx, o)
	if err != nil {
		fmt.Fprintf(os.Stderr, "bands: %v\n", err)
		os.Exit(2)
	}
	if !known {
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (known bool, err error) {
	if err := check(&o); err != nil {
		return false, err
	}
	folder := o.keep
	if folder == "" {
		if folder, err = os.MkdirTemp("", "culprit-bands-*"); err != nil {
			return false, err
		}
		defer func() { _ = os.RemoveAll(folder) }()
	}
	if err := build(ctx, folder); err != nil {
		return false, err
	}
	nodes, err := startNodes(ctx, o, folder)
	defer endNodes(nodes)
	if err != nil {
		return false, err
	}
	if err := watch(ctx, o, folder, nodes); err != nil {
		return false, err
	}
	return ask(ctx, o, folder, nodes)
}

// check refuses what cannot run, before anything is started.
func check(o *options) (err error) {
	switch {
	case o.nodes < 20:
		return fmt.Errorf("-nodes %d: two bands cannot be told of fewer than 20", o.nodes)
	case o.expect != "one" && o.expect != "two":
		return fmt.Errorf("-expect %s: one or two", o.expect)
	case os.Geteuid() != 0:
		return fmt.Errorf("it records, which takes root")
	case runtime.NumCPU() < 2:
		return fmt.Errorf("two threads share what is looked for, so it takes two CPUs; there is one")
	}
	if o.binary, err = filepath.Abs(o.binary); err != nil {
		return err
	}
	for _, name := range []string{"culprit", "culprit-hub"} {
		if _, err := os.Stat(filepath.Join(o.binary, name)); err != nil {
			return fmt.Errorf("%w; `make build hub` makes it", err)
		}
	}
	if _, err := os.Stat(o.java); err != nil {
		return fmt.Errorf("%w; name a JVM with -java", err)
	}
	return nil
}

// build makes the node's program.
func build(ctx context.Context, folder string) error {
	source, err := filepath.Abs("cases/bands/programs/Node.java")
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, "javac", "--release", "17", "-nowarn", "-d", folder, source)
	if text, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build the node: %w: %s", err, text)
	}
	return nil
}
