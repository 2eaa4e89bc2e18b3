package cause

import (
	"slices"
	"strings"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/shell"
	"culprit/recording"
)

var (
	// coldSettings change whether and when code is compiled, by the kind of code.
	coldSettings = map[recording.FrameKind][]string{
		recording.KindJVM: {"-Xint", "-XX:TieredStopAtLevel", "-XX:-TieredCompilation", "-XX:+UseInterpreter", "-Xcomp",
			"-Djava.compiler", "-XX:CompileThreshold", "-XX:Tier", "-XX:ReservedCodeCacheSize",
			// Methods named by these are not compiled at all; other commands (print, log, quiet)
			// change nothing.
			"-XX:CompileCommand=exclude", "-XX:CompileCommand=compileonly", "-XX:CompileCommand=CompileThresholdScaling",
			"-XX:CompileCommandFile", "-XX:CompilerDirectivesFile", "-XX:CompileOnly", "-XX:-UseOnStackReplacement",
			// Archives of classes that were read and linked before: without one each start does
			// that anew.
			"-Xshare:off", "-XX:-UseSharedSpaces", "-XX:SharedArchiveFile", "-XX:AOTCache", "-XX:AOTMode"},
		recording.KindNode: {"--jitless", "--no-opt", "--no-sparkplug", "--max-lazy", "--interrupt-budget",
			"--no-turbofan", "--max-optimized-bytecode-size", "--regexp-interpret-all", "NODE_COMPILE_CACHE",
			"NODE_DISABLE_COMPILE_CACHE"},
		recording.KindPython: {"PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"},
		recording.KindRuby:   {"--yjit", "--mjit", "--rjit", "--jit", "--disable-yjit", "--disable-jit", "RUBY_YJIT_ENABLE"},
		recording.KindPHP:    {"opcache.", "pcre.jit"},
	}
)

// interpretedPart is the part of a function's time in the interpreter from which it counts as
// interpreted.
const interpretedPart = 0.3

// findCold claims compiling, and running code in an interpreter that the other side had compiled:
// told by the interpreter's own frames, or by a setting of the compiler where a runtime shows none
// (JVM).
func findCold(s *scene) []finding {
	kind, setting := s.coldSetting()
	if setting == "" && s.narrowed().Name != "" && s.sameProgram() {
		return nil // the same code on fewer CPUs: a compiler that shares one takes longer for as much
	}
	interpreted := s.interpretedFunctions()
	// Python's settings keep no compiled modules: they bear on imports, not on all that it runs.
	all := setting != "" && !(s.oneSided && kind == recording.KindPython)
	return []finding{{cause: RuntimeCold,
		match: func(i int) bool {
			return s.paths[i].Kind == compare.Running &&
				(s.traits[i].compiler || interpreted[s.placeName(i)] || all && s.runs(i, kind))
		},
		tell: func(c *claim) { s.tellCold(c, setting) }}}
}

func (s *scene) tellCold(c *claim, setting string) {
	asked := setting == "" && s.tellCompiling(c)
	s.locate(c, "")
	if entry := first(byValue(s.tally(c.members, s.compilerOf))); entry != "" && len(c.places) > 0 {
		c.at(inCode(c.places[0].Name + ";…;" + entry))
	}
	if setting != "" {
		c.at(Place{Kind: InOptions, Name: setting})
		c.note("facts", "how code is compiled differs, on the dearer side: "+setting)
	}
	compiled := func(i int) bool { return s.traits[i].compiler }
	c.add("cpu", "time in the compiler", sum(s.paths, c.members, compiled), "s/run")
	inHandlers := func(i int) bool { return !compiled(i) && code.InBytecode(s.paths[i].Frames) }
	c.add("cpu", "time in bytecode handlers of the interpreter, or stubs that look like them",
		sum(s.paths, c.members, inHandlers), "s/run")
	if setting == "" && s.mostly(c, func(i int) bool { return inHandlers(i) && code.InStub(s.paths[i].Frames) }) {
		c.claim = "code runs in V8's stubs: interpreted, or on slow paths of compiled code"
		c.doubt(DoubtUnconfirmed, "V8's stubs run bytecode, and the slow paths of compiled code alike (objects whose "+
			"properties were deleted, or that have many shapes): --trace-deopt tells whether it was thrown out of the compiler")
	}
	if setting == "" && s.mostly(c, func(i int) bool { return firstChanged(s.paths[i].Frames) >= 0 }) {
		c.consequence = true
		c.doubt(DoubtConsequence, "most of it is for code of a dependency that is not the same on both sides: that is "+
			"other code to compile, or code that has more compiled")
	} else if setting == "" && !asked && !s.interprets(c) && s.inBackground(c) {
		c.consequence = true
		if s.oneSided {
			c.doubt(DoubtConsequence, "the compiler's own threads took it, which compile whatever runs often: a program "+
				"that has just started has most of that, and one that runs on ever less")
		} else {
			c.doubt(DoubtConsequence, "no setting of the compiler is seen to differ: it compiles because there is other "+
				"code to run, or more of it")
		}
	}
}

