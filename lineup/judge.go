package main

import (
	"fmt"

	"culprit/internal/corpus"
)

// Verdict is how an answer compares with the truth.
type Verdict = corpus.Verdict

// judge holds an answer, and the status that culprit exited with, against a scenario's truth.
func judge(truth Truth, result Investigation) Verdict {
	answer := result.Answer
	var named []corpus.Named
	for _, suspect := range answer.Suspects {
		named = append(named, corpus.Named{Cause: suspect.Cause, Where: suspect.Where})
	}
	verdict := truth.Judge(answer.Outcome, answer.Metric.Name, named)
	if verdict.Missed == "" && (answer.Outcome == "worse") != (result.ExitCode == 1) {
		verdict.Missed = fmt.Sprintf("exit status %d with outcome %s, want 1 when worse and else 0",
			result.ExitCode, answer.Outcome)
	}
	return verdict
}
