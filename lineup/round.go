package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// round is one pass over scenarios with the same options.
type round struct {
	options      Options
	programs     map[string]string
	investigator Investigator
	stdout       io.Writer
}

// investigateAll runs every scenario as often as asked and saves the scoreboard
// after each one, so that an interruption loses nothing.
func (r round) investigateAll(ctx context.Context, scenarios []Scenario) (int, error) {
	board := r.newScoreboard()
	for _, scenario := range scenarios {
		for range r.options.repeats {
			if err := r.add(ctx, &board, scenario); err != nil {
				return exitError, err
			}
		}
	}
	if err := r.finish(board); err != nil {
		return exitError, err
	}
	if board.missed() > 0 {
		return exitMissed, nil
	}
	return exitRight, nil
}

// investigateAlike runs the pairs without a difference in turn. Of 20 runs one
// may say worse or better: that is the error rate that culprit promises.
func (r round) investigateAlike(ctx context.Context, scenarios []Scenario) (int, error) {
	var alike []Scenario
	for _, scenario := range scenarios {
		if scenario.Truth.Outcome == "same" && scenario.missingTool(isInstalled) == "" {
			alike = append(alike, scenario)
		}
	}
	if len(alike) == 0 {
		return exitError, fmt.Errorf("-aa: no scenario without a difference matches -run %q", r.options.run)
	}
	board := r.newScoreboard()
	for i := range r.options.alike {
		if err := r.add(ctx, &board, alike[i%len(alike)]); err != nil {
			return exitError, err
		}
	}
	if err := r.finish(board); err != nil {
		return exitError, err
	}
	alarms, failed := board.falseAlarms(), 0
	for _, score := range board.Scores {
		failed += count(score.Failed != "")
	}
	fmt.Fprintf(r.stdout, "false alarms: %d of %d\n", alarms, len(board.Scores))
	if alarms > r.options.alike/20 || failed > 0 {
		return exitMissed, nil
	}
	return exitRight, nil
}

func (r round) newScoreboard() Scoreboard {
	return Scoreboard{Schema: scoreboardSchema, Budget: r.options.budget.String(), Renamed: r.options.renames}
}

func (r round) add(ctx context.Context, board *Scoreboard, scenario Scenario) error {
	score := r.investigateOne(ctx, scenario)
	if ctx.Err() != nil {
		return fmt.Errorf("investigate %s: %w", scenario.Name, context.Cause(ctx))
	}
	board.Scores = append(board.Scores, score)
	if score.Answer != nil {
		board.Host = score.Answer.Host
	}
	fmt.Fprintln(r.stdout, score.line())
	return board.save(r.options.out)
}

func (r round) investigateOne(ctx context.Context, scenario Scenario) (score Score) {
	score = Score{Scenario: scenario.Name, Title: scenario.Title, Truth: scenario.Truth}
	if scenario.Change != (Change{}) {
		score.Change = &scenario.Change
	}
	if score.NotRun = r.missing(ctx, scenario); score.NotRun != "" {
		score.Optional = score.NotRun == scenario.Needs
		return score
	}
	workshop, err := newWorkshop(r.options, scenario, r.programs)
	if err != nil {
		score.Failed = err.Error()
		return score
	}
	defer func() {
		if err := workshop.cleanUp(context.WithoutCancel(ctx), scenario); err != nil && score.Failed == "" {
			score.Failed = err.Error()
		}
	}()
	commands, err := workshop.prepare(ctx, scenario)
	if err != nil {
		score.Failed = err.Error()
		return score
	}
	result, err := r.investigator.investigate(ctx, scenario, commands, workshop.folder)
	score.ExitCode, score.ElapsedS, score.Report = result.ExitCode, result.ElapsedS, result.Report
	if err != nil {
		score.Failed = err.Error()
		return score
	}
	if score.Change != nil {
		scenario.forgetName(result.Answer.Suspects, r.options.packages)
	}
	score.Answer, score.Verdict = &result.Answer, judge(scenario.Truth, result)
	if score.Change != nil {
		score.Told = score.Change.told(result.Answer.Differs)
	}
	if r.options.corpus == "" || score.Verdict.Missed != "" {
		return score
	}
	whyNot, err := keep(r.options.corpus, r.options.source(), filepath.Join(workshop.folder, "case"), scenario)
	if err != nil {
		score.Failed = err.Error()
	} else if whyNot != "" {
		fmt.Fprintf(r.stdout, "%s is not kept: %s\n", scenario.Name, whyNot)
	}
	return score
}

// finish prints the scoreboard; after one scenario that was shown, the report's path says more.
func (r round) finish(board Scoreboard) error {
	fmt.Fprintln(r.stdout)
	last := board.Scores[len(board.Scores)-1]
	if r.options.show && len(board.Scores) == 1 && last.Report != "" {
		fmt.Fprintln(r.stdout, "report:", last.Report)
		return nil
	}
	return board.writeMarkdown(r.stdout)
}

// timeEffects shows that each scenario has the effect that is planted in it.
func (r round) timeEffects(ctx context.Context, scenarios []Scenario) (int, error) {
	var effects []Effect
	for _, scenario := range scenarios {
		if tool := r.missing(ctx, scenario); tool != "" {
			fmt.Fprintf(r.stdout, "%s not run: %s is not installed\n", scenario.Name, tool)
			continue
		}
		effect, err := r.timeEffect(ctx, scenario)
		if err != nil {
			return exitError, err
		}
		effects = append(effects, effect)
	}
	if err := writeEffects(r.stdout, effects); err != nil {
		return exitError, err
	}
	return exitRight, nil
}

// timeEffect prepares one scenario, times it and cleans up.
func (r round) timeEffect(ctx context.Context, scenario Scenario) (effect Effect, err error) {
	workshop, err := newWorkshop(r.options, scenario, r.programs)
	if err != nil {
		return Effect{}, err
	}
	defer func() { err = errors.Join(err, workshop.cleanUp(context.WithoutCancel(ctx), scenario)) }()
	commands, err := workshop.prepare(ctx, scenario)
	if err != nil {
		return Effect{}, err
	}
	return measureEffect(ctx, scenario.Name, commands, r.options.effectPairs)
}

// missing names the first program that a scenario lacks, after an attempt to install it where its
// packages are known.
func (r round) missing(ctx context.Context, scenario Scenario) string {
	tool := scenario.missingTool(isInstalled)
	if tool == "" || tool != scenario.Needs || len(scenario.Packages) == 0 {
		return tool
	}
	fmt.Fprintf(r.stdout, "%s needs %s: installing %s\n", scenario.Name, tool, strings.Join(scenario.Packages, " "))
	if err := installPackages(ctx, scenario.Packages); err != nil {
		fmt.Fprintf(r.stdout, "%s is left out: %v\n", scenario.Name, err)
	}
	return scenario.missingTool(isInstalled)
}
