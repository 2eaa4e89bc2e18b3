// Package tidy holds no code, only a test that enforces the house rules a
// compiler does not know: which package may import which, how long lines,
// functions and files may be, which names and words are banned, and that each
// package says what it is for. docs/ and the comments here give the reasons.
//
// It refuses nothing at run time. A breach is reported as file:line:
//
//	internal/compare/result.go:3: imports culprit/internal/report: not left of it in the import table
package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The limits of house.md, rule 10.
const (
	functionLinesMax = 70
	fileLinesMax     = 300
	columnsMax       = 120
	proseMax         = 100 // of comments in Go and in the C of probes
)

// prose and proseOfC are lines of a comment that are no example and no directive.
var (
	prose    = regexp.MustCompile(`^\t*// \S`)
	proseOfC = regexp.MustCompile(`^\t*(/\*| \*) \S`)
)

// root is the repository, seen from this package's folder.
const root = "../.."

// problem is one breach of a rule.
type problem struct {
	file string // slash-separated, relative to the repository
	line int
	text string
}

func (p problem) String() string { return fmt.Sprintf("%s:%d: %s", p.file, p.line, p.text) }

func TestRepositoryIsTidy(t *testing.T) {
	sources, err := readSources(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) == 0 {
		t.Fatalf("no sources below %s", root)
	}
	problems := checkAll(sources)
	for _, p := range problems {
		t.Error(p)
	}
	if len(problems) > 0 {
		t.Logf("%d breaches of the house rules in %d files", len(problems), len(sources))
	}
}

// source is one file of the repository; syntax is nil unless it is Go.
type source struct {
	path      string
	text      string
	generated bool
	test      bool
	files     *token.FileSet
	syntax    *ast.File
}

// folder is the package's path inside the module.
func (s source) folder() string { return path.Dir(s.path) }

// checkAll applies every rule. A new rule is one function and one line here.
func checkAll(sources []source) []problem {
	var problems []problem
	for _, s := range sources {
		problems = append(problems, checkFolderName(s)...)
		if s.generated {
			continue
		}
		problems = append(problems, checkLines(s)...)
		problems = append(problems, checkWords(s)...)
		if s.syntax == nil {
			continue
		}
		problems = append(problems, checkFunctions(s)...)
		if !s.test {
			problems = append(problems, checkImports(s)...)
		}
	}
	problems = append(problems, checkPackageDocs(sources)...)
	slices.SortFunc(problems, func(a, b problem) int {
		if a.file != b.file {
			return strings.Compare(a.file, b.file)
		}
		return a.line - b.line
	})
	return problems
}

// skipped folders hold nothing that people write.
var skipped = []string{".git", "node_modules", "dist", "testdata", "bin", "out", "vendor"}

// written are the file types that people write and that the limits are meant for.
var written = []string{".go", ".c", ".h", ".ts", ".tsx", ".js", ".mjs", ".css", ".py", ".java", ".rs", ".sh"}

func readSources(tree fs.FS) ([]source, error) {
	var sources []source
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("walk %s: %w", name, err)
		}
		if entry.IsDir() {
			if slices.Contains(skipped, entry.Name()) || strings.HasPrefix(entry.Name(), "culprit-case-") {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains(written, filepath.Ext(name)) {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		s, err := parseSource(name, string(text))
		if err != nil {
			return err
		}
		sources = append(sources, s)
		return nil
	})
	return sources, err
}

func parseSource(name, text string) (source, error) {
	s := source{path: name, text: text}
	for line := range strings.Lines(firstLines(text, 5)) {
		s.generated = s.generated || strings.Contains(line, "Code generated") || strings.Contains(line, "DO NOT EDIT")
	}
	s.test = strings.HasSuffix(name, "_test.go") || strings.Contains(name, ".test.")
	if filepath.Ext(name) != ".go" {
		return s, nil
	}
	var err error
	s.files = token.NewFileSet()
	s.syntax, err = parser.ParseFile(s.files, name, text, parser.ParseComments)
	if err != nil {
		return s, fmt.Errorf("parse %s: %w", name, err)
	}
	return s, nil
}

func firstLines(text string, count int) string {
	lines := strings.SplitAfterN(text, "\n", count+1)
	return strings.Join(lines[:min(count, len(lines))], "")
}
