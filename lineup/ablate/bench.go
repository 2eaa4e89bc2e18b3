package ablate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	module  = "culprit"
	judging = "internal/cause" // its tests judge the corpus
)

// measuring are packages below the judging one that look at hosts, binaries and numbers, and judge
// nothing.
var measuring = []string{"internal/host", "internal/symbol", "internal/stat", "internal/bench"}

// bench builds the test of the corpus from changed sources and runs it. The sources themselves stay
// as they are: the compiler is given others in their place (go build -overlay).
type bench struct {
	root  string // of the repository
	work  string // a folder for what is built
	cache string // the compiler's, with what does not change
	pairs string // regular expression: only these, "" for all
	procs int    // that one run of the test may use
}

// folders are those of the packages that take part in a judgement.
func (b *bench) folders(ctx context.Context) ([]string, error) {
	var out, said bytes.Buffer
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{.ImportPath}}\t{{.Dir}}",
		"./"+judging)
	list.Dir, list.Stdout, list.Stderr = b.root, &out, &said
	if err := list.Run(); err != nil {
		return nil, fmt.Errorf("list packages: %w: %s", err, said.String())
	}
	var folders []string
	for line := range strings.Lines(out.String()) {
		path, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
		inside, ours := strings.CutPrefix(path, module+"/")
		if ours && strings.HasPrefix(inside, "internal/") && !slices.Contains(measuring, inside) {
			folders = append(folders, folder)
		}
	}
	return folders, nil
}

// verdicts are what the corpus says with a variant, by pair; with nil as the sources are.
func (b *bench) verdicts(ctx context.Context, v *Variant) (verdicts, error) {
	folder, err := os.MkdirTemp(b.work, "variant-")
	if err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	defer os.RemoveAll(folder)
	cache := b.cache
	if v != nil {
		// Each variant leaves megabytes in the compiler's cache: it gets a copy that is thrown
		// away.
		cache = filepath.Join(folder, "cache")
		if err := link(b.cache, cache); err != nil {
			return nil, err
		}
	}
	program, err := b.build(ctx, folder, cache, v)
	if err != nil {
		return nil, err
	}
	// The folder also holds the document by which the compiler reads what is changed.
	answers := filepath.Join(folder, "verdicts")
	if err := os.Mkdir(answers, 0o755); err != nil {
		return nil, fmt.Errorf("make folder of verdicts: %w", err)
	}
	if err := b.replay(ctx, answers, program, v); err != nil {
		return nil, err
	}
	told := verdicts{}
	files, err := filepath.Glob(filepath.Join(answers, "*.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("the test wrote no verdicts (%w)", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err == nil {
			err = told.read(content, strings.TrimSuffix(filepath.Base(file), ".json"))
		}
		if err != nil {
			return nil, fmt.Errorf("read verdicts: %w", err)
		}
	}
	return told, nil
}

// build compiles the test of the corpus.
func (b *bench) build(ctx context.Context, folder, cache string, v *Variant) (program string,
	err error) {
	program = filepath.Join(folder, "judge.test")
	arguments := []string{"test", "-c", "-o", program}
	if v != nil {
		overlay, err := v.overlay(folder)
		if err != nil {
			return "", err
		}
		arguments = append(arguments, "-overlay", overlay)
	}
	compiler := exec.CommandContext(ctx, "go", append(arguments, "./"+judging)...)
	compiler.Dir, compiler.Env = b.root, append(os.Environ(), "GOCACHE="+cache,
		"GOMAXPROCS="+strconv.Itoa(b.procs))
	if out, err := compiler.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", fmt.Errorf("does not compile: %s", firstLine(string(out)))
	}
	return program, nil
}

// replay runs the test of the corpus, which writes what it says into the folder. A variant of what
// judges changes nothing of what is compared: then recordings need not be read again.
func (b *bench) replay(ctx context.Context, folder, program string, v *Variant) error {
	pattern := "^(TestCorpus|TestCorpusFromRecordings)$"
	if v != nil && filepath.Dir(v.file) == filepath.Join(b.root, judging) {
		pattern = "^TestCorpus$"
	}
	if b.pairs != "" {
		pattern += "/^pair$/(" + b.pairs + ")"
	}
	test := exec.CommandContext(ctx, program, "-test.run", pattern, "-test.timeout", "10m",
		"-verdicts", folder)
	test.Dir = filepath.Join(b.root, judging)
	test.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(b.procs))
	if out, err := test.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("the test fails: %s", firstLine(string(out)))
	}
	return nil
}

// overlay writes the changed file, and the document by which the compiler reads it in place of the
// real one.
func (v *Variant) overlay(folder string) (string, error) {
	text, err := os.ReadFile(v.file)
	if err != nil {
		return "", fmt.Errorf("read source: %w", err)
	}
	changed := slices.Concat(text[:v.start], []byte(v.with), text[v.end:])
	file, overlay := filepath.Join(folder, "changed.go"), filepath.Join(folder, "overlay.json")
	document, err := json.Marshal(map[string]map[string]string{"Replace": {v.file: file}})
	if err == nil {
		err = os.WriteFile(file, changed, 0o644)
	}
	if err == nil {
		err = os.WriteFile(overlay, document, 0o644)
	}
	if err != nil {
		return "", fmt.Errorf("write variant: %w", err)
	}
	return overlay, nil
}

// link makes a copy of a folder whose files are the same ones: nothing writes into those of the
// compiler's cache.
func link(from, to string) error {
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		return os.Link(path, target)
	})
	if err != nil {
		return fmt.Errorf("copy the compiler's cache: %w", err)
	}
	return nil
}

func firstLine(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "---") {
			return line
		}
	}
	return "it said nothing"
}
