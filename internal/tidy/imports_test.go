package tidy

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

const module = "culprit"

// mayImport is the import table: evidence → reasoning → telling, left to right.
// Each package lists the ones of ours that it may import; a folder below a
// package follows that package's line. A new package needs a line here.
var mayImport = map[string][]string{
	"recording": {},

	"internal/stat":            {},
	"internal/shell":           {},
	"internal/load":            {},
	"internal/bench":           {"internal/stat"},
	"internal/worth":           {"internal/stat", "internal/bench"},
	"internal/host":            {"recording"},
	"internal/symbol":          {"recording"},
	"internal/code":            {"recording"},
	"internal/format/jfr":      {},
	"internal/format/perfdata": {},
	"internal/format":          {"recording", "internal/symbol", "internal/format/jfr"},
	"internal/probe":           {"recording", "internal/host", "internal/symbol", "internal/stat", "internal/code"},
	"internal/dependency":      {"recording", "internal/dependency/rpm"},
	"internal/dependency/rpm":  {},
	"internal/record": {"recording", "internal/host", "internal/symbol", "internal/stat", "internal/probe",
		"internal/dependency", "internal/monitor"},

	"internal/count":   {"internal/stat", "internal/probe"},
	"internal/monitor": {"internal/host", "internal/stat", "internal/probe"},

	// From what one recording says to what all of them tell: compare stands between.
	"internal/compare/perrun":   {"internal/stat"},
	"internal/compare/units":    {"recording", "internal/stat", "internal/compare/perrun"},
	"internal/compare/settings": {"recording", "internal/compare/perrun"},
	"internal/compare/comparability": {"recording", "internal/stat", "internal/compare/perrun",
		"internal/compare/units", "internal/compare/settings"},
	"internal/compare/prepare": {"recording"},
	"internal/compare/names":   {"recording", "internal/symbol", "internal/code"},
	"internal/compare/tcp":     {"recording", "internal/code"},
	"internal/compare/timeline": {"recording", "internal/code", "internal/compare/perrun",
		"internal/compare/names"},
	"internal/compare/spent": {"recording", "internal/code", "internal/compare/names",
		"internal/compare/timeline"},
	"internal/compare/counts": {"recording", "internal/compare/perrun", "internal/compare/timeline",
		"internal/compare/tcp"},
	"internal/compare/lines": {"recording", "internal/stat", "internal/code", "internal/compare/perrun",
		"internal/compare/names"},
	"internal/compare": {"recording", "internal/stat", "internal/code", "internal/compare/perrun",
		"internal/compare/units", "internal/compare/settings", "internal/compare/prepare", "internal/compare/names",
		"internal/compare/timeline", "internal/compare/spent", "internal/compare/counts", "internal/compare/lines",
		"internal/compare/differs"},
	"internal/compare/differs": {"recording", "internal/host", "internal/dependency", "internal/shell",
		"internal/compare/settings"},
	"internal/compare/blame": {"recording", "internal/stat", "internal/code", "internal/compare/perrun",
		"internal/compare/names", "internal/compare"},
	"internal/compare/rank": {"recording", "internal/stat", "internal/code", "internal/compare/perrun",
		"internal/compare/units", "internal/compare/names", "internal/compare/counts", "internal/compare"},
	"internal/cause": {"recording", "internal/host", "internal/stat", "internal/shell", "internal/symbol",
		"internal/bench", "internal/code", "internal/compare"},

	"internal/tail": {"recording", "internal/stat", "internal/code", "internal/compare", "internal/cause"},
	"internal/explain": {"recording", "internal/host", "internal/stat", "internal/bench", "internal/compare",
		"internal/cause", "internal/tail"},
	// What the tests of cause judge again.
	"internal/corpus": {"recording", "internal/stat", "internal/compare", "internal/cause", "internal/explain"},

	"internal/knob":   {"recording", "internal/host", "internal/stat"},
	"internal/trial":  {"recording", "internal/host", "internal/stat", "internal/load", "internal/knob"},
	"internal/ground": {"internal/host", "internal/knob"},
	"internal/investigate": {"recording", "internal/host", "internal/symbol", "internal/stat", "internal/shell",
		"internal/bench", "internal/probe", "internal/record", "internal/compare", "internal/cause",
		"internal/explain", "internal/load", "internal/knob",
		"internal/trial", "internal/worth"},

	"internal/try": {"recording", "internal/host", "internal/stat", "internal/shell", "internal/load", "internal/knob",
		"internal/trial", "internal/record", "internal/compare", "internal/ground"},

	"internal/bisect": {"internal/stat", "internal/shell", "internal/cause", "internal/trial", "internal/investigate"},

	"internal/top": {"recording", "internal/stat", "internal/code", "internal/compare", "internal/explain",
		"internal/tail"},
	"internal/ci": {"internal/stat", "internal/cause", "internal/trial", "internal/investigate"},

	"internal/report": {"recording", "internal/host", "internal/symbol", "internal/stat", "internal/bench", "internal/try",
		"internal/bisect", "internal/count", "internal/ci", "internal/top",
		"internal/code", "internal/compare", "internal/cause", "internal/tail", "internal/knob", "internal/trial",
		"internal/worth", "internal/explain", "internal/investigate", "internal/fleet/ask", "internal/fleet/facts",
		"internal/fleet/weights"},
	// What tests of the pages look with.
	"internal/report/browser": {},

	"internal/agent/spool":   {"recording", "internal/fleet/window"},
	"internal/agent/service": {"recording", "internal/dependency", "internal/fleet/window"},
	"internal/agent/lookup": {"recording", "internal/dependency", "internal/compare/prepare", "internal/fleet/window",
		"internal/agent/spool"},
	"internal/agent": {"recording", "internal/host", "internal/record", "internal/fleet/window", "internal/agent/spool",
		"internal/agent/service"},

	"internal/serve": {"recording", "internal/host", "internal/stat", "internal/record", "internal/compare",
		"internal/cause", "internal/investigate", "internal/report", "internal/fleet/ask", "internal/fleet/client"},

	"internal/mcp": {"internal/serve"},

	// Of many hosts: what agents and hubs agree on.
	"internal/fleet/window":  {"recording"},
	"internal/fleet/regress": {"internal/stat"},
	"internal/fleet/bands":   {"internal/stat", "internal/fleet/regress"},
	"internal/fleet/compare": {"internal/stat", "internal/fleet/regress"},
	"internal/fleet/facts":   {"internal/stat"},
	"internal/fleet/changes": {"internal/stat"},
	"internal/fleet/weights": {"internal/stat"},
	"internal/fleet/rows":    {"recording", "internal/fleet/window"},
	"internal/fleet/store":   {"recording", "internal/fleet/window", "internal/fleet/rows"},
	"internal/fleet/ask": {"internal/stat", "internal/fleet/store", "internal/fleet/bands", "internal/fleet/compare",
		"internal/fleet/changes", "internal/fleet/facts", "internal/fleet/weights"},
	"internal/fleet/baseline": {},
	"internal/fleet/hub": {"internal/fleet/window", "internal/fleet/store", "internal/fleet/ask",
		"internal/fleet/baseline"},
	"internal/fleet/client": {"internal/stat", "internal/fleet/window", "internal/fleet/store", "internal/fleet/ask",
		"internal/fleet/baseline"},

	"internal/tidy": {},
	"cmd/culprit":   {"recording", "internal"},
	"web":           {"internal/investigate", "internal/report"},
	"packaging":     {},
	// A module of its own: DuckDB needs cgo.
	"cmd/culprit-hub": {"recording", "internal"},
	// The scoreboards judge culprit from outside, by its command line; they share only its
	// arithmetic. The lineup keeps what was judged in the corpus.
	"lineup": {"internal/stat", "internal/explain", "internal/corpus"},
	// What a confirmation costs a thread can only be told of what confirms: watchpoint.
	"benchmark": {"recording", "internal/stat", "internal/probe"},
	// What a page costs can only be told of one: it makes a case, and looks at it as the tests do.
	"benchmark/page": {"recording", "internal/stat", "internal/compare", "internal/investigate", "internal/report"},
	// How often the questions over a fleet are wrong can only be told of what answers them.
	"benchmark/fleet": {"internal/stat", "internal/fleet/bands", "internal/fleet/compare", "internal/fleet/facts",
		"internal/fleet/changes"},
	// The cases ask culprit by its command line and look into its recordings.
	"cases": {"recording"},
	// Makes windows as agents do.
	"cases/fleet": {"recording", "internal/fleet/window"},
	"cases/child": {},
	// It cuts windows of an agent into such of each process.
	"cases/bands": {"recording", "internal/fleet/window", "internal/agent/spool", "internal/compare/prepare",
		"cases/child"},
}

