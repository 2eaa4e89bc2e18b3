package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"culprit/internal/agent/lookup"
	"culprit/internal/explain"
	"culprit/internal/investigate"
	"culprit/internal/record"
)

// liveSides resolves sides that run already, such as pid:4711, and what stands beside one of them;
// false where the sides are commands.
func (f investigateFlags) liveSides(o *investigate.Options, w world) (bool, error) {
	a, liveA, err := liveSide("--a", f.a)
	if err != nil {
		return true, err
	}
	b, liveB, err := liveSide("--b", f.b)
	switch {
	case err != nil:
		return true, err
	case !liveA && !liveB:
		return false, f.checkCommands()
	case !liveA && len(f.a) > 0:
		o.Earlier, err = f.earlierSide(w, "A", f.a)
	case !liveB && len(f.b) > 0:
		o.Earlier, err = f.earlierSide(w, "B", f.b)
	}
	if err != nil {
		return true, err
	}
	if !liveA {
		a, b = b, record.Target{}
	}
	o.A, o.B, o.Target, o.TargetB = "", "", a, b
	return true, nil
}

// liveSide finds what runs already; false where the words of a side name something else.
func liveSide(flag string, words []string) (target record.Target, live bool, err error) {
	for _, word := range words {
		found, named, err := record.ParseTarget(word)
		switch {
		case err != nil:
			return found, true, fmt.Errorf("%s: %w", flag, err)
		case named && len(words) > 1:
			return found, true, fmt.Errorf("%s: %s is one side by itself; leave the other words away", flag, word)
		case named:
			return found, true, nil
		}
	}
	return target, false, nil
}

// shellCommand is the command that a side is, where it is one.
func shellCommand(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// checkCommands refuses sides that neither run already nor are one command.
func (f investigateFlags) checkCommands() error {
	earlierA, earlierB := len(f.a) > 0 && isEarlier(f.a[0]), len(f.b) > 0 && isEarlier(f.b[0])
	switch {
	case earlierA && earlierB:
		return fmt.Errorf("both sides were recorded earlier: `culprit compare --a FILE… --b FILE…` compares recordings")
	case earlierA || earlierB:
		return fmt.Errorf("one side was recorded earlier and the other one does not run: name that by pid:N, port:N, " +
			"unit:NAME or cgroup:DIR, or record it and `culprit compare` the two")
	case len(f.a) > 1 || len(f.b) > 1:
		return fmt.Errorf("%q: a side is one command; put it in quotes", append(f.a, f.b...))
	}
	return nil
}

// recordingSuffix is how files that `culprit record` makes are called.
const recordingSuffix = ".culprit"

// isEarlier tells the word of a side that names a recording, windows of an agent or a case from a
// command.
func isEarlier(word string) bool {
	path, _ := splitWindow(word)
	info, err := os.Stat(path)
	if err != nil { // of a command no file is called like its whole text
		_, _, ofCase := caseSide(word)
		return ofCase || lookup.Is(word) || strings.HasSuffix(path, recordingSuffix)
	}
	return info.IsDir() || strings.HasSuffix(path, recordingSuffix) || info.Mode().Perm()&0o111 == 0
}

// caseSide tells the directory of a case with the name of a side behind it: case-1/A.
func caseSide(word string) (dir, side string, is bool) {
	dir, side = filepath.Split(word)
	if side != "A" && side != "B" || dir == "" {
		return "", "", false
	}
	return filepath.Clean(dir), side, isCase(filepath.Clean(dir))
}

// earlierSide reads what was recorded earlier: files, windows of an agent, cases.
func (f investigateFlags) earlierSide(w world, label string, words []string) (*investigate.Earlier, error) {
	var files []string
	for _, word := range words {
		if !isEarlier(word) {
			if strings.ContainsAny(word, "*?[") || len(words) > 1 {
				return nil, fmt.Errorf("no recording %s", word)
			}
			return nil, fmt.Errorf("one side runs already and the other, %q, is a command; start that one, and name it by pid:N",
				word)
		}
		of, err := filesOf(word)
		if err != nil {
			return nil, err
		}
		files = append(files, of...)
	}
	var o compareOptions
	windows, err := findWindows(w, f.agentDir, files)
	if err != nil {
		return nil, err
	}
	read, err := o.readSide(files, "", windows)
	if err != nil {
		return nil, err
	}
	return &investigate.Earlier{Side: label, Name: strings.Join(words, " "), Files: read.names,
		Recordings: read.recordings}, nil
}

// filesOf are the recordings that a word stands for: of a case those of its side B, which was then
// the newer one, unless A is named or there is no other; else the word itself.
func filesOf(word string) ([]string, error) {
	dir, side, named := caseSide(word)
	if info, err := os.Stat(word); err == nil {
		if !info.IsDir() {
			return []string{word}, nil
		}
		dir, side, named = word, "", true
	}
	if !named {
		return []string{word}, nil
	}
	known, err := explain.Load(dir)
	if _, errCase := os.Stat(filepath.Join(dir, "case.json")); errCase != nil {
		return nil, fmt.Errorf("%s is the directory of no case: it has no case.json", dir)
	} else if err != nil {
		if _, missing := os.Stat(filepath.Join(dir, explain.Recordings)); os.IsNotExist(missing) {
			err = fmt.Errorf("%s: %w", dir, explain.ErrNothingRecorded)
		}
		return nil, err
	}
	names := known.B
	if side == "A" || side == "" && len(names) == 0 {
		names = known.A
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds no recordings of side %s", dir, side)
	}
	var files []string
	for _, name := range names {
		if !fs.ValidPath(name) || filepath.Base(name) != name {
			return nil, fmt.Errorf("%s names %q: not a file of the case's recordings", dir, name)
		}
		files = append(files, filepath.Join(dir, explain.Recordings, name))
	}
	return files, nil
}
