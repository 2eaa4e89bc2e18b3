package try

import "culprit/internal/stat"

// planner lays out looks and keeps what it has laid out: calibrating a plan takes some tens of
// milliseconds, and a stage whose questions end at the same block asks for the same end.
type planner struct {
	made map[layoutKey]*stat.Plan
}

// layoutKey is a plan for at most so many blocks and a family of comparisons, ended after some
// blocks; 0: not ended.
type layoutKey struct{ blocks, family, ended int }

func newPlanner() *planner { return &planner{made: map[layoutKey]*stat.Plan{}} }

// plan is that for at most so many blocks.
func (p *planner) plan(blocks, family int) (*stat.Plan, error) {
	return p.keep(layoutKey{blocks, family, 0}, func() (*stat.Plan, error) { return stat.NewPlan(blocks, family, alpha) })
}

// ended is the plan for when the trials end at so many blocks.
func (p *planner) ended(plan *stat.Plan, at int) (*stat.Plan, error) {
	key := layoutKey{plan.Looks[len(plan.Looks)-1], plan.Metrics, at}
	return p.keep(key, func() (*stat.Plan, error) { return plan.EndAt(at) })
}

func (p *planner) keep(key layoutKey, lay func() (*stat.Plan, error)) (*stat.Plan, error) {
	if plan, known := p.made[key]; known {
		return plan, nil
	}
	plan, err := lay()
	if err == nil {
		p.made[key] = plan
	}
	return plan, err
}
