package serve

import (
	"context"
	"errors"
	"time"

	"culprit/internal/serve/child"
)

// errShutdown is why a child was ended that the server began.
var errShutdown = errors.New("the server was stopped")

// run runs culprit itself to its end, and counts it.
func (s *server) run(ctx context.Context, c child.Child) error {
	c.Program = s.options.Program
	started := time.Now()
	err := c.Run(ctx)
	how := "done"
	if err != nil {
		how = "failed"
	}
	s.metrics.child(how, time.Since(started))
	return err
}
