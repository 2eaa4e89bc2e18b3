package main

import (
	"fmt"
	"time"

	"culprit/internal/agent/lookup"
	"culprit/recording"
)

// agentWindows are the windows that words such as agent:web@03:00..03:10 name, by word.
type agentWindows map[string]*lookup.Found

// findWindows looks up those of the words that name windows of an agent, all at once: "yesterday"
// takes the clock times of the others. What is to be told of a look-up goes to standard error.
func findWindows(w world, folder string, words []string) (agentWindows, error) {
	var names []string
	for _, word := range words {
		if lookup.Is(word) {
			names = append(names, word)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	if folder == "" {
		folder = agentFolder()
	}
	found, err := lookup.Finder{Folder: folder, Now: time.Now()}.Names(names)
	if err != nil {
		return nil, err
	}
	windows := agentWindows{}
	for i, name := range names {
		windows[name] = found[i]
		for _, note := range found[i].Notes() {
			fmt.Fprintf(w.stderr, "culprit: %s\n", note)
		}
	}
	return windows, nil
}

// wholeWindows makes one recording of the windows of a name.
func wholeWindows(w world, folder, word string) (*recording.Recording, error) {
	windows, err := findWindows(w, folder, []string{word})
	if err != nil {
		return nil, err
	}
	return windows[word].Whole()
}

// windowName names one of the windows in a list of files.
func windowName(found *lookup.Found, at int) string {
	const layout = "2006-01-02 15:04:05"
	return fmt.Sprintf("%s%s@%s", lookup.Prefix, found.Service,
		found.Windows[at].Manifest.Start.In(time.Local).Format(layout))
}
