package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"culprit/internal/corpus"
	"culprit/internal/explain"
)

// keep writes the judgement of a scenario's case into the corpus. It says why not where there is
// none: nothing was judged, or judged anew it misses the truth.
func keep(folder, source, caseFolder string, scenario Scenario) (whyNot string, err error) {
	pair, err := corpus.FromCase(caseFolder)
	if errors.Is(err, explain.ErrNothingRecorded) {
		return "nothing was judged", nil
	}
	if err != nil {
		return "", fmt.Errorf("keep the judgement of %s: %w", scenario.Name, err)
	}
	pair.Name, pair.Source, pair.Truth = scenario.Name, source, scenario.Truth
	answer, err := pair.Answer()
	if err != nil {
		return "", err
	}
	if missed := pair.Judge(answer).Missed; missed != "" {
		return missed, nil
	}
	return "", pair.Save(folder)
}

// keepAll takes over the cases of an earlier lineup.
func keepAll(stdout io.Writer, o Options, scenarios []Scenario) (int, error) {
	status := exitRight
	for _, scenario := range scenarios {
		caseFolder := filepath.Join(o.from, scenario.Name, "case")
		if !fileExists(filepath.Join(caseFolder, "case.json")) {
			continue
		}
		whyNot, err := keep(o.corpus, o.source(), caseFolder, scenario)
		if err != nil {
			return exitError, err
		}
		if whyNot != "" {
			status = exitMissed
			fmt.Fprintf(stdout, "%s is not kept: %s\n", scenario.Name, whyNot)
		}
	}
	return status, nil
}

// source is what the corpus calls the scenarios' folder.
func (o Options) source() string { return filepath.Base(filepath.Clean(o.root)) }