// compilerOf is the function by which a path enters a compiler that the program has inside, ""
// where it does not.
func (s *scene) compilerOf(i int) string {
	if at := s.code.CompilerAt(s.paths[i].Frames); at >= 0 {
		return s.paths[i].Frames[at].Name
	}
	return ""
}

// inBackground reports whether a claim on compiling grew for the most part in threads of the
// compiler's own, which compile whatever runs often: other code, or more of it, makes them. A
// program that asks for compiling (eval, compile, a script loaded again and again) has it on its
// own threads, below its own code.
func (s *scene) inBackground(c *claim) bool {
	return s.grew(c) > 0 && s.mostly(c, func(i int) bool { return s.traits[i].place < 0 && s.traits[i].compiler })
}

// interprets reports whether a good part of a claim's growth is code that runs interpreted: a few
// samples of it come with whatever is compiled.
func (s *scene) interprets(c *claim) bool {
	within, all := s.parted(c, func(i int) bool { return !s.traits[i].compiler })
	return within >= leastShare*all
}

// placeName is the program's innermost function of a path, "" when there is none.
func (s *scene) placeName(i int) string {
	if s.traits[i].place < 0 {
		return ""
	}
	return s.paths[i].Frames[s.traits[i].place].Name
}

// interpretedFunctions are the functions of the program that run interpreted on the dearer side and
// did not on the other, in the same number of seconds or fewer: a function that merely has more to
// do in the interpreter is code that grew.
func (s *scene) interpretedFunctions() map[string]bool {
	if s.oneSided || !s.ran[recording.KindNode] && !s.ran[recording.KindJVM] {
		return nil
	}
	type part struct{ interpreted, all float64 }
	a, b := map[string]part{}, map[string]part{}
	for i := range s.cpu {
		frames := s.cpu[i].Frames
		place := s.code.Innermost(frames)
		if place < 0 || code.LeavesJavaScript(frames) {
			continue
		}
		if frames[place].Changed != "" {
			continue // other code than on the other side, which the compiler never saw there
		}
		name := frames[place].Name
		partA, partB := a[name], b[name]
		partA.all, partB.all = partA.all+mean(s.cpu[i].A), partB.all+mean(s.cpu[i].B)
		if code.InBytecode(frames) {
			partA.interpreted += mean(s.cpu[i].A)
			partB.interpreted += mean(s.cpu[i].B)
		}
		a[name], b[name] = partA, partB
	}
	cold := map[string]bool{}
	for name, partB := range b {
		partA := a[name]
		was := partA.interpreted / max(partA.all, 1e-9)
		is := partB.interpreted / max(partB.all, 1e-9)
		if partA.all > 0 && is >= interpretedPart && was < interpretedPart/2 {
			cold[name] = true
		}
	}
	return cold
}

// coldSetting is an option of the compiler that differs: the dearer side's, or "without" that of
// the other side where the dearer one has none. "" where none differs. Only options of run times
// that were seen running count.
func (s *scene) coldSetting() (kind recording.FrameKind, setting string) {
	for _, kind := range []recording.FrameKind{recording.KindJVM, recording.KindNode, recording.KindPython,
		recording.KindRuby, recording.KindPHP} {
		if !s.ran[kind] {
			continue
		}
		factsA, factsB := s.factsA, s.factsB
		if !s.oneSided && (factsA["target.command"] == "") != (factsB["target.command"] == "") {
			factsA, factsB = nil, nil // read on one side only: the other's process was over too soon
		}
		a, b := coldOptions(kind, s.commandA, factsA), coldOptions(kind, s.commandB, factsB)
		if s.oneSided {
			a = nil
		}
		for _, option := range b {
			if !slices.Contains(a, option) {
				return kind, option
			}
		}
		for _, option := range a {
			if !slices.Contains(b, option) {
				return kind, "without " + option
			}
		}
	}
	return "", ""
}

// coldOptions are the options of compilers among the words of a command and of the variables that
// runtimes read.
func coldOptions(kind recording.FrameKind, command string, facts map[string]string) (options []string) {
	texts := []string{command, facts["target.command"]}
	for _, name := range []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "NODE_OPTIONS",
		"PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "RUBYOPT", "RUBY_YJIT_ENABLE", "NODE_COMPILE_CACHE",
		"NODE_DISABLE_COMPILE_CACHE"} {
		if value := facts["target.environment."+name]; value != "" {
			texts = append(texts, name+"="+value)
		}
	}
	for _, text := range texts {
		for _, word := range shell.Words(text) {
			for _, option := range coldSettings[kind] {
				if at := strings.Index(word, option); at >= 0 && !slices.Contains(options, word[at:]) {
					options = append(options, word[at:])
				}
			}
		}
	}
	return options
}

// runs reports whether a path runs code of a kind.
func (s *scene) runs(i int, kind recording.FrameKind) bool {
	for at := range s.paths[i].Frames {
		if s.paths[i].Frames[at].Kind == kind {
			return true
		}
	}
	return false
}
