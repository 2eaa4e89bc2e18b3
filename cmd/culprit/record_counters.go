package main

import (
	"fmt"

	"culprit/internal/probe/counters/event"
)

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
