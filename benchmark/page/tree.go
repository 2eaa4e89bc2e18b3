package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"

	"culprit/internal/compare"
	"culprit/recording"
)

// deepest is how far calls go down, as in a server of Java.
const deepest = 90

// treeOf makes a call tree of two threads, in preorder.
func treeOf(count, names int) *compare.Profile {
	random := rand.New(rand.NewPCG(3, 4))
	p := &compare.Profile{Nodes: []compare.ProfileNode{{Name: "all"}},
		Threads: []compare.ProfileThread{{Process: "java", Name: "worker"}, {Process: "java", Name: "GC thread"}}}
	var branch func(depth, budget int)
	branch = func(depth, budget int) {
		for budget > 0 && len(p.Nodes) < count {
			part := min(budget, 1+int(float64(budget)*random.Float64()*0.8))
			change := float64(part) * 1e-5 * random.NormFloat64()
			at := len(p.Nodes)
			p.Nodes = append(p.Nodes, compare.ProfileNode{Kind: recording.KindJVM, Depth: depth,
				Name:  fmt.Sprintf("org.example.Class%d.method", random.IntN(names)),
				SelfA: random.ExpFloat64() * 1e-4, SelfB: random.ExpFloat64() * 1e-4,
				Change: change, Low: change - 1e-4, High: change + 1e-4, Decided: math.Abs(change) > 1e-4})
			thread := 0
			if random.IntN(10) == 0 {
				thread = 1
			}
			p.ByThread = append(p.ByThread, compare.ThreadShare{Node: at, Thread: thread, SelfA: p.Nodes[at].SelfA,
				SelfB: p.Nodes[at].SelfB})
			if depth < deepest {
				branch(depth+1, part-1)
			}
			budget -= part
		}
	}
	for len(p.Nodes) < count {
		branch(1, count-len(p.Nodes))
	}
	return p
}

// run is what browsers are started for: it holds what is to be ended, and ends all where something
// fails.
type run struct{ ends []func() }

func (r *run) Helper() {}

func (r *run) Cleanup(end func()) { r.ends = append(r.ends, end) }

func (r *run) TempDir() string {
	folder, err := os.MkdirTemp("", "culprit-page-")
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

func (r *run) Fatal(args ...any) {
	fmt.Fprintln(os.Stderr, append([]any{"benchmark/page:"}, args...)...)
	r.end()
	os.Exit(1)
}

func (r *run) Fatalf(format string, args ...any) { r.Fatal(fmt.Sprintf(format, args...)) }

func (r *run) end() {
	for len(r.ends) > 0 {
		last := r.ends[len(r.ends)-1]
		r.ends = r.ends[:len(r.ends)-1]
		last()
	}
}
