// Package ablate says what each rule and each threshold of a judgement is good for: it judges the
// corpus without the rule, or with a threshold a quarter smaller and a quarter larger, and lists
// which verdicts change.
//
// All variants are in one program, compiled from sources that read their numbers from tables and
// ask before each rule whether it is switched off. A pair is judged once as the sources are, which
// shows the variants that the judgement comes to, and again with each of those.
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
	"slices"

	"culprit/internal/corpus"
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
	Reached int    // the pairs that come to it: there is something that it changes
	Alone   string // why it was compiled by itself, "" where it was in the program of all
}

// Run varies and reports: a line as each pair is judged, a line for each variant, and ablation.md
// in the folder at the end.
func Run(ctx context.Context, stdout io.Writer, o Options) error {
	only, err := regexp.Compile(o.Only)
	if err != nil {
		return fmt.Errorf("parse -only %q: %w", o.Only, err)
	}
	if o.Jobs <= 0 {
		o.Jobs = runtime.NumCPU()
	}
	b := &bench{jobs: o.Jobs}
	if b.root, err = filepath.Abs(o.Root); err != nil {
		return fmt.Errorf("find repository: %w", err)
	}
	packages, err := load(ctx, b.root)
	if err != nil {
		return err
	}
	var variants []Variant
	for _, c := range packages {
		for _, v := range find(c.sources) {
			// Names, of which there are many, must be asked for.
			if (v.Kind != Name || o.Only != "") && only.MatchString(v.String()) {
				variants = append(variants, v)
			}
		}
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
	if err := b.corpora(o.Pairs); err != nil {
		return err
	}
	if b.work, err = os.MkdirTemp("", "ablate-"); err != nil {
		return fmt.Errorf("make folder for variants: %w", err)
	}
	defer os.RemoveAll(b.work)
	a := &ablation{bench: b, stdout: stdout, results: make([]Result, len(variants)), before: verdicts{}}
	for i := range variants {
		a.results[i].Variant = variants[i]
	}
	if err := a.together(ctx, packages, variants); err != nil {
		return err
	}
	for _, r := range a.results {
		fmt.Fprintln(stdout, r)
	}
	return report(stdout, filepath.Join(o.Out, "ablation.md"), len(a.before), a.results)
}

// ablation is one run.
type ablation struct {
	*bench
	stdout  io.Writer
	results []Result
	before  verdicts // as the sources are
}

// together judges with all variants that fit into one program, and then with those that do not.
func (a *ablation) together(ctx context.Context, packages []*code, variants []Variant) error {
	in := newInstrument(packages, variants)
	var fit, alone []int
	for i := range variants {
		if in.alone[i] == "" {
			fit = append(fit, i)
		} else {
			alone = append(alone, i)
		}
	}
	fmt.Fprintf(a.stdout, "%d variants in one program, %d to compile alone; %d pairs, %d at a time\n", len(fit),
		len(alone), len(a.pairs), a.jobs)
	program, err := a.build(ctx, "all", in.together(packages, a.root))
	if err != nil {
		return fmt.Errorf("build a program of all variants: %w", err)
	}
	asked := func(p pair) []int {
		return slices.DeleteFunc(slices.Clone(fit), func(i int) bool { return !a.concerns(&variants[i], p) })
	}
	judged := 0
	err = a.judge(ctx, program, asked, func(p pair, answer said) {
		a.take(p, answer)
		judged++
		fmt.Fprintf(a.stdout, "%d of %d: %s %s: comes to %d variants, says something else with %d\n", judged,
			len(a.pairs), p.from, p.name, len(answer.Reached), len(answer.Changed))
	})
	for _, i := range alone {
		if err != nil {
			break
		}
		a.results[i].Alone = in.alone[i]
		err = a.alone(ctx, i)
	}
	return err
}

// concerns reports whether a variant can change what is said of a pair: one of what judges changes
// nothing of what is compared, so that recordings need not be read again.
func (a *ablation) concerns(v *Variant, p pair) bool {
	return p.path == "" || filepath.Dir(v.file) != filepath.Join(a.root, judging)
}

// take notes what was said of a pair.
func (a *ablation) take(p pair, answer said) {
	a.before[p.String()] = answer.Told
	for _, i := range answer.Reached {
		a.results[i].Reached++
	}
	for i, told := range answer.Changed {
		a.results[i].note(p, answer.Told, told)
	}
	for i, why := range answer.Failed {
		a.results[i].Failed = p.String() + ": " + why
	}
}

// note takes a verdict into the result.
func (r *Result) note(p pair, was, is corpus.Told) {
	r.Changes = append(r.Changes, changes(verdicts{p.String(): was}, verdicts{p.String(): is})...)
	order(r.Changes)
}

// alone compiles one variant by itself, and judges all pairs.
func (a *ablation) alone(ctx context.Context, i int) error {
	r := &a.results[i]
	text, err := os.ReadFile(r.Variant.file)
	if err != nil {
		return fmt.Errorf("read source: %w", err)
	}
	changed := slices.Concat(text[:r.Variant.start], []byte(r.Variant.with), text[r.Variant.end:])
	program, err := a.build(ctx, "alone", map[string]string{r.Variant.file: string(changed)})
	if ctx.Err() == nil && err != nil {
		r.Failed = err.Error()
		return nil
	}
	if err == nil {
		r.Reached = len(a.pairs) // which of them come to it is not known
		err = a.judge(ctx, program, func(pair) []int { return nil }, func(p pair, answer said) {
			r.note(p, a.before[p.String()], answer.Told)
		})
	}
	if ctx.Err() == nil && err != nil {
		r.Failed, err = err.Error(), nil
	}
	return err
}
