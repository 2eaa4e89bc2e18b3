package cause

import "sync"

// recognisers are those of the whole catalogue, each after those that it defers to.
var recognisers = sync.OnceValue(func() []recogniser {
	sorted, err := inOrder(rulesOf(Catalogue()))
	if err != nil {
		panic(err) // the table is source code: TestRecognisersHaveAnOrder sees it first
	}
	return sorted
})

// attribute gives each second of the growth one owner: first to what is recognised, then by the
// transfers.
func attribute(s *scene) *ledger {
	l := newLedger(s)
	for _, one := range recognisers() {
		for _, found := range one.find(s) {
			l.claim(one.rule, found)
		}
	}
	for _, one := range transfers {
		if !s.oneSided || one.alone {
			one.apply(l, one)
		}
	}
	for _, c := range l.claims {
		l.nameDependency(c)
	}
	l.namesChosen()
	l.followSettings()
	return l
}

// The rules that give what no recogniser took to code.
const (
	ruleCode     Rule = "code"
	ruleOnePlace Rule = "one place"
)

// transfer is a named rule that moves seconds to claims that exist, or gives away what no
// recogniser took.
type transfer struct {
	rule    Rule
	because string
	alone   bool // it holds for one recording as well
	apply   func(*ledger, transfer)
}

// transfers are in the order in which they are made: first what belongs to a claim though its own
// signs do not show it, then what nobody took, at last what follows from code that was found only
// then.
var transfers = []transfer{
	{"tracer of the calls", "a tracer or a filter that both sides have costs as much as there are calls", true,
		(*ledger).giveTracer},
	{"queue after a wait", "who is woken queues for a CPU: that delay comes with each wait", true, (*ledger).giveQueued},
	{"code around the calls", "a loop around calls is there because of the calls, where they are most of its function",
		true, (*ledger).giveAround},
	{"code behind page-ins", "code is slower behind a fault whose page came from the disk: its caches are cold", true,
		(*ledger).giveSlowed},
	{"interrupted code", "the interrupt of a timer runs with interrupts off and is booked on what it interrupted", true,
		(*ledger).giveInterrupted},
	{"fewer CPUs", "the same work on fewer CPUs takes longer though no thread is seen to wait", false,
		(*ledger).giveNarrowed},
	{"interrupts of samples", "all code takes longer alike where a profiler takes samples of one side alone", false,
		(*ledger).giveSampled},
	{"setting that differs", "the same program with the same arguments: what differs is the setting", false,
		(*ledger).giveSetting},
	{ruleCode, "what no cause took belongs to the function that it grew in", false, (*ledger).giveCode},
	{"queue behind what ran", "the program's own had the CPU longer for this cause: who waits for them waits for it",
		false, (*ledger).giveBehind},
	{"one function", "a function that two rules found is one place to look at, with all of its seconds", false,
		(*ledger).joinFunctions},
	{"less at once", "code runs longer on the way to the end, and all threads take no more CPU time: it ran beside " +
		"on the other side", false, (*ledger).tellSerial},
	{"waits for an interpreter", "one thread at a time runs Python: the others wait for the code that takes longer in it",
		false, (*ledger).giveInterpreter},
	{"counters", "hardware counters tell whether code runs more instructions or slower ones, and what those wait for",
		false, (*ledger).giveCounted},
	{ruleMoreCPUs, "more CPUs do the same work at once, and each takes longer for it", false,
		(*ledger).tellContended},
	{"unexplained setting", "a setting differs, and not even code explains what is left", false,
		(*ledger).giveUnexplained},
	{"compiled for code", "the compiler works because that code is new, or there is more of it", false,
		(*ledger).giveCompiled},
}
