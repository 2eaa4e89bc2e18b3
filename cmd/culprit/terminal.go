package main

import (
	"os"

	"golang.org/x/term"

	"culprit/internal/report"
)

// textOptions says how the terminal is, if standard output is one: colour and
// its width there, plain text anywhere else and where NO_COLOR is set (no-color.org).
func textOptions(w world) report.TextOptions {
	options := report.TextOptions{}
	if file, ok := w.stdout.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		options.Colour = os.Getenv("NO_COLOR") == ""
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			options.Width = width
		}
	}
	return options
}
