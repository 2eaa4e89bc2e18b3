package record

import (
	"context"

	"culprit/internal/host"
	"culprit/internal/probe"
)

// targetGone tells whether a process that was named by its id has ended, with all that it started: nothing is left to
// record, and nobody else tells. Its children are only looked for once it is gone itself.
func (r *Run) targetGone(ctx context.Context) (bool, error) {
	if r.Target.Kind != "pid" {
		return false, nil
	}
	if fields := host.StatFields(r.Target.Pid); len(fields) > 0 && fields[0] != "Z" {
		return false, nil
	}
	left, err := r.Recorder.left(context.WithoutCancel(ctx))
	r.gone = err == nil && left == 0
	return r.gone, err
}

// left asks how many threads of the target there are.
func (r *Recorder) left(ctx context.Context) (int, error) {
	reply, err := r.ask(ctx, request{Do: "left"})
	return reply.Left, err
}

// left counts the threads of the target.
func (s *Session) left() (threads int, err error) {
	for _, session := range s.sessions {
		if tree, ok := session.(probe.Tree); ok {
			return tree.Left()
		}
	}
	return 0, nil
}
