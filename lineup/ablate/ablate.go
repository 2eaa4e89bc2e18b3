// Package ablate says what each rule and each threshold of a judgement is good for: it judges the
// corpus without the rule, or with a threshold a quarter smaller and a quarter larger, and lists
// which verdicts change.
//
//	ablate.Run(ctx, os.Stdout, ablate.Options{Root: ".", Only: "cause.leastShare"})
//
// What there is to vary is found in the sources: each numeric constant, each element of a table of
// rules and, where Only asks for them, each element of a list of names. The sources are not
// touched. It refuses to start from a corpus that cannot be judged as the sources are.
package ablate

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
)

// Options say what is varied.
type Options struct {
	Root string // of the repository
	Out  string // folder for the report
	// Only is a regular expression that variants match as List shows them, "" for all but names.
	Only  string
	Pairs string // regular expression: only pairs that match
	Jobs  int    // at a time; 0 for as many as there are CPUs
	List  bool   // only say what would be varied
}

// Result is what a variant changes.
type Result struct {
	Variant Variant
	Changes []Change
	Failed  string // why nothing could be judged: it does not compile, or panics
}

// Run varies and reports: a line as each variant is done, and ablation.md in the folder at the end.
func Run(ctx context.Context, stdout io.Writer, o Options) error {
	only, err := regexp.Compile(o.Only)
	if err != nil {
		return fmt.Errorf("parse -only %q: %w", o.Only, err)
	}
	if o.Jobs <= 0 {
		o.Jobs = runtime.NumCPU()
	}
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return fmt.Errorf("find repository: %w", err)
	}
	// The compiler runs in the repository and refuses a cache that is named from elsewhere.
	if o.Out, err = filepath.Abs(o.Out); err != nil {
		return fmt.Errorf("find folder of the report: %w", err)
	}
	b := &bench{root: root, pairs: o.Pairs, procs: max(1, runtime.NumCPU()/o.Jobs)}
	variants, err := b.variants(ctx, only, o.Only != "")
	if err != nil {
		return err
	}
	if len(variants) == 0 {
		return fmt.Errorf("-only %q: matches nothing that can be varied; -list shows all", o.Only)
	}
	if o.List {
		for _, v := range variants {
			fmt.Fprintln(stdout, v)
		}
		return nil
	}
	if b.work, err = os.MkdirTemp(o.Out, "ablate-"); err != nil {
		return fmt.Errorf("make folder for variants: %w", err)
	}
	defer os.RemoveAll(b.work)
	b.cache = filepath.Join(b.work, "cache")
	fmt.Fprintf(stdout, "%d variants, %d at a time\n", len(variants), o.Jobs)
	before, err := b.verdicts(ctx, nil)
	if err != nil {
		return fmt.Errorf("judge the corpus as the sources are: %w", err)
	}
	results, err := b.vary(ctx, stdout, variants, before, o.Jobs)
	if err != nil {
		return err
	}
	return report(stdout, filepath.Join(o.Out, "ablation.md"), len(before), results)
}

// variants are those that are asked for. Names, of which there are many, must be asked for.
func (b *bench) variants(ctx context.Context, only *regexp.Regexp, asked bool) ([]Variant, error) {
	folders, err := b.folders(ctx)
	if err != nil {
		return nil, err
	}
	var wanted []Variant
	for _, folder := range folders {
		all, err := variantsIn(folder)
		if err != nil {
			return nil, err
		}
		for _, v := range all {
			if (v.Kind != Name || asked) && only.MatchString(v.String()) {
				wanted = append(wanted, v)
			}
		}
	}
	return wanted, nil
}

// vary judges the corpus with each variant.
func (b *bench) vary(ctx context.Context, stdout io.Writer, variants []Variant,
	before verdicts, jobs int) ([]Result, error) {
	results := make([]Result, len(variants))
	next := make(chan int)
	var workers sync.WaitGroup
	var printing sync.Mutex
	for range jobs {
		workers.Go(func() {
			for i := range next {
				results[i] = b.one(ctx, variants[i], before)
				printing.Lock()
				fmt.Fprintln(stdout, results[i])
				printing.Unlock()
			}
		})
	}
	for i := range variants {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("vary: %w", context.Cause(ctx))
	}
	return results, nil
}

func (b *bench) one(ctx context.Context, v Variant, before verdicts) Result {
	after, err := b.verdicts(ctx, &v)
	if err != nil {
		return Result{Variant: v, Failed: err.Error()}
	}
	return Result{Variant: v, Changes: changes(before, after)}
}
