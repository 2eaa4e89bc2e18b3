package bisect

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"culprit/internal/cause"
)

// frame is a function as a place of a suspect names it, with its class and its file where the
// language tells.
type frame struct{ function, class, file string }

func (f frame) String() string {
	if f.class != "" {
		return f.class + "." + f.function
	}
	return f.function
}

// telling says whether the name alone tells a function from others.
func (f frame) telling() bool { return !strings.HasPrefix(f.function, "__") && len(f.function) > 2 }

// suspectsLooked are the suspects whose functions are looked up in a change: those behind have
// little of the growth.
const suspectsLooked = 3

// frames are the functions of the places of suspects, the innermost first, the first suspect's
// before all others.
func frames(suspects []cause.Suspect) []frame {
	var list []frame
	for _, suspect := range suspects[:min(len(suspects), suspectsLooked)] {
		for _, place := range suspect.Places {
			if place.Kind != cause.InCode && place.Kind != cause.InLock {
				continue
			}
			names := strings.Split(place.Name, ";")
			slices.Reverse(names)
			for _, name := range names {
				if one := frameOf(name); one.function != "" && !slices.Contains(list, one) {
					list = append(list, one)
				}
			}
		}
	}
	return list
}

// fileName is a file that a place names beside a function: "<module> pyparsing/helpers.py".
var fileName = regexp.MustCompile(`[\w./@+-]+\.(?:py|js|mjs|cjs|ts|go|` +
	`c|cc|cpp|cxx|h|hpp|rs|java|kt|rb|php|cs|pl|sh)\b(?::\d+)?`)

// word is a name in a program's text.
var word = regexp.MustCompile(`[\p{L}_$][\p{L}\p{N}_$]*`)

// generated are names that no definition has: closures are parts of the function around them.
var generated = regexp.MustCompile(`^(func\d+|closure|lambda|locals|anonymous|module|impl|h[0-9a-f]{16})$`)

// frameOf reads a name as languages write it: "Sheet.cells", "(*Sheet).cells.func1",
// "crate::sheet::cells", "void reader::Sheet::cells<int>(int)".
func frameOf(name string) frame {
	var one frame
	if file := fileName.FindString(name); file != "" {
		file, _, _ = strings.Cut(file, ":")
		one.file = path.Base(file)
		name = fileName.ReplaceAllString(name, "")
	}
	// Go's receivers stand in parentheses, C++'s and Java's arguments behind the name.
	name = strings.NewReplacer("(*", "", ").", ".").Replace(name)
	name, _, _ = strings.Cut(name, "(")
	name = strings.TrimSpace(generics.ReplaceAllString(name, ""))
	name = name[strings.LastIndex(name, " ")+1:] // without the type of what it returns
	words := slices.DeleteFunc(word.FindAllString(name, -1), func(w string) bool { return generated.MatchString(w) })
	if len(words) == 0 {
		return frame{}
	}
	one.function = words[len(words)-1]
	// A word before it may be a module as well, which definitions do not name: classes begin with a
	// capital letter.
	if len(words) > 1 && words[len(words)-2] != strings.ToLower(words[len(words)-2]) {
		one.class = words[len(words)-2]
	}
	return one
}

// generics are parameters of types: nested ones leave a rest that is no name.
var generics = regexp.MustCompile(`<[^<>]*>`)

func holds(text, name string) bool { return slices.Contains(word.FindAllString(text, -1), name) }

