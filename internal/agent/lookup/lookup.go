// Package lookup finds the windows that an agent keeps by the name of a service and a time. It is
// the one place that reads such names, for every verb that takes recordings:
//
//	agent:web                             the last ten minutes
//	agent:web@03:00..03:10                the last time that it was so late
//	agent:web@yesterday                   all of that day; beside a range the same clock times of it
//	agent:web@yesterday 03:00..03:10,full the full windows instead of the light ones
//	agent:*@-2h                           all of the host
//
// It refuses with what there is instead: other services, other times.
package lookup

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"culprit/internal/agent/spool"
	"culprit/internal/compare/prepare"
	"culprit/internal/dependency"
	"culprit/internal/fleet/window"
	"culprit/recording"
)

// Prefix is how a name of windows begins; Everything stands for all services of the host.
const (
	Prefix     = "agent:"
	Everything = "*"
)

// maxWindows is how many windows of one name are read: of more, as many that lie evenly in the
// time.
const maxWindows = 60

// Is tells whether a word is such a name.
func Is(word string) bool { return strings.HasPrefix(word, Prefix) }

// Finder looks up windows of one folder.
type Finder struct {
	Folder string
	Now    time.Time // in the time zone of who asks
}

// Found are the windows of one name.
type Found struct {
	Name    string // as it was asked for
	Service string
	Windows []Window
	From    time.Time
	To      time.Time
	Without int // windows of that time in which the service did not run
	Left    int // windows that were left out because there are more than are read
	Torn    int // windows that could not be read
}

// Window is one of them: what it tells of the service.
type Window struct {
	Manifest  *window.Window
	Recording *recording.Recording
}

// Notes are what is to be told of a look-up beside its windows.
func (f *Found) Notes() (notes []string) {
	for _, note := range []struct {
		count int
		text  string
	}{{f.Without, "windows of that time without " + f.Service}, {f.Torn, "windows that could not be read"},
		{f.Left, "windows left out: those that are read lie evenly in that time"}} {
		if note.count > 0 {
			notes = append(notes, fmt.Sprintf("%s: %d %s", f.Name, note.count, note.text))
		}
	}
	return notes
}

// query is a name that was read.
type query struct {
	text, service, kind string
	span
}

// Names looks up names, each of which may take its clock times from the others: "yesterday" beside
// "03:00..03:10".
func (f Finder) Names(names []string) ([]*Found, error) {
	var queries []query
	var clock *span
	for _, name := range names {
		q, err := parseName(name, f.Now)
		if err != nil {
			return nil, err
		}
		queries = append(queries, q)
		if !q.day && !q.instant && clock == nil {
			clock = &queries[len(queries)-1].span
		}
	}
	var found []*Found
	for _, q := range queries {
		if q.day && clock != nil {
			q.span = clock.sameClock(q.from)
		}
		one, err := f.find(q)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.text, err)
		}
		found = append(found, one)
	}
	return found, nil
}

// parseName reads "agent:web@03:00..03:10,full".
func parseName(text string, now time.Time) (q query, err error) {
	rest, _ := strings.CutPrefix(text, Prefix)
	q = query{text: text, kind: window.Light}
	service, times := rest, ""
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		service, times = rest[:at], rest[at+1:]
	}
	if before, kind, found := strings.Cut(times, ","); found {
		if times, q.kind = before, kind; kind != window.Light && kind != window.Full {
			return q, fmt.Errorf("%s: kind %q: give light or full", text, kind)
		}
	}
	if q.service = strings.TrimSpace(service); q.service == "" {
		return q, fmt.Errorf("%s names no service; give agent:SERVICE@TIME, or agent:*@TIME for all of the host", text)
	}
	if q.span, err = parseSpan(times, now); err != nil {
		return q, fmt.Errorf("%s: %w", text, err)
	}
	return q, nil
}

// slack is how long before a time a window may have begun that reaches into it: of names only the
// begin is known.
const slack = 2 * time.Hour

