package ablate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"culprit/internal/corpus"
)

// bench builds the program that judges again, and runs it for each pair. The sources themselves
// stay as they are: the compiler is given others in their place (go build -overlay).
type bench struct {
	root  string // of the repository
	work  string // a folder for what is built
	jobs  int    // runs at a time
	pairs []pair
}

// pair is one judgement to make again.
type pair struct {
	from string // the golden file that the tests hold it to: "verdicts", "recorded"
	name string
	path string // of its recordings, "" where it is judged from its file
}

func (p pair) String() string { return p.from + " " + p.name }

// corpora lists the pairs that match, with the folders where they lie.
func (b *bench) corpora(matching string) error {
	wanted, err := regexp.Compile(matching)
	if err != nil {
		return fmt.Errorf("parse -run %q: %w", matching, err)
	}
	judged, err := corpus.List(b.corpus())
	if err != nil {
		return err
	}
	recorded, err := filepath.Glob(filepath.Join(b.root, "internal/compare/testdata/pairs", "*"+
		corpus.RecordingsExtension))
	if err != nil {
		return fmt.Errorf("list recordings: %w", err)
	}
	for _, file := range judged {
		b.pairs = append(b.pairs, pair{"verdicts", strings.TrimSuffix(filepath.Base(file), corpus.Extension), ""})
	}
	for _, file := range recorded {
		name := strings.TrimSuffix(filepath.Base(file), corpus.RecordingsExtension)
		b.pairs = append(b.pairs, pair{"recorded", name, file})
	}
	kept := b.pairs[:0]
	for _, p := range b.pairs {
		if wanted.MatchString(p.name) {
			kept = append(kept, p)
		}
	}
	if b.pairs = kept; len(kept) == 0 {
		return fmt.Errorf("-run %q: matches no pair of the corpus", matching)
	}
	return nil
}

func (b *bench) corpus() string { return filepath.Join(b.root, judging, "testdata/corpus") }

// build compiles the program with other files in the place of some.
func (b *bench) build(ctx context.Context, name string, files map[string]string) (program string, err error) {
	replace := map[string]string{}
	for path, text := range files {
		changed := filepath.Join(b.work, fmt.Sprintf("%s-%d.go", name, len(replace)))
		if err := os.WriteFile(changed, []byte(text), 0o644); err != nil {
			return "", fmt.Errorf("write changed source: %w", err)
		}
		replace[path] = changed
	}
	document, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	overlay := filepath.Join(b.work, name+".json")
	if err == nil {
		err = os.WriteFile(overlay, document, 0o644)
	}
	if err != nil {
		return "", fmt.Errorf("write overlay: %w", err)
	}
	program = filepath.Join(b.work, name)
	compiler := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-o", program, replay)
	compiler.Dir = b.root
	if out, err := compiler.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", fmt.Errorf("does not compile: %s", firstLine(string(out)))
	}
	return program, nil
}

// together writes the sources of all variants in one program.
func (in *instrument) together(packages []*code, root string) map[string]string {
	files := map[string]string{filepath.Join(root, tablesFile): in.tables.source()}
	for _, c := range packages {
		for _, s := range c.sources {
			if file := in.files[s.path]; file != nil {
				name := s.files.Position(s.syntax.Name.End()).Offset
				file.replace(name, name, "; import \""+module+"/lineup/ablate/vary\"")
				files[s.path] = file.between(0, len(file.text)) + file.tail + "\nvar _ = vary.None\n"
			}
		}
	}
	return files
}

// said is what the program says of a pair.
type said struct {
	Told    corpus.Told
	Reached []int
	Changed map[int]corpus.Told
	Failed  map[int]string
}

// judge runs the program for each pair.
func (b *bench) judge(ctx context.Context, program string, variants func(pair) []int,
	done func(pair, said)) error {
	next, failed := make(chan pair), make([]error, b.jobs)
	var workers sync.WaitGroup
	var reporting sync.Mutex
	for worker := range b.jobs {
		workers.Go(func() {
			for p := range next {
				if failed[worker] != nil {
					continue
				}
				answer, err := b.one(ctx, program, p, variants(p))
				reporting.Lock()
				if failed[worker] = err; err == nil {
					done(p, answer)
				}
				reporting.Unlock()
			}
		})
	}
	for _, p := range b.pairs {
		next <- p
	}
	close(next)
	workers.Wait()
	return errors.Join(failed...)
}

func (b *bench) one(ctx context.Context, program string, p pair, variants []int) (answer said, err error) {
	var numbers []string
	for _, v := range variants {
		numbers = append(numbers, strconv.Itoa(v))
	}
	var out, told bytes.Buffer
	run := exec.CommandContext(ctx, program, "-corpus", b.corpus(), "-pair", p.name, "-recordings", p.path,
		"-variants", strings.Join(numbers, ","))
	run.Env, run.Stdout, run.Stderr = append(os.Environ(), "GOMAXPROCS=1"), &out, &told
	if err = run.Run(); err == nil {
		err = json.Unmarshal(out.Bytes(), &answer)
	}
	switch {
	case ctx.Err() != nil:
		return said{}, context.Cause(ctx)
	case err != nil:
		return said{}, fmt.Errorf("judge %s %s again: %w: %s", p.from, p.name, err, lastLine(told.String()))
	}
	return answer, nil
}

func firstLine(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return "it said nothing"
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