// Definitions by languages; NAME stands for the function.
var definitionForms = map[string]string{
	".py":  `^\s*(async\s+)?def\s+NAME\b`,
	".rb":  `^\s*def\s+(self\.)?NAME\b`,
	".go":  `^func\s+(\([^)]*\)\s*)?NAME\b`,
	".rs":  `\bfn\s+NAME\b`,
	".kt":  `\bfun\s+(<[^>]*>\s*)?([\w.]+\.)?NAME\b`,
	".php": `\bfunction\s+&?NAME\b`,
	".pl":  `^\s*sub\s+NAME\b`,
	".sh":  `^\s*(function\s+NAME\b|NAME\s*\(\))`,
	".js": `\bfunction\s*\*?\s*NAME\b|^\s*((async|static|get|set)\s+)*[*#]?NAME\s*\([^;]*\{\s*$|` +
		`(^|[\s.])NAME\s*[:=]\s*(async\s*)?(function\b|\([^)]*\)\s*=>|\w+\s*=>)`,
	// C, C++, Java and C#: a name before parentheses, on a line that is neither a statement nor a
	// declaration alone.
	"": `^[^=;"(]*\bNAME\s*(<[^>]*>)?\s*\([^;]*$`,
}

// statement begins a line that calls a function and does not define one.
var statement = regexp.MustCompile(`^\s*(\}?\s*(return|else|if|while|` +
	`for|switch|case|new|throw|do|assert|await|yield)\b|//|/?\*|#)`)

// definitionOf finds the line that defines a function in a language, by the file's ending.
func definitionOf(file, function string) *regexp.Regexp {
	ending := path.Ext(file)
	switch ending {
	case ".mjs", ".cjs", ".ts", ".tsx", ".jsx":
		ending = ".js"
	}
	form, known := definitionForms[ending]
	if !known {
		form = definitionForms[""]
	}
	return regexp.MustCompile(strings.ReplaceAll(form, "NAME", regexp.QuoteMeta(function)))
}

// definitions are the stretches of a file in which a function is defined, by the indentation that
// all these languages are written with: a function ends before the next line that stands no deeper
// than its first, or with it where that closes a brace. A C function's arguments may stand on lines
// of their own; they are deeper.
func definitions(text, file string, one frame) []span {
	if text == "" || one.file != "" && path.Base(file) != one.file {
		return nil
	}
	form := definitionOf(file, one.function)
	lines := strings.Split(text, "\n")
	var exact, loose []span
	for i, line := range lines {
		if !strings.Contains(line, one.function) || statement.MatchString(line) ||
			!form.MatchString(attribute.ReplaceAllString(line, "")) {
			continue
		}
		switch found := (span{i + 1, endOf(lines, i)}); classAround(lines, i, one.class) {
		case thisClass:
			exact = append(exact, found)
		case noClass:
			loose = append(loose, found)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return loose
}

// attribute has parentheses before a function's own.
var attribute = regexp.MustCompile(`__attribute__\s*\(\(.*?\)\)|^\s*@\w+(\([^)]*\))?|\[\[.*?\]\]`)

func depth(line string) int {
	columns := 0
	for _, r := range line {
		switch r {
		case ' ':
			columns++
		case '\t':
			columns += 8
		default:
			return columns
		}
	}
	return columns
}

// endOf is the last line, 1-based, of what begins at index at.
func endOf(lines []string, at int) int {
	end := at
	for i := at + 1; i < len(lines); i++ {
		text := strings.TrimSpace(lines[i])
		if text == "" {
			continue
		}
		if depth(lines[i]) > depth(lines[at]) || strings.HasPrefix(text, "{") || strings.HasPrefix(text, ")") {
			end = i
			continue
		}
		if strings.HasPrefix(text, "}") || text == "end" || strings.HasPrefix(text, "end ") {
			return i + 1
		}
		return end + 1
	}
	return end + 1
}

// around a definition stands the class asked for, another, or none: then its class may be another
// file's.
type enclosing int

const (
	thisClass enclosing = iota
	otherClass
	noClass
)

// classAround looks for a class on the line of a definition (Go, C++), and on the less deep lines
// above.
func classAround(lines []string, at int, class string) enclosing {
	if class == "" || holds(lines[at], class) {
		return thisClass
	}
	level, found := depth(lines[at]), noClass
	for i := at - 1; i >= 0 && level > 0; i-- {
		if strings.TrimSpace(lines[i]) == "" || depth(lines[i]) >= level {
			continue
		}
		level, found = depth(lines[i]), otherClass
		if holds(lines[i], class) {
			return thisClass
		}
	}
	return found
}
