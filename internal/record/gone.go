package record

import (
	"context"

	"culprit/internal/host"
	"culprit/internal/probe"
)

// targetGone tells whether a process that was named by its id has ended, with all that it started:
// nothing is left to record, and nobody else tells. Its children are only looked for once it is
// gone itself. A service is followed to where it is now.
func (r *Run) targetGone(ctx context.Context) (bool, error) {
	switch {
	case r.service != nil:
		err := r.followService(ctx)
		return r.gone, err
	case r.Target.Kind != "pid":
		return false, nil
	}
	if fields := host.StatFields(r.Target.Pid); len(fields) > 0 && fields[0] != "Z" {
		return false, nil
	}
	left, err := r.Recorder.left(context.WithoutCancel(ctx))
	r.gone = err == nil && len(left) == 0
	return r.gone, err
}

// left asks which processes of the target there are.
func (r *Recorder) left(ctx context.Context) ([]int, error) {
	reply, err := r.ask(ctx, request{Do: "left"})
	return reply.Left, err
}

// maxLeft bounds the processes in an answer, which has to fit into a line.
const maxLeft = 100_000

// left lists the processes of the target.
func (s *Session) left() (pids []int, err error) {
	for _, session := range s.sessions {
		if tree, ok := session.(probe.Tree); ok {
			pids, err = tree.Left()
			return pids[:min(len(pids), maxLeft)], err
		}
	}
	return nil, nil
}
