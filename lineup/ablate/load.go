package ablate

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	module  = "culprit"
	judging = "internal/cause" // the package that judges
	replay  = "./lineup/ablate/replay"
	// tablesFile is the one that the tables of the variants take the place of.
	tablesFile = "lineup/ablate/vary/table.go"
)

// measuring are packages below the judging one that look at hosts, binaries and numbers, and judge
// nothing.
var measuring = []string{"internal/host", "internal/symbol", "internal/stat", "internal/bench"}

// source is one parsed file of a package.
type source struct {
	path, text string
	syntax     *ast.File
	files      *token.FileSet
}

// code is a package that takes part in a judgement.
type code struct {
	path    string // for imports
	sources []source
	types   *types.Package
	info    types.Info
}

// load reads the packages that take part in a judgement, with their types.
func load(ctx context.Context, root string) ([]*code, error) {
	var out, said bytes.Buffer
	list := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-f",
		"{{.ImportPath}}\t{{.Dir}}\t{{.Export}}", "./"+judging)
	list.Dir, list.Stdout, list.Stderr = root, &out, &said
	if err := list.Run(); err != nil {
		return nil, fmt.Errorf("list packages: %w: %s", err, said.String())
	}
	exports, files := map[string]string{}, token.NewFileSet()
	imports := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	var packages []*code
	for line := range strings.Lines(out.String()) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 { // unsafe has no export data
			continue
		}
		exports[fields[0]] = fields[2]
		inside, ours := strings.CutPrefix(fields[0], module+"/")
		if !ours || !strings.HasPrefix(inside, "internal/") || slices.Contains(measuring, inside) {
			continue
		}
		read, err := readPackage(fields[0], fields[1], files, imports)
		if err != nil {
			return nil, err
		}
		packages = append(packages, read)
	}
	return packages, nil
}

func readPackage(path, folder string, files *token.FileSet, imports types.Importer) (*code, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", folder, err)
	}
	c := &code{path: path, info: types.Info{Types: map[ast.Expr]types.TypeAndValue{},
		Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}}
	var syntax []*ast.File
	for _, file := range paths {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read source: %w", err)
		}
		parsed, err := parser.ParseFile(files, file, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parse source: %w", err)
		}
		c.sources, syntax = append(c.sources, source{file, string(text), parsed, files}), append(syntax, parsed)
	}
	c.types, err = (&types.Config{Importer: imports}).Check(path, files, syntax, &c.info)
	if err != nil {
		return nil, fmt.Errorf("check types of %s: %w", path, err)
	}
	return c, nil
}
