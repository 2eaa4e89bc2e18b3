package cause

const (
	// Memory that is mapped, touched and returned again: so many more calls a run, and so many times as many.
	fewestMaps = 100
	timesMaps  = 1.5
)

// findFaults claims page faults and mapping calls when memory is returned and
// taken again. Faults of code that merely uses more memory belong to that code.
func findFaults(s *scene) []*claim {
	returnedA, returnedB := 0.0, 0.0
	for _, call := range []string{"munmap", "madvise", "brk"} {
		a, b := s.callCount(call)
		returnedA, returnedB = returnedA+a, returnedB+b
	}
	if !more(returnedA, returnedB, timesMaps, fewestMaps) {
		return nil
	}
	c := s.take("memory.faults", func(i int) bool {
		return s.traits[i].fault || mapCalls[s.traits[i].call] && s.paths[i].Kind == "running"
	})
	if c == nil {
		return nil
	}
	s.locate(c, "")
	c.add("syscalls", "calls that return memory to the kernel", returnedA, returnedB, "calls/run")
	if a, b := s.count("metric.minor_faults", ""); b > 0 {
		c.add("counts", "minor page faults", a, b, "faults/run")
		s.predictFaults(c, b-a)
	}
	return []*claim{c}
}

// findSync claims forcing data to disk: the calls, and the waits inside them.
func findSync(s *scene) []*claim {
	c := s.take("file.sync", func(i int) bool { return s.traits[i].sync })
	if c == nil {
		return nil
	}
	calls := s.callsOf(c)
	call := ""
	if len(calls) > 0 && syncCalls[calls[0]] {
		call = calls[0]
	}
	s.locate(c, call)
	for call := range syncCalls {
		if a, b := s.count("syscall."+call+".count", ""); a+b > 0 {
			c.add("syscalls", call+" calls", a, b, "calls/run")
		}
	}
	sortEvidence(c.evidence)
	return []*claim{c}
}
