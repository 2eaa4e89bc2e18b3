package main

import (
	"context"
	"culprit/internal/stat"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"time"
)

// Effect is what plain timing, without culprit, shows of a scenario.
type Effect struct {
	Scenario            string
	WallA, WallB        []float64 // seconds
	CPUA, CPUB          []float64 // seconds, with all descendants
	WallRatio, CPURatio Spread
}

// Spread is the median of paired ratios and the range they came in.
type Spread struct{ Median, Low, High float64 }

// measureEffect runs both sides in pairs of random order after one warm-up each.
func measureEffect(ctx context.Context, name string, commands Commands, pairs int) (Effect, error) {
	effect := Effect{Scenario: name}
	for pair := -1; pair < pairs; pair++ {
		firstA := rand.IntN(2) == 0
		for _, isA := range []bool{firstA, !firstA} {
			command := commands.B
			if isA {
				command = commands.A
			}
			wall, cpu, err := timeOnce(ctx, command)
			if err != nil {
				return Effect{}, fmt.Errorf("time %s: %w", name, err)
			}
			if pair < 0 {
				continue
			}
			if isA {
				effect.WallA, effect.CPUA = append(effect.WallA, wall), append(effect.CPUA, cpu)
			} else {
				effect.WallB, effect.CPUB = append(effect.WallB, wall), append(effect.CPUB, cpu)
			}
		}
	}
	effect.WallRatio = spreadOf(effect.WallA, effect.WallB)
	effect.CPURatio = spreadOf(effect.CPUA, effect.CPUB)
	return effect, nil
}

func timeOnce(ctx context.Context, command string) (wallS, cpuS float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, "sh", "-c", command)
	start := time.Now()
	output, err := run.CombinedOutput()
	wallS = time.Since(start).Seconds()
	if err != nil {
		return 0, 0, fmt.Errorf("run %s: %w: %s", command, err, lastLines(string(output), 3))
	}
	return wallS, (run.ProcessState.UserTime() + run.ProcessState.SystemTime()).Seconds(), nil
}

func spreadOf(a, b []float64) Spread {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = b[i] / a[i]
	}
	return Spread{Median: stat.Middle(ratios), Low: slices.Min(ratios), High: slices.Max(ratios)}
}

func writeEffects(w io.Writer, effects []Effect) error {
	_, err := fmt.Fprint(w, "| scenario | wall A s | wall B s | ratio (range) | cpu A s | cpu B s | ratio (range) |\n",
		"|---|---|---|---|---|---|---|\n")
	if err != nil {
		return fmt.Errorf("write effects: %w", err)
	}
	for _, e := range effects {
		_, err := fmt.Fprintf(w, "| %s | %.3f | %.3f | %.2f (%.2f–%.2f) | %.3f | %.3f | %.2f (%.2f–%.2f) |\n", e.Scenario,
			stat.Middle(e.WallA), stat.Middle(e.WallB), e.WallRatio.Median, e.WallRatio.Low, e.WallRatio.High,
			stat.Middle(e.CPUA), stat.Middle(e.CPUB), e.CPURatio.Median, e.CPURatio.Low, e.CPURatio.High)
		if err != nil {
			return fmt.Errorf("write effects: %w", err)
		}
	}
	return nil
}
