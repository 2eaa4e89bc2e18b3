package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"culprit/internal/probe/counters/event"
)

// countingFlags say what investigate counts in recorded runs.
type countingFlags struct {
	events string
	cpi    bool
}

func (f *countingFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.events, "counters", "", "count these events in recorded runs, as in 'culprit count -e'")
	flags.BoolVar(&f.cpi, "cpi", false, "in recorded runs, sample stacks by cycles and instructions too")
}

// checkCounters refuses events that this host does not count, before anything is recorded.
func checkCounters(counters string, cpi bool) error {
	if cpi {
		list, err := event.Parse("{cycles,instructions}", event.Host)
		if err == nil {
			err = list.Try(event.Host)
		}
		if err != nil {
			return fmt.Errorf("--cpi: %w", err)
		}
	}
	if counters == "" {
		return nil
	}
	list, err := event.Parse(counters, event.Host)
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].Kind == event.Package {
			return fmt.Errorf("event %s counts for a whole package: it says nothing about a target; "+
				"`culprit count --by cpu` counts it", list[i].Name)
		}
	}
	return list.Try(event.Host)
}
