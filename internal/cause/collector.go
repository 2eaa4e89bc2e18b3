package cause

import (
	"slices"
	"strings"
)

// collectorOptions are options of runtimes that set how much memory there is to collect in, how often and by whom.
var collectorOptions = []string{"-Xmx", "-Xms", "-Xmn", "-XX:MaxHeapSize", "-XX:InitialHeapSize", "-XX:NewSize",
	"-XX:MaxNewSize", "-XX:NewRatio", "-XX:SurvivorRatio", "-XX:MaxTenuringThreshold", "-XX:MaxRAM", "-XX:InitialRAM",
	"-XX:MinRAM", "-XX:SoftMaxHeapSize", "-XX:MaxGCPauseMillis", "-XX:GCTimeRatio", "-XX:ParallelGCThreads",
	"-XX:ConcGCThreads", "-XX:G1", "-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC", "-XX:+UseZGC",
	"-XX:+UseShenandoahGC", "-XX:+UseEpsilonGC", "--max-old-space-size", "--max_old_space_size",
	"--max-semi-space-size", "--max_semi_space_size", "--min-semi-space-size", "--max-heap-size", "--gc-interval"}

// findCollector claims what collecting garbage takes. Garbage comes from code
// that allocates: unless a collector setting differs, the code ranks before it.
func findCollector(s *scene) []*claim {
	c := s.take("runtime.gc", func(i int) bool { return s.traits[i].collector })
	if c == nil {
		return nil
	}
	settings := s.changed("target.environment.GOGC", "target.environment.GOMEMLIMIT", "target.environment.GODEBUG",
		"target.environment.JAVA_TOOL_OPTIONS", "target.environment.JDK_JAVA_OPTIONS", "target.environment.NODE_OPTIONS",
		"target.environment.RUBY_GC_", "target.cgroup.memory")
	a, b := s.collectorOptions()
	c.consequence = len(settings) == 0 && a == b && !s.oneSided
	for _, setting := range settings {
		c.add("facts", setting.Name+": "+orNone(setting.A)+" against "+orNone(setting.B), 0, 0, "")
		c.at(setting.Name + "=" + orNone(setting.B))
	}
	if a != b {
		c.add("facts", "options of the collector: "+orNone(a)+" against "+orNone(b), 0, 0, "")
		c.at("options " + orNone(b))
	}
	if c.consequence {
		c.against = append(c.against, "no setting of the collector is seen to differ: the code makes more garbage, or sets "+
			"its collector itself")
	}
	s.locate(c, "")
	return []*claim{c}
}

// collectorOptions are the options of collectors on both command lines; none where there is one side only.
func (s *scene) collectorOptions() (a, b string) {
	if s.oneSided {
		return "", ""
	}
	among := func(command string) string {
		var found []string
		for _, word := range strings.Fields(command) {
			word = strings.Trim(word, `"';`)
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
