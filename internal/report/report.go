// Package report writes what an investigation, a comparison or an experiment found: Text for the
// terminal, JSON for programs, HTML for one self-contained page that any browser opens offline. No
// other package formats results for people.
//
//	err := report.Text(os.Stdout, found, report.TextOptions{Width: 100, Colour: true})
//	err = report.JSON(file, found)
//	err = report.HTML(filepath.Join(found.Dir, "report.html"), found)
//
// It adds no finding of its own. It does not sound more certain than the case is: a number that is
// missing or not finite is called unknown, and a change that cannot be told from zero has no
// colour.
//
// It trusts no name, because names come from the programs under test. It prints text only, shortens
// it, and spells out control and direction characters.
package report

//go:generate go test -run TypeScriptTypes -update .
