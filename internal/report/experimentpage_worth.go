package report

import (
	"bytes"
	"slices"

	"culprit/internal/worth"
)

// answersMax bounds what the page weighs of one experiment.
const answersMax = 12

// weighedView is an answer of culprit worth with its words.
type weighedView struct {
	Answer  *worth.Answer `json:"answer"`
	Title   string        `json:"title"`
	Saving  []string      `json:"saving"`
	Scaling []scalingView `json:"scaling"` // as the answer lists it
}

// scalingView is what is said of one scaling law.
type scalingView struct {
	Head  string `json:"head"`
	Terms string `json:"terms"`
	Loss  string `json:"loss"`
}

// weighed is what culprit worth says of an experiment, by each load, change and metric that it can
// be asked of.
func weighed(document []byte) []*worth.Answer {
	experiment, err := worth.Read(bytes.NewReader(document))
	if err != nil {
		return nil
	}
	var varied []worth.Factor
	for _, factor := range experiment.Factors {
		if len(factor.Levels) > 1 {
			varied = append(varied, factor)
		}
	}
	if len(varied) > 2 { // the others would be mixed with the change
		return nil
	}
	metrics := []string{""} // the one that worth takes by itself
	for _, metric := range experiment.Metrics {
		metrics = append(metrics, metric.Name)
	}
	var found []*worth.Answer
	for _, load := range varied {
		for _, metric := range metrics {
			answer, err := worth.Weigh(experiment, worth.Options{Load: load.Name, Metric: metric})
			if err != nil { // levels that are no numbers, or too few blocks: the effects say so
				continue
			}
			if !worth.CountsWorkers(load.Name) {
				answer.Scaling = nil
			}
			known := slices.ContainsFunc(found, func(a *worth.Answer) bool {
				return a.Load == answer.Load && a.Metric == answer.Metric
			})
			if !known && len(answer.Levels)+len(answer.Scaling) > 0 && len(found) < answersMax {
				found = append(found, answer)
			}
		}
	}
	return found
}

func weighedViews(answers []*worth.Answer) []weighedView {
	views := []weighedView{}
	for _, a := range answers {
		view := weighedView{Answer: a, Title: metricNoun(a.Metric) + " by " + visible(a.Load, nameRunesMax)}
		if a.Change != "" {
			name := visible(a.Change, nameRunesMax)
			view.Title += ", " + name + "=" + visible(a.A, nameRunesMax) + " or " + visible(a.B, nameRunesMax)
		}
		for _, line := range savingLines(a) {
			view.Saving = append(view.Saving, line.text)
		}
		for _, scaling := range a.Scaling {
			view.Scaling = append(view.Scaling, scalingView{Head: scalingHead(a, scaling), Terms: scalingTerms(scaling),
				Loss: lossText[scaling.Loss]})
		}
		views = append(views, view)
	}
	return views
}
