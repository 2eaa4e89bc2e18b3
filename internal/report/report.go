// Package report tells people what an investigation found. It is the only
// package that formats for people: Text for the terminal, JSON for programs,
// HTML for one self-contained page that opens offline in any browser.
//
//	err := report.Text(os.Stdout, found, report.TextOptions{Width: 100, Colour: true})
//	err = report.JSON(file, found)
//	err = report.HTML(filepath.Join(found.Dir, "report.html"), found)
//
// It adds no finding of its own and refuses to sound more certain than the case
// is: a number that is missing or not finite is said to be unknown, a change
// that cannot be told from zero is never coloured. Names come from programs
// under test and are hostile: what reaches a terminal or a page is printable
// text, shortened, with control and direction characters spelled out.
package report

//go:generate go test -run TypeScriptTypes -update .