func (f Finder) find(q query) (*Found, error) {
	all, err := spool.List(f.Folder)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(all) == 0 {
		return nil, fmt.Errorf("no agent has recorded in %s; start one with `culprit agent`, or give its folder with "+
			"--agent-dir", f.Folder)
	}
	if err != nil {
		return nil, err
	}
	found := &Found{Name: q.text, Service: q.service, From: q.from, To: q.to}
	manifests, entries := f.within(all, q, found)
	if len(entries) == 0 {
		return nil, f.noWindow(all, q)
	}
	var services []string
	kept := 0
	for i, manifest := range manifests {
		for _, service := range manifest.Services {
			if !slices.Contains(services, service.Name) {
				services = append(services, service.Name)
			}
		}
		if runs(manifest, q.service) {
			manifests[kept], entries[kept] = manifest, entries[i]
			kept++
		}
	}
	if kept == 0 {
		return nil, noService(q, services, len(entries))
	}
	found.Without = len(entries) - kept
	manifests, entries = manifests[:kept], entries[:kept]
	for _, at := range evenly(kept, maxWindows) {
		f.read(found, q, manifests[at], entries[at])
	}
	found.Left = kept - len(found.Windows) - found.Torn
	if len(found.Windows) == 0 {
		return nil, fmt.Errorf("none of the %d windows %s can be read", kept, q.span)
	}
	return found, nil
}

// within reads the manifests of the windows that reach into the time.
func (f Finder) within(all []spool.Entry, q query, found *Found) (manifests []*window.Window, entries []spool.Entry) {
	for _, entry := range all {
		if entry.Kind != q.kind || !entry.Start.Before(q.to) || entry.Start.Before(q.from.Add(-slack)) {
			continue
		}
		manifest, err := spool.ManifestOf(f.Folder, entry)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile to keep to the bound
		case err != nil:
			found.Torn++
		case manifest.End.After(q.from):
			manifests, entries = append(manifests, manifest), append(entries, entry)
		}
	}
	return manifests, entries
}

// read takes what one window tells of the service.
func (f Finder) read(found *Found, q query, manifest *window.Window, entry spool.Entry) {
	rec, err := recording.Open(spool.RecordingOf(f.Folder, entry))
	if err != nil {
		found.Torn++
		return
	}
	if q.service != Everything {
		rec = ofService(rec, manifest, q.service)
	}
	found.Windows = append(found.Windows, Window{manifest, rec})
}

// ofService is what a window of a host tells of a service that runs in it.
func ofService(rec *recording.Recording, manifest *window.Window, service string) *recording.Recording {
	var pids []int32
	for i := range manifest.Services {
		if manifest.Services[i].Name == service {
			pids = manifest.Services[i].Pids
		}
	}
	rec = prepare.Of(rec, pids, "service "+service)
	rec.Dependencies = dependenciesOf(rec)
	return rec
}

// dependenciesOf leaves out of a host's dependencies what no stack of the service goes through.
func dependenciesOf(rec *recording.Recording) (kept []recording.Dependency) {
	index, used := dependency.NewIndex(rec.Dependencies), map[*recording.Dependency]bool{}
	seen := map[int32]bool{}
	for i := range rec.Samples {
		stack := rec.Samples[i].Stack
		if stack == recording.NoStack || seen[stack] {
			continue
		}
		seen[stack] = true
		for _, frame := range rec.Stacks[stack].Frames {
			if owner := index.Of(&rec.Frames[frame]); owner != nil {
				used[owner] = true
			}
		}
	}
	for i := range rec.Dependencies {
		row := &rec.Dependencies[i]
		if used[row] || row.Evidence == recording.SeenHost {
			kept = append(kept, *row)
		}
	}
	return kept
}

func runs(manifest *window.Window, service string) bool {
	return service == Everything ||
		slices.ContainsFunc(manifest.Services, func(s window.Service) bool { return s.Name == service })
}

// evenly picks at most so many of a row.
func evenly(count, most int) (picked []int) {
	for i := range min(count, most) {
		picked = append(picked, i*count/min(count, most))
	}
	return picked
}
