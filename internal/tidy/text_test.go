package tidy

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// bannedNames are folders that collect what belongs nowhere.
var bannedNames = []string{"util", "utils", "common", "helper", "helpers", "manager", "base", "misc", "shared", "lib"}

// bannedNamesInWeb leaves web/src/lib, which house.md lays out.
const libraryOfWeb = "web/src/lib"

// bannedWords promise work instead of doing it: finish it, or write an issue.
var bannedWords = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

func checkFolderName(s source) []problem {
	for folder := s.folder(); folder != "."; folder = path.Dir(folder) {
		if slices.Contains(bannedNames, path.Base(folder)) && folder != libraryOfWeb {
			text := fmt.Sprintf("folder %s: name it for what it does, %q says nothing", folder, path.Base(folder))
			return []problem{{s.path, 1, text}}
		}
	}
	if s.syntax != nil && slices.Contains(bannedNames, s.syntax.Name.Name) {
		line := s.files.Position(s.syntax.Name.Pos()).Line
		return []problem{{s.path, line, fmt.Sprintf("package %s: name it for what it does", s.syntax.Name.Name)}}
	}
	return nil
}

func checkLines(s source) []problem {
	var problems []problem
	count := 0
	for line := range strings.Lines(s.text) {
		count++
		columns := utf8.RuneCountInString(strings.TrimRight(line, "\r\n"))
		switch {
		case columns > columnsMax:
			text := fmt.Sprintf("line of %d columns, at most %d", columns, columnsMax)
			problems = append(problems, problem{s.path, count, text})
		case columns > proseMax && s.isProse(line):
			text := fmt.Sprintf("comment of %d columns, at most %d", columns, proseMax)
			problems = append(problems, problem{s.path, count, text})
		}
	}
	if count > fileLinesMax && !s.test {
		text := fmt.Sprintf("file of %d lines, at most %d: split it by what its parts do", count, fileLinesMax)
		problems = append(problems, problem{s.path, count, text})
	}
	return problems
}

// isProse tells whether a line is nothing but comment: in Go, and in the C of probes.
func (s source) isProse(line string) bool {
	if s.syntax != nil {
		return prose.MatchString(line)
	}
	return strings.HasPrefix(s.path, "internal/probe/") && proseOfC.MatchString(line)
}

// checkWords looks at comments in Go and at every line elsewhere, where a word in code is just as
// wrong.
func checkWords(s source) []problem {
	var problems []problem
	report := func(line int, text string) {
		if word := bannedWords.FindString(text); word != "" {
			problems = append(problems, problem{s.path, line, word + " in a comment: do it now or open an issue"})
		}
	}
	if s.syntax == nil {
		number := 0
		for line := range strings.Lines(s.text) {
			number++
			report(number, line)
		}
		return problems
	}
	for _, group := range s.syntax.Comments {
		for _, comment := range group.List {
			first := s.files.Position(comment.Pos()).Line
			for offset, line := range strings.Split(comment.Text, "\n") {
				report(first+offset, line)
			}
		}
	}
	return problems
}

// checkFunctions limits their length and refuses init, which acts behind the reader's back.
func checkFunctions(s source) []problem {
	var problems []problem
	for _, declaration := range s.syntax.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		first, last := s.files.Position(function.Pos()).Line, s.files.Position(function.End()).Line
		if lines := last - first + 1; lines > functionLinesMax {
			text := fmt.Sprintf("function %s of %d lines, at most %d", function.Name.Name, lines, functionLinesMax)
			problems = append(problems, problem{s.path, first, text})
		}
		if function.Name.Name == "init" && function.Recv == nil {
			problems = append(problems, problem{s.path, first, "func init: call it where it is needed, from a list"})
		}
	}
	return problems
}

// checkPackageDocs wants one file of each package to say what it is for.
func checkPackageDocs(sources []source) []problem {
	first := map[string]string{}
	documented := map[string]bool{}
	for _, s := range sources {
		if s.syntax == nil || s.generated {
			continue
		}
		// The tests of package x may be package x_test, which is documented by x.
		if name := first[s.folder()]; name == "" || s.path < name {
			first[s.folder()] = s.path
		}
		if s.syntax.Doc != nil && strings.TrimSpace(s.syntax.Doc.Text()) != "" {
			documented[s.folder()] = true
		}
	}
	var problems []problem
	for folder, file := range first {
		if !documented[folder] {
			text := fmt.Sprintf("package %s has no doc comment: say what it is for, what it refuses, one example", folder)
			problems = append(problems, problem{file, 1, text})
		}
	}
	return problems
}
