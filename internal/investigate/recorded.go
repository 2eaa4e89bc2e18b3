package investigate

import (
	"context"
	"errors"
	"fmt"

	"culprit/internal/record"
	"culprit/internal/trial"
	"culprit/recording"
)

// recorded makes one run under the recorder; without a path the recording is dropped.
func (inv *investigation) recorded(ctx context.Context, recorder *record.Recorder, slot trial.Slot,
	path string) (*record.Summary, error) {
	begun := false
	var loaded *record.Summary
	run, err := inv.one(ctx, slot, func(spec *trial.Spec) {
		if spec.Load != nil {
			begun = true
			inv.recordUnderLoad(ctx, recorder, spec, path, &loaded)
			return
		}
		spec.Ready = func(pid int) error {
			begun = true
			return recorder.Begin(ctx, record.Target{Kind: "command", Command: spec.Command, Pid: pid})
		}
	})
	if err != nil {
		if begun {
			// The window must be closed, or the recorder keeps it open; the run's own error is the
			// one to tell.
			_, errEnd := recorder.End(context.WithoutCancel(ctx), record.Finish{Drop: true})
			if errors.Is(err, record.ErrNotSupported) && errEnd != nil {
				return nil, errors.Join(err, errEnd)
			}
		}
		if inv.again(err) {
			return inv.recorded(ctx, recorder, slot, path)
		}
		return nil, err
	}
	summary := loaded
	if summary == nil {
		summary, err = recorder.End(ctx, record.Finish{Path: path, Metrics: run.Metrics, Drop: path == ""})
	}
	if err != nil {
		return nil, fmt.Errorf("record run %d of %s: %w", run.Order, run.Side, err)
	}
	if path != "" {
		inv.book(summary)
	}
	return summary, nil
}

// book adds a recording's own cost and losses to the case.
func (inv *investigation) book(summary *record.Summary) {
	inv.c.Recorder.CPUS += float64(summary.Cost.RecorderCPUNs) / 1e9
	for _, loss := range summary.Losses {
		inv.addLoss(loss)
	}
}

func (inv *investigation) addLoss(loss recording.Loss) {
	for i := range inv.c.Recorder.Losses {
		if inv.c.Recorder.Losses[i].What == loss.What {
			inv.c.Recorder.Losses[i].Count += loss.Count
			return
		}
	}
	inv.c.Recorder.Losses = append(inv.c.Recorder.Losses, loss)
}
