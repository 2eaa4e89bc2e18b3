package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"culprit/internal/count"
	"culprit/internal/report"
)

// countSink takes intervals to where they were asked for.
type countSink struct {
	w        world
	flags    countFlags
	options  count.Options
	table    io.Writer // nil: none
	json     *countFile
	csv      *countFile
	endpoint *count.Endpoint
	last     *count.Interval
}

// countFile is standard output, or a file that grows under another name until it is whole.
type countFile struct {
	io.Writer
	file *os.File
	path string
}

// openCountSink checks and opens all places before anything is counted.
func openCountSink(w world, f countFlags, options count.Options) (sink *countSink, err error) {
	sink = &countSink{w: w, flags: f, options: options}
	defer func() {
		if err != nil {
			sink.drop()
		}
	}()
	if sink.json, err = openCountFile(w, f.json); err != nil {
		return sink, err
	}
	if sink.csv, err = openCountFile(w, f.csv); err != nil {
		return sink, err
	}
	switch {
	case len(f.words) > 0:
		sink.table = w.stderr // standard output belongs to the command
	case f.json != "-" && f.csv != "-":
		sink.table = w.stdout
	}
	if f.listen == "" {
		if f.tokenFile != "" {
			return sink, fmt.Errorf("--token-file is for --listen; give an address to listen at")
		}
		return sink, nil
	}
	token := ""
	if f.tokenFile != "" {
		if token, err = readToken(f.tokenFile); err != nil {
			return sink, err
		}
	}
	sink.endpoint, err = count.Listen(f.listen, token)
	return sink, err
}

// announce says where sums are served, once they will be.
func (s *countSink) announce() {
	if s.endpoint != nil {
		fmt.Fprintf(s.w.stderr, "culprit: serving http://%s/metrics\n", s.endpoint.Address())
	}
}

// leastToken is how long a token has to be: a short one is guessed.
const leastToken = 16

func readToken(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < leastToken || len(token) > 4096 || strings.ContainsAny(token, " \n\r\t") {
		return "", fmt.Errorf("the token in %s must be one word of %d letters or more", path, leastToken)
	}
	return token, nil
}

func openCountFile(w world, path string) (*countFile, error) {
	switch path {
	case "":
		return nil, nil
	case "-":
		return &countFile{Writer: w.stdout}, nil
	}
	if err := checkOutput(path, true); err != nil {
		return nil, err
	}
	// Lines are for those who read along: the file is there from the first one on.
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return &countFile{Writer: file, file: file, path: path}, nil
}

// add takes one interval.
func (s *countSink) add(interval *count.Interval) error {
	first := s.last == nil
	s.last = interval
	if s.json != nil {
		if err := count.WriteJSON(s.json, interval); err != nil {
			return err
		}
	}
	if s.csv != nil {
		if err := count.WriteCSV(s.csv, interval, first); err != nil {
			return err
		}
	}
	if s.endpoint != nil {
		s.endpoint.Add(interval)
	}
	if s.table == nil {
		return nil
	}
	var text bytes.Buffer
	if !first {
		text.WriteByte('\n')
	}
	options := report.CountOptions{TextOptions: textOptions(s.w), Top: s.flags.top}
	if err := report.Counts(&text, interval, options); err != nil {
		return err
	}
	_, err := s.table.Write(text.Bytes())
	return err
}

// close ends it, with the footnotes.
func (s *countSink) close() error {
	if s.last != nil {
		countNotes(s.w, s.last, s.options)
	}
	for _, each := range []*countFile{s.json, s.csv} {
		if each != nil && each.file != nil {
			if err := each.file.Close(); err != nil {
				return fmt.Errorf("write %s: %w", each.path, err)
			}
		}
	}
	if s.endpoint != nil {
		return s.endpoint.Close()
	}
	return nil
}

// drop leaves nothing of a count that never began; what was counted before it failed stays.
func (s *countSink) drop() {
	for _, each := range []*countFile{s.json, s.csv} {
		if each == nil || each.file == nil {
			continue
		}
		each.file.Close()
		if s.last == nil {
			_ = os.Remove(each.path) // it is empty
		}
	}
	if s.endpoint != nil {
		_ = s.endpoint.Close() // the error that led here is the one to tell
	}
}
