package cause

import (
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

func TestColdSetting(t *testing.T) {
	for _, c := range []struct {
		name, a, b     string
		kind           recording.FrameKind
		factsA, factsB map[string]string
		want           string
	}{
		{"the dearer side holds the compiler back", "java Main", "java -XX:TieredStopAtLevel=1 Main",
			recording.KindJVM, nil, nil, "-XX:TieredStopAtLevel=1"},
		{"one method is left to the interpreter", "java Main",
			"java -XX:CompileCommand=quiet -XX:CompileCommand=exclude,Main::sum Main", recording.KindJVM, nil, nil,
			"-XX:CompileCommand=exclude,Main::sum"},
		{"a command to the compiler that only prints", "java Main", "java -XX:CompileCommand=print,Main::sum Main",
			recording.KindJVM, nil, nil, ""},
		{"both do", "java -Xint Main", "java -Xint Main", recording.KindJVM, nil, nil, ""},
		{"another value", "php -d opcache.jit_buffer_size=64M x.php", "php -d opcache.jit_buffer_size=0 x.php",
			recording.KindPHP, nil, nil, "opcache.jit_buffer_size=0"},
		{"regular expressions", "php x.php", "php -d pcre.jit=0 x.php", recording.KindPHP, nil, nil, "pcre.jit=0"},
		{"only the cheaper side compiles", "ruby --yjit x.rb", "ruby x.rb", recording.KindRuby, nil, nil,
			"without --yjit"},
		{"in quotes, in the environment", "java Main", "java Main", recording.KindJVM, nil,
			map[string]string{"target.environment.JAVA_TOOL_OPTIONS": `-Xmx1g "-Xint"`}, "-Xint"},
		{"an option of a run time that does not run", "PYTHONDONTWRITEBYTECODE=1 java Main", "java Main",
			recording.KindJVM, nil, nil, ""},
	} {
		s := &scene{commandA: c.a, commandB: c.b, factsA: c.factsA, factsB: c.factsB,
			ran: map[recording.FrameKind]bool{c.kind: true}}
		if _, got := s.coldSetting(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSameProgram(t *testing.T) {
	for _, c := range []struct {
		name, a, b, factA, factB string
		want                     bool
	}{
		{"a value with a space", `JAVA_TOOL_OPTIONS="-Xmx1g -Xss1m" java Main 5`, "java Main 5", "", "", true},
		{"other arguments", "GOGC=25 tree 5", "tree 6", "", "", false},
		{"a space in an argument", `GOGC=25 grep 'a  b' x`, `grep 'a  b' x`, "", "", true},
		{"scripts that run the same", "/srv/old.sh", "/srv/new.sh", "python3 main.py 5", "python3 main.py 5", true},
		{"scripts that do not", "/srv/old.sh", "/srv/new.sh", "python3 main.py 5", "python3 main.py 6", false},
		{"nothing known", "/srv/old.sh", "/srv/new.sh", "", "", false},
	} {
		s := &scene{commandA: c.a, commandB: c.b, factsA: map[string]string{"target.command": c.factA},
			factsB: map[string]string{"target.command": c.factB}}
		if got := s.sameProgram(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A web server's PHP without opcache compiles each script anew for each request; a compiler that is
// written in C has functions of the same names, and is no run time that is cold.
func TestCompilingOfPHP(t *testing.T) {
	frames := func(names ...string) (frames []recording.Frame) {
		for _, name := range names {
			frames = append(frames, recording.Frame{Name: name, Kind: recording.KindNative})
		}
		return frames
	}
	script := recording.Frame{Name: "<top-level>", Kind: recording.KindPHP, File: "/srv/www/index.php"}
	for _, c := range []struct {
		name   string
		frames []recording.Frame
		want   bool
	}{
		{"the script itself", frames("main", "php_execute_script", "compile_file", "zendparse"), true},
		{"what a script includes", append([]recording.Frame{script}, frames("compile_filename", "pass_two")...), true},
		{"what it runs", append([]recording.Frame{script}, frames("execute_ex", "recompile_files")...), false},
		{"a compiler in C", frames("main", "compile_file", "parse"), false},
	} {
		path := compare.Path{Frames: c.frames}
		traits, _ := (&scene{}).traitsOf([]compare.Path{path})
		if got := traits[0].compiler; got != c.want {
			t.Errorf("%s: compiling %v, want %v", c.name, got, c.want)
		}
	}
}

// A JVM that is held on one CPU compiles for longer beside its own threads: that is no other reason
// than the CPU.
func TestConfinedCompilerIsNotCold(t *testing.T) {
	for _, c := range []struct {
		affinity string
		claims   int
	}{{"1", 0}, {"0-1", 1}} {
		s := &scene{growth: 0.04, metric: compare.MetricCPU, commandA: "java Ring 5", commandB: "java Ring 5",
			factsA: map[string]string{"target.affinity": "0-1"}, factsB: map[string]string{"target.affinity": c.affinity},
			paths: []compare.Path{{Kind: compare.Running, Comm: "C2 CompilerThre", A: []float64{0.026}, B: []float64{0.046},
				Frames: []recording.Frame{{Name: "CompileBroker::compiler_thread_loop", Kind: recording.KindNative}}}},
			traits: []trait{{place: -1, compiler: true}}}
		if claims := found(s, findCold); len(claims) != c.claims {
			t.Errorf("affinity %s: %d claims, want %d", c.affinity, len(claims), c.claims)
		}
	}
}

// A compiler's own threads compile whatever runs often: that follows from the code. What a program
// compiles itself, or a setting of the compiler, is no consequence.
func TestCompilingInTheBackground(t *testing.T) {
	native := func(names ...string) (frames []recording.Frame) {
		for _, name := range names {
			frames = append(frames, recording.Frame{Name: name, Kind: recording.KindNative, Module: "libjvm.so"})
		}
		return frames
	}
	own := recording.Frame{Name: "Bean.mapped", Kind: recording.KindJVM, File: "Bean.java"}
	background := compare.Path{Kind: compare.Running, Comm: "C2 CompilerThre", A: []float64{0.02}, B: []float64{0.2},
		Frames: native("JavaThread::thread_main_inner", "CompileBroker::invoke_compiler_on_method")}
	asked := background
	asked.Comm, asked.Frames = "java", append([]recording.Frame{own}, native("CompileBroker::compile_method")...)
	code := compare.Path{Kind: compare.Running, A: []float64{0}, B: []float64{0.5}, Frames: []recording.Frame{own}}
	for name, c := range map[string]struct {
		path    compare.Path
		command string
		want    bool
	}{
		"in its own threads":        {background, "java Main x", true},
		"on the program's":          {asked, "java Main x", false},
		"held back by a setting":    {background, "java -XX:TieredStopAtLevel=1 Main", false},
		"the other side's settings": {background, "java -XX:CompileCommand=print,x Main", true},
	} {
		result := &compare.Result{Metric: compare.MetricCPU, A: []float64{1}, B: []float64{1.7},
			Paths: []compare.Path{c.path, code}}
		claims := found(newScene(Input{Result: result, CommandA: "java Main", CommandB: c.command}), findCold)
		if len(claims) != 1 || claims[0].consequence != c.want {
			t.Errorf("%s: %+v, want a consequence: %v", name, claims, c.want)
		}
	}
}
