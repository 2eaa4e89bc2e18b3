package record

import (
	"context"
	"errors"
	"time"

	"culprit/recording"
)

// Run is one recording from begin to end: in parts where it is long, checks its own effect or keeps
// to a budget.
//
//	run := record.Run{Recorder: recorder, Target: target, Path: "a.culprit", Duration: time.Hour}
//	err := run.Begin(ctx) // the target should be held until it returns
//	err = run.Watch(ctx)
//	summary, err := run.Finish(ctx)
type Run struct {
	Recorder *Recorder
	Target   Target
	Path     string          // of the recording
	Duration time.Duration   // at most so long
	Ended    <-chan struct{} // closed when the target has ended; nil: nobody tells
	Say      func(string)    // takes what is to be known at once, such as a service that has ended; nil: nobody does
	// SelfCheck detaches the recorder in random blocks and compares the target's rate. Printed,
	// where it is not nil, is where the target's own numbers come by.
	SelfCheck bool
	Printed   *Printed
	// MaxCost is how much recording may take, BPF programs and the recorder's process together, as
	// a share of one core, or of what the target uses where that is more; 0: no limit. Hz is the
	// rate that the recorder was started with.
	MaxCost float64
	Hz      int

	parts *Parts
	check *recording.SelfCheck
	began time.Time
	until time.Time

	now   given   // what is still recorded
	over  int     // seconds in a row over the budget
	spent bool    // nothing is left to give up
	last  reading // of the target's CPU time
	gone  bool    // the process named by its id has ended, and all that it started; or the service, for good

	service *service // what is known of a target that can come back; nil: it cannot
	said    int      // restarts that were said

	// Tests want shorter ones: how long a part is, and a block of the self-check. 0: as long as a
	// user's.
	every, block time.Duration
}

// Begin opens the first part.
func (r *Run) Begin(ctx context.Context) (err error) {
	if r.parts, err = NewParts(r.Recorder, r.Target, r.Path); err != nil {
		return err
	}
	r.service = newService(r.Target)
	if err := r.parts.Begin(ctx, ""); err != nil {
		return err
	}
	r.began = time.Now()
	r.until = r.began.Add(r.Duration)
	return nil
}

// Watch returns when the time is up, the target or the recorder has ended, or ctx is done, none of
// which is an error: Finish comes after it. After an error there is no more to finish.
func (r *Run) Watch(ctx context.Context) (err error) {
	if r.SelfCheck {
		err = r.watchChecked(ctx)
	} else {
		err = r.watchPlain(ctx)
	}
	if err != nil {
		return r.parts.kept(err)
	}
	return nil
}

func (r *Run) watchPlain(ctx context.Context) error {
	began := time.Now()
	look := time.Second
	if r.every > 0 {
		look = min(look, r.every)
	}
	for r.waitOn(ctx, look) {
		if gone, err := r.targetGone(ctx); gone || err != nil {
			return err
		}
		if err := r.keepBudget(ctx); err != nil || r.gone {
			return err
		}
		due, err := r.partIsDue(ctx, time.Since(began))
		if err != nil {
			return err
		}
		if !due {
			continue
		}
		if err := r.renew(ctx, "what was recorded so far was written down"); err != nil {
			return err
		}
		began = time.Now()
	}
	return nil
}

// partIsDue tells whether a part of this age is to be written down: it is large, or old and not the
// last bit.
func (r *Run) partIsDue(ctx context.Context, age time.Duration) (bool, error) {
	if r.every > 0 {
		return age >= r.every, nil
	}
	live, err := r.Recorder.live(context.WithoutCancel(ctx))
	if err != nil {
		return false, err
	}
	full := r.parts.full(live) // looks from the part's beginning on
	return age >= partLeast && (full || age >= partEvery && time.Until(r.until) >= partLeast), nil
}

// wait lets time go by; false when there is no more to come.
func (r *Run) wait(ctx context.Context, length time.Duration) bool {
	timer := time.NewTimer(min(length, time.Until(r.until)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return time.Now().Before(r.until)
	case <-ctx.Done():
	case <-r.Ended:
	case <-r.Recorder.gone: // Finish says how
	}
	return false
}

// renew ends a part and begins the next. A target that is gone by then has been recorded to its
// end.
func (r *Run) renew(ctx context.Context, why string) error {
	if err := r.parts.EndToGoOn(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	return r.resume(ctx, why)
}

// resume begins the next part; of a service that is gone, when it is back.
func (r *Run) resume(ctx context.Context, why string) error {
	err := r.parts.Begin(context.WithoutCancel(ctx), why)
	switch {
	case !errors.Is(err, ErrGone):
		return err
	case r.service != nil:
		return r.awaitService(ctx)
	}
	r.until = time.Now()
	return nil
}

// Finish writes the recording.
func (r *Run) Finish(ctx context.Context) (*Summary, error) {
	summary, err := r.parts.Finish(ctx, r.check)
	if summary != nil {
		summary.Ended = r.gone
	}
	return summary, err
}