// mayExecute are the packages that may start processes: everything else that
// ran a command would be a hidden tool with a cost that nobody measures.
var mayExecute = []string{"internal/trial", "internal/record", "internal/knob", "internal/ground", "internal/bisect",
	"internal/serve", "internal/monitor",
	"internal/format/perfdata", "internal/fleet/client", "internal/report/browser", "lineup",
	"benchmark", "cases", "cases/bands", "cases/child"}

// mayUse are packages whose libraries are restricted: prefixes of what is allowed beside the
// standard library.
var mayUse = map[string][]string{
	"internal/stat":  {"gonum.org/v1/gonum"},
	"internal/shell": {"mvdan.cc/sh/v3/syntax"},
}

func checkImports(s source) []problem {
	var problems []problem
	owner, known := tableEntry(s.folder())
	if !known {
		text := fmt.Sprintf("package %s is not in the import table: give it a line in internal/tidy/imports_test.go",
			s.folder())
		return []problem{{s.path, 1, text}}
	}
	for _, spec := range s.syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if text := importBreach(owner, imported); text != "" {
			problems = append(problems, problem{s.path, s.files.Position(spec.Pos()).Line, text})
		}
	}
	return problems
}

func importBreach(owner, imported string) string {
	ours, isOurs := strings.CutPrefix(imported, module+"/")
	switch {
	case isOurs:
		if below(ours, owner) || slices.ContainsFunc(mayImport[owner], func(left string) bool { return below(ours, left) }) {
			return ""
		}
		return fmt.Sprintf("imports %s: not left of %s in the import table", imported, owner)
	case imported == "os/exec":
		if !slices.Contains(mayExecute, owner) {
			return fmt.Sprintf("imports os/exec: only %s may start processes", strings.Join(mayExecute, ", "))
		}
	case isLibrary(imported):
		allowed, restricted := mayUse[owner]
		if restricted && !slices.ContainsFunc(allowed, func(prefix string) bool { return below(imported, prefix) }) {
			return fmt.Sprintf("imports %s: %s uses the standard library and %s only", imported, owner,
				strings.Join(allowed, ", "))
		}
	}
	return ""
}

// tableEntry finds the line of the table for a folder: its own or that of a folder above.
func tableEntry(folder string) (string, bool) {
	for ; folder != "." && folder != "/"; folder = path.Dir(folder) {
		if _, known := mayImport[folder]; known {
			return folder, true
		}
	}
	return "", false
}

func below(name, prefix string) bool {
	return name == prefix || strings.HasPrefix(name, prefix+"/")
}

// isLibrary tells modules from the standard library: their first element is a host name.
func isLibrary(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return strings.Contains(first, ".")
}
