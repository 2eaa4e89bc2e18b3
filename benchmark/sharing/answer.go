package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// answer is what is read of culprit's document.
type answer struct {
	Suspects []suspect `json:"suspects"`
}

type suspect struct {
	Cause    string   `json:"cause"`
	Where    []string `json:"where"`
	Evidence []struct {
		Text string `json:"text"`
	} `json:"evidence"`
	Line *struct {
		Words []word `json:"words"`
	} `json:"line"`
	Price *struct {
		Verdict string `json:"verdict"`
		Gain    gain   `json:"gain"`
	} `json:"price"`
}

// gain is what the process would run quicker by: old CPU time over new.
type gain struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

type word struct {
	Offset int32  `json:"offset"`
	Name   string `json:"name"`
	Users  []struct {
		Writes float64 `json:"writes"`
		Reads  float64 `json:"reads"`
	} `json:"users"`
}

// sharedLine is the first suspect that is a shared line, and which one it is; -1 for none.
func (a *answer) sharedLine() (*suspect, int) {
	at := slices.IndexFunc(a.Suspects, func(s suspect) bool { return strings.HasPrefix(s.Cause, "line.") })
	if at < 0 {
		return nil, at
	}
	return &a.Suspects[at], at
}

// isOf reports whether it is the line that the program shares, by the code that touches it.
func (s *suspect) isOf(place string) bool {
	return slices.ContainsFunc(s.Where, func(where string) bool { return strings.Contains(where, place) })
}

func (s *suspect) confirmed() bool {
	return slices.ContainsFunc(s.Evidence, func(e struct {
		Text string `json:"text"`
	}) bool {
		return strings.HasPrefix(e.Text, "confirmed")
	})
}

// namesFields reports whether each word that has a tenth of the samples has the name of its field.
func (s *suspect) namesFields() bool {
	if s.Line == nil {
		return false
	}
	all, wrong := 0.0, 0.0
	for _, word := range s.Line.Words {
		field := "done"
		if word.Offset%16 == 8 {
			field = "bytes"
		}
		samples := 0.0
		for _, user := range word.Users {
			samples += user.Writes + user.Reads
		}
		all += samples
		if !strings.HasSuffix(word.Name, "."+field) {
			wrong += samples
		}
	}
	return all > 0 && wrong < 0.1*all
}

// recorded is a run's own cost and what culprit says of it.
type recorded struct {
	ns     float64 // of CPU time for an operation
	answer answer
}

func (o options) record(folder string, of *language, kind string, threads int) (*recorded, error) {
	file := filepath.Join(folder, "sharing.culprit")
	command := append([]string{o.culprit, "record", "--confirm", "--force", "-o", file, "--"},
		of.command(kind, threads, o.lasts, unbounded)...)
	ns, err := of.costs(command)
	if err != nil {
		return nil, err
	}
	told := &recorded{ns: ns}
	if err := culpritSays(&told.answer, exec.Command(o.culprit, "explain", "--json", "-", file)); err != nil {
		return nil, err
	}
	return told, nil
}

// culpritSays reads the document that culprit prints. Its exit status 1 says that something is
// worse.
func culpritSays(into *answer, command *exec.Cmd) error {
	text, err := command.Output()
	if err != nil && len(text) == 0 {
		return fmt.Errorf("%s: %w", strings.Join(command.Args, " "), err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read %s: %w", strings.Join(command.Args, " "), err)
	}
	return nil
}
