package main

import (
	"culprit/internal/stat"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Score is one line of the scoreboard.
type Score struct {
	Scenario string  `json:"scenario"`
	Title    string  `json:"title"`
	Truth    Truth   `json:"truth"`
	Verdict  Verdict `json:"verdict"`
	NotRun   string  `json:"not_run,omitempty"`  // the tool for want of which it was left out
	Optional bool    `json:"optional,omitempty"` // that tool may be missing: no miss
	Failed   string  `json:"failed,omitempty"`   // build or culprit failed
	ExitCode int     `json:"exit_code"`
	ElapsedS float64 `json:"elapsed_s"`
	Answer   *Answer `json:"answer,omitempty"`
	Report   string  `json:"report,omitempty"`
	Change   *Change `json:"change,omitempty"` // of a published pair
	Told     string  `json:"told,omitempty"`   // where the answer names the change
}

// Scoreboard is the result of one round of the lineup.
type Scoreboard struct {
	Schema  string          `json:"schema"`
	Budget  string          `json:"budget"`
	Renamed bool            `json:"renamed"`
	Host    json.RawMessage `json:"host,omitempty"`
	Scores  []Score         `json:"scores"`
}

const scoreboardSchema = "culprit.lineup/1"

// right tells whether the truth was found.
func (s Score) right() bool {
	return s.NotRun == "" && s.Failed == "" && s.Verdict.Missed == ""
}

// missed counts what went wrong, also what could not be run for want of a tool
// that every scenario's host ought to have.
func (b Scoreboard) missed() (count int) {
	for _, score := range b.Scores {
		if !score.right() && !score.Optional {
			count++
		}
	}
	return count
}

// falseAlarms counts the answers worse or better to pairs without a difference.
func (b Scoreboard) falseAlarms() (count int) {
	for _, score := range b.Scores {
		if score.falseAlarm() {
			count++
		}
	}
	return count
}

// falseAlarm tells whether a pair without a difference was said to be worse or better.
func (s Score) falseAlarm() bool {
	return s.Truth.Outcome == "same" && s.Answer != nil &&
		(s.Answer.Outcome == "worse" || s.Answer.Outcome == "better")
}

// line is what the terminal shows of one scenario as soon as it is judged.
func (s Score) line() string {
	switch {
	case s.NotRun != "":
		return fmt.Sprintf("-     %-20s not run: %s is not installed", s.Scenario, s.NotRun)
	case s.Failed != "":
		return fmt.Sprintf("ERROR %-20s %s", s.Scenario, s.Failed)
	}
	text := fmt.Sprintf("%-20s %s %s %s", s.Scenario, s.Answer.Outcome, s.effect(), s.suspect())
	if s.right() {
		return fmt.Sprintf("ok    %s %.0f s", text, s.ElapsedS)
	}
	return fmt.Sprintf("MISS  %s %.0f s: %s", text, s.ElapsedS, s.Verdict.Missed)
}

func (s Score) effect() string {
	if s.Answer == nil || s.Answer.Effect == nil {
		return "–"
	}
	return fmt.Sprintf("%s ×%.2f", s.Answer.Metric.Name, s.Answer.Effect.Ratio)
}

func (s Score) suspect() string {
	if s.Answer == nil || len(s.Answer.Suspects) == 0 {
		return "–"
	}
	first := s.Answer.Suspects[0]
	return fmt.Sprintf("%s (%s, %.0f %%)", first.Cause, first.Level, 100*first.Share.Value)
}

func (s Score) recordingCost() string {
	if s.Answer == nil || s.Answer.RecordingCost == nil {
		return "–"
	}
	return fmt.Sprintf("%+.1f %%", 100*(s.Answer.RecordingCost.Ratio-1))
}

// writeMarkdown writes the scoreboard as it stands in lineup/RESULTS.md.
func (b Scoreboard) writeMarkdown(w io.Writer) error {
	var text strings.Builder
	columns, changes := []string{"scenario", "outcome", "effect", "first suspect", "place", "time", "recording cost",
		"verdict"}, b.showsChanges()
	if changes {
		columns = append(columns, "change, and where it was told")
	}
	text.WriteString("| " + strings.Join(columns, " | ") + " |\n" + strings.Repeat("|---", len(columns)) + "|\n")
	for _, s := range b.Scores {
		outcome, place, verdict := "–", "–", "right"
		if s.Answer != nil {
			outcome = s.Answer.Outcome
			if len(s.Answer.Suspects) > 0 && len(s.Answer.Suspects[0].Where) > 0 {
				place = shorten(s.Answer.Suspects[0].Where[0], 60)
			}
		}
		if s.NotRun != "" {
			verdict = "not run: no " + s.NotRun
		} else if !s.right() {
			verdict = "**missed**: " + s.Failed + s.Verdict.Missed
		}
		cells := []string{s.Scenario, outcome, s.effect(), s.suspect(), place,
			fmt.Sprintf("%.0f s", s.ElapsedS), s.recordingCost(), verdict}
		if changes {
			cells = append(cells, s.change())
		}
		for i, cell := range cells {
			cells[i] = strings.NewReplacer("|", "\\|", "\n", " ").Replace(cell)
		}
		text.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	text.WriteString("\n")
	b.writeFamilies(&text)
	text.WriteString("\n" + b.summary() + "\n")
	if _, err := io.WriteString(w, text.String()); err != nil {
		return fmt.Errorf("write scoreboard: %w", err)
	}
	return nil
}

// summary counts, apart from the pairs without a difference, how often the culprit was named.
func (b Scoreboard) summary() string {
	var planted, pairs tally
	for _, s := range b.Scores {
		switch {
		case s.NotRun != "":
		case s.Truth.Outcome == "same":
			pairs.add(s)
		default:
			planted.add(s)
		}
	}
	elapsed := append(append([]float64{}, planted.elapsed...), pairs.elapsed...)
	return fmt.Sprintf("Planted culprit first: %d of %d; among the first three: %d; place right: %d; outcome right: "+
		"%d of %d. A/A pairs without a suspect: %d of %d; said to be worse or better: %d. Median time to answer: %.0f s.",
		planted.first, planted.scenarios, planted.firstThree, planted.place, planted.outcome+pairs.outcome,
		planted.scenarios+pairs.scenarios, pairs.first, pairs.scenarios, pairs.alarms, stat.Middle(elapsed)) + b.changesTold()
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// shorten keeps the end of a path of frames: the deepest ones say most.
func shorten(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return "…" + string(runes[len(runes)-limit:])
}

// save writes results.json and results.md into a folder.
func (b Scoreboard) save(folder string) error {
	document, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return fmt.Errorf("encode scoreboard: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, "results.json"), document, 0o644); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	var markdown strings.Builder
	if err := b.writeMarkdown(&markdown); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "results.md"), []byte(markdown.String()), 0o644); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return nil
}
