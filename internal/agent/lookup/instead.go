package lookup

import (
	"errors"
	"fmt"

	"culprit/internal/agent/spool"
)

// maxOffered is how many services an error names.
const maxOffered = 12

func noService(q query, services []string, windows int) error {
	noun := "windows"
	if windows == 1 {
		noun = "window"
	}
	return fmt.Errorf("no service %q in the %d %s %s; there were %s", q.service, windows, noun, q.span, offered(services))
}

// noWindow says what times there are.
func (f Finder) noWindow(all []spool.Entry, q query) error {
	zone := f.Now.Location()
	var before, after, first, last *spool.Entry
	for i := range all {
		entry := &all[i]
		if entry.Kind != q.kind {
			continue
		}
		if first == nil || entry.Start.Before(first.Start) {
			first = entry
		}
		if last == nil || entry.Start.After(last.Start) {
			last = entry
		}
		if entry.Start.Before(q.from) && (before == nil || entry.Start.After(before.Start)) {
			before = entry
		}
		if !entry.Start.Before(q.to) && (after == nil || entry.Start.Before(after.Start)) {
			after = entry
		}
	}
	if first == nil {
		return fmt.Errorf("no %s window at all in %s", q.kind, f.Folder)
	}
	text := fmt.Sprintf("no %s window %s; those that are kept begin from %s to %s", q.kind, q.span,
		first.Start.In(zone).Format(shown), last.Start.In(zone).Format(shown))
	if before != nil && after != nil {
		text += fmt.Sprintf(", with none between %s and %s", before.Start.In(zone).Format(shown),
			after.Start.In(zone).Format(shown))
	}
	return errors.New(text)
}
