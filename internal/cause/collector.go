package cause

import (
	"slices"
	"strings"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/shell"
)

// collectorOptions are options of runtimes that set how much memory there is to collect in, how
// often and by whom.
var collectorOptions = []string{"-Xmx", "-Xms", "-Xmn", "-XX:MaxHeapSize", "-XX:InitialHeapSize", "-XX:NewSize",
	"-XX:MaxNewSize", "-XX:NewRatio", "-XX:SurvivorRatio", "-XX:MaxTenuringThreshold", "-XX:MaxRAM", "-XX:InitialRAM",
	"-XX:MinRAM", "-XX:SoftMaxHeapSize", "-XX:MaxGCPauseMillis", "-XX:GCTimeRatio", "-XX:ParallelGCThreads",
	"-XX:ConcGCThreads", "-XX:G1", "-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC", "-XX:+UseZGC",
	"-XX:+UseShenandoahGC", "-XX:+UseEpsilonGC", "--max-old-space-size", "--max_old_space_size",
	"--max-semi-space-size", "--max_semi_space_size", "--min-semi-space-size", "--max-heap-size", "--gc-interval"}

// findCollector claims what collecting garbage takes. Garbage comes from code
// that allocates: unless a collector setting differs, the code ranks before it.
func findCollector(s *scene) []finding {
	return []finding{{cause: RuntimeGC, tell: s.tellCollector,
		match: func(i int) bool { return s.traits[i].collector }}}
}

func (s *scene) tellCollector(c *claim) {
	settings := s.changed("target.environment.GOGC", "target.environment.GOMEMLIMIT", "target.environment.GODEBUG",
		"target.environment.JAVA_TOOL_OPTIONS", "target.environment.JDK_JAVA_OPTIONS", "target.environment.NODE_OPTIONS",
		"target.environment.RUBY_GC_", "target.cgroup.memory")
	a, b := s.collectorOptions()
	asked := s.tellRequests(c)
	c.consequence = len(settings) == 0 && a == b && !s.oneSided && !asked
	c.tellSettings(settings)
	if a != b {
		c.note("facts", "options of the collector: "+orNone(a)+" against "+orNone(b))
		c.at(Place{Kind: InOptions, Name: orNone(b)})
	}
	if c.consequence {
		c.doubt(DoubtConsequence, "no setting of the collector is seen to differ: the code makes more garbage, or sets "+
			"its collector itself")
	}
	s.locate(c, "")
}

const (
	requestClaim  = "the program asks for garbage collections itself"
	requestRemedy = "do not ask for collections (System.gc, runtime.GC, gc.collect): the collector knows when; of a " +
		"library's, -XX:+DisableExplicitGC shows what they cost"
	// askedPart of the collector's time is waited for by who asks for it, at least: several threads
	// collect at once.
	askedPart = 0.3
)

// tellRequests says where a program asks for collections itself, if that is why there are more of
// them.
func (s *scene) tellRequests(c *claim) bool {
	var asking []compare.Path
	var asked sides
	see := func(path *compare.Path) {
		if slices.ContainsFunc(path.Frames, code.AsksToCollect) {
			asking, asked = append(asking, *path), asked.plus(means(path.A, path.B))
		}
	}
	for i := range s.cpu {
		see(&s.cpu[i])
	}
	for i := range s.waits {
		if s.waits[i].Kind == compare.Blocked {
			see(&s.waits[i].Path)
		}
	}
	place := callerOf(asking, code.AsksToCollect)
	if more := s.grew(c); place == "" || more <= 0 || asked.more() < askedPart*more {
		return false
	}
	c.claim, c.remedy = requestClaim, requestRemedy
	c.at(inCode(place))
	c.add("cpu", "in collections that it asked for, running or waiting, all threads", asked, "s/run")
	return true
}

// collectorOptions are the options of collectors on both command lines; none where there is one
// side only.
func (s *scene) collectorOptions() (a, b string) {
	if s.oneSided {
		return "", ""
	}
	among := func(command string) string {
		var found []string
		for _, word := range shell.Words(command) {
			if slices.ContainsFunc(collectorOptions, func(option string) bool { return strings.HasPrefix(word, option) }) {
				found = append(found, word)
			}
		}
		return strings.Join(found, " ")
	}
	a, b = among(s.commandA), among(s.commandB)
	if a == b && (s.factsA["target.command"] == "") == (s.factsB["target.command"] == "") {
		return among(s.factsA["target.command"]), among(s.factsB["target.command"]) // a script may hide them
	}
	return a, b
}
