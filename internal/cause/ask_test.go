package cause

import (
	"testing"

	"culprit/internal/code"
	"culprit/internal/compare/blame"
)

// found are the claims that recognisers make where nobody else is asked.
func found(s *scene, finds ...func(*scene) []finding) []*claim {
	s.tree = blame.New(s.paths, code.Own)
	l := newLedger(s)
	for _, find := range finds {
		for _, one := range find(s) {
			l.claim("test", one)
		}
	}
	return l.claims
}

// recordOf is the record of a cause that there must be.
func recordOf(t *testing.T, id ID) Cause {
	t.Helper()
	record, known := Lookup(id)
	if !known {
		t.Fatalf("%s is no cause", id)
	}
	return record
}

// where is the places of a claim in words.
func (c *claim) where() []string { return inWords(Suspect{Places: c.places}).Where }

// doubtful is what contradicts a claim, in words.
func (c *claim) doubtful() []string { return inWords(Suspect{Doubts: c.against}).Against }

func inWords(s Suspect) Suspect {
	s.InWords()
	return s
}

// rank is what else decides the order of a suspect.
type rank struct {
	known, consequence, ofSetting bool
	library                       bool // a place in code that leads to no function of the program's own
}

// choose orders suspects by the rules of rank, and leaves out what must not be said.
func (s *scene) choose(suspects []Suspect, ranks []rank) []Suspect {
	r := &ranking{ledger: newLedger(s), told: rankedAs(suspects, ranks)}
	r.order()
	return r.suspects()
}

func rankedAs(suspects []Suspect, ranks []rank) (list []*ranked) {
	for i, suspect := range suspects {
		of := &claim{cause: suspect.Cause, consequence: ranks[i].consequence,
			ofSetting: ranks[i].ofSetting}
		list = append(list, &ranked{claim: of, suspect: suspect, known: ranks[i].known,
			library: ranks[i].library})
	}
	return list
}
