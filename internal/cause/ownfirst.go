package cause

import "slices"

// ownFirst puts what the program does itself before its waiting for CPUs that strangers had: of one recording that is
// about the host and the time of day, and says nothing of the program. What is the program's own goes first where it
// would be a suspect without that waiting; where there is none, the waiting stays the answer.
func (s *scene) ownFirst(suspects []Suspect, claims []*claim) []Suspect {
	if !s.oneSided || len(suspects) == 0 || suspects[0].Cause != "cpu.starved" || !s.byStrangers(claims) {
		return suspects
	}
	least := leastShare * (1 - suspects[0].Share.Value)
	own := slices.IndexFunc(suspects[1:], func(other Suspect) bool { return other.Share.Value >= least })
	if own < 0 {
		return suspects
	}
	host := suspects[0]
	for at := 1; at < len(suspects); at++ { // behind all that are the program's own and large enough
		if suspects[at].Share.Value < least {
			break
		}
		suspects[at-1], suspects[at] = suspects[at], host
	}
	return suspects
}

// byStrangers reports whether most of the waiting for a CPU was for processes outside the program's tree.
func (s *scene) byStrangers(claims []*claim) bool {
	at := slices.IndexFunc(claims, func(c *claim) bool { return c.id == "cpu.starved" })
	if at < 0 {
		return false
	}
	strangers, all := s.parted(claims[at], func(i int) bool { return !s.paths[i].WakerOwn })
	return strangers > mostOf*all
}
