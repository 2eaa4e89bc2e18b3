package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// knownVerb refuses a word that is no verb, with the nearest ones.
func knownVerb(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("no verb %q; did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return fmt.Errorf("no verb %q; 'culprit --help' lists them", args[0])
}

// noWords refuses words that a verb has no use for.
func noWords(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no argument, but was given %q; see '%s --help'", cmd.Name(), args[0], cmd.CommandPath())
	}
	return nil
}

// oneWord asks for the one argument that the verb's usage names.
func oneWord(cmd *cobra.Command, args []string) error {
	_, name, _ := strings.Cut(cmd.Use, " ")
	switch len(args) {
	case 0:
		return fmt.Errorf("no %s; give '%s %s'", name, cmd.CommandPath(), name)
	case 1:
		return nil
	}
	return fmt.Errorf("%s takes one %s, but was given %q as well; see '%s --help'", cmd.Name(), name, args[1],
		cmd.CommandPath())
}

// badFlag words what is wrong with an option without the parser's own words.
func badFlag(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		if what := wanted(invalid.GetFlag().Value.Type(), err); what != "" {
			err = fmt.Errorf("--%s %q is %s", invalid.GetFlag().Name, invalid.GetValue(), what)
		}
	}
	return fmt.Errorf("%w; see '%s --help'", err, cmd.CommandPath())
}

// wanted says what a value of an option's type is not; "" for types whose own errors say it.
func wanted(kind string, err error) string {
	if errors.Is(err, strconv.ErrRange) {
		return "out of range"
	}
	switch kind {
	case "duration":
		return "no time; give a number with its unit, such as 30s or 5m"
	case "bool":
		return "neither true nor false"
	case "int", "int32", "int64", "uint", "uint16", "uint32", "uint64", "count":
		return "no whole number"
	case "float32", "float64":
		return "no number"
	}
	return ""
}
