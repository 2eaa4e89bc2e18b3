package main

import (
	"fmt"

	"culprit/internal/probe/counters/event"
)

// checkCounters refuses events that this host does not count, before anything is recorded.
func (o *recordOptions) checkCounters() error {
	if o.CPI {
		list, err := event.Parse("{cycles,instructions}", event.Host)
		if err == nil {
			err = list.Try(event.Host)
		}
		if err != nil {
			return fmt.Errorf("--cpi: %w", err)
		}
	}
	if o.Counters == "" {
		return nil
	}
	list, err := event.Parse(o.Counters, event.Host)
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
