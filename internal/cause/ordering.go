package cause

// Move is one rule of rank that changed the order.
type Move struct {
	Rule        Rule   `json:"rule"`
	First       ID     `json:"first"`
	FirstPlace  string `json:"first_place,omitempty"`
	Before      ID     `json:"before"`
	BeforePlace string `json:"before_place,omitempty"`
	Because     string `json:"because"`
}

// LeftOut is a claim of the ledger that is no suspect.
type LeftOut struct {
	Cause   ID     `json:"cause"`
	Place   string `json:"place,omitempty"`
	Because string `json:"because"`
}

// moved notes that a rule put one suspect before another.
func (r *ranking) moved(rule rankRule, first, then *ranked) {
	r.moves = append(r.moves, Move{Rule: rule.rule, First: first.cause, FirstPlace: first.best(),
		Before: then.cause, BeforePlace: then.best(), Because: rule.because})
	r.pairs = append(r.pairs, [2]*ranked{first, then})
}

// behind moves those of the first that are told by move behind the one at last.
func (r *ranking) behind(rule rankRule, last int, move func(*ranked) bool) {
	var first, after []*ranked
	for at := 0; at <= last; at++ {
		if one := r.told[at]; at < last && move(one) {
			after = append(after, one)
			r.moved(rule, r.told[last], one)
		} else {
			first = append(first, one)
		}
	}
	copy(r.told, append(first, after...))
}

// first moves the one at a place before all others.
func (r *ranking) first(rule rankRule, at int) {
	one := r.told[at]
	r.moved(rule, one, r.told[0])
	copy(r.told[1:], r.told[:at])
	r.told[0] = one
}
