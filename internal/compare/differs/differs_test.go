package differs

import (
	"strings"
	"testing"

	"culprit/internal/compare/settings"
	"culprit/recording"
)

// made is a recording of a command that ran on something; stacks are of frames, with milliseconds
// of CPU time.
func made(command string, rows []recording.Dependency, stacks map[*recording.Frame]int64) *recording.Recording {
	rec := &recording.Recording{Dependencies: rows}
	rec.Manifest.Target.Command = command
	for frame, ms := range stacks {
		id := int32(len(rec.Frames))
		rec.Frames = append(rec.Frames, *frame)
		rec.Stacks = append(rec.Stacks, recording.Stack{Frames: []int32{id}})
		rec.Samples = append(rec.Samples, recording.Sample{Signal: recording.SignalCPU, Stack: id, Target: true,
			Count: ms, ValueNs: ms * 1e6})
	}
	return rec
}

func row(kind, name, version, place string) recording.Dependency {
	return recording.Dependency{Kind: kind, Name: name, Version: version, Place: place,
		Evidence: recording.SeenOpened}
}

func hashed(row recording.Dependency, hash string) recording.Dependency {
	row.Hash = hash
	return row
}

func installed(row recording.Dependency) recording.Dependency {
	row.Evidence = recording.SeenInstalled
	return row
}

func python(file string) *recording.Frame {
	return &recording.Frame{Kind: recording.KindPython, Name: "f", File: file}
}

// lines are the differences as people read them, with marks for what has grown and what follows.
func lines(list []Difference) string {
	var text []string
	for i := range list {
		line := list[i].String()
		if list[i].Grown {
			line += " grown"
		}
		if list[i].Follows != "" {
			line += " follows " + list[i].Follows
		}
		text = append(text, line)
	}
	return strings.Join(text, "; ")
}

func check(t *testing.T, a, b []*recording.Recording, facts []settings.FactChange, change float64,
	want string) []Difference {
	t.Helper()
	list := Find(a, b, facts, Weights{Metric: recording.MetricCPU, Change: change})
	if got := lines(list); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	return list
}

func twice(rec *recording.Recording) []*recording.Recording { return []*recording.Recording{rec, rec} }

func TestGrownFirst(t *testing.T) {
	runtime := row(recording.DependencyRuntime, "python", "3.11.7", "/usr/bin/python3")
	a := made("python3 report.py old", []recording.Dependency{runtime,
		row("python", "aaa", "1.0", "/p/old/aaa"), row("python", "tablereader", "3.1.0", "/p/old/tablereader"),
		row("python", "same", "1", "/p/old/same"), installed(row("python", "beside", "1", "/p/old")),
	}, map[*recording.Frame]int64{python("/p/old/tablereader/a.py"): 100, python("/p/old/aaa/a.py"): 50})
	b := made("python3 report.py new", []recording.Dependency{runtime,
		row("python", "aaa", "1.1", "/p/new/aaa"), row("python", "tablereader", "3.2.0", "/p/new/tablereader"),
		row("python", "same", "1", "/p/new/same"), installed(row("python", "beside", "2", "/p/new")),
	}, map[*recording.Frame]int64{python("/p/new/tablereader/a.py"): 300, python("/p/new/aaa/a.py"): 50})
	facts := []settings.FactChange{{Name: "vm.swappiness", A: "60", B: "10"},
		{Name: "target.environment.PYTHONPATH", A: "/p/old", B: "/p/new"},
		{Name: "target.library.libz.so", A: "aa", B: "bb"}, {Name: "tracers.bpf", A: "culprit-record ×50", B: "none"}}
	list := check(t, twice(a), twice(b), facts, 0.2, "tablereader 3.1.0 → 3.2.0 grown; aaa 1.0 → 1.1; "+
		"vm.swappiness 60 → 10; PYTHONPATH /p/old → /p/new follows tablereader; beside 1 → 2; "+
		"the command’s old → new follows tablereader")
	if Only(list) != nil {
		t.Error("three things differ")
	}
	if got := list[0].Through; got < 0.199 || got > 0.201 {
		t.Errorf("through %v s", got)
	}
}

func TestOneThing(t *testing.T) {
	a := made("x", []recording.Dependency{row("npm", "semver", "7.3.8", "/a/node_modules/semver")}, nil)
	b := made("x", []recording.Dependency{row("npm", "semver", "7.5.4", "/a/node_modules/semver")}, nil)
	list := check(t, twice(a), twice(b), nil, 1, "semver 7.3.8 → 7.5.4")
	if only := Only(list); only == nil || only.Name != "semver" {
		t.Errorf("%+v", list)
	}
	if list := check(t, twice(a), twice(a), nil, 1, ""); list == nil || Only(list) != nil {
		t.Error("that nothing differs is not that nothing is known")
	}
}

func TestBuilds(t *testing.T) {
	zlib := row("deb", "zlib1g", "1.3", "/lib/libz.so.1")
	program := row(recording.DependencyProgram, "bench", "", "/a/bench")
	a := made("/a/bench", []recording.Dependency{hashed(zlib, "aa"), hashed(program, "11"),
		row("deb", "libc6", "2.36", "/lib/libc.so.6")}, nil)
	program.Place = "/b/bench"
	b := made("/b/bench", []recording.Dependency{hashed(zlib, "bb"), hashed(program, "22"),
		row("deb", "libc6", "2.37", "/lib/libc.so.6")}, nil)
	check(t, twice(a), twice(b), nil, 1, "libc6 2.36 → 2.37; the program’s own bench; zlib1g (another build); "+
		"the command’s /a/bench → /b/bench follows bench")
}

// Go's linker puts another module into another build: the build says nothing more. What grew in a
// program without names is the one module's.
func TestLinkedIn(t *testing.T) {
	side := func(folder, version, hash string, ms int64) *recording.Recording {
		crate := recording.Dependency{Kind: recording.DependencyRust, Name: "semver", Version: version,
			Place: folder + "/bench", Evidence: recording.SeenBuiltIn, Packages: "semver"}
		return made(folder+"/bench", []recording.Dependency{crate,
			hashed(row(recording.DependencyProgram, "bench", "", folder+"/bench"), hash)},
			map[*recording.Frame]int64{{Kind: recording.KindNative, Name: "bench+0x10", Module: "bench",
				BuildID: hash}: ms})
	}
	a, b := twice(side("/a", "1.0.4", "11", 100)), twice(side("/b", "1.0.5", "22", 200))
	list := check(t, a, b, nil, 0.1, "semver 1.0.4 → 1.0.5 grown; the program’s own bench grown follows semver; "+
		"the command’s /a/bench → /b/bench follows bench")
	runs := Runs(a, b, list, &list[0])
	if !runs(&a[0].Frames[0]) || runs(&recording.Frame{Kind: recording.KindNative, Name: "write", Module: "libc.so.6"}) {
		t.Error("the program's own code is taken for that of the one crate that differs in it")
	}
}

// One run that did not meet a dependency, or that was made by an earlier culprit, is no difference.
func TestNotInAllRuns(t *testing.T) {
	lazy := row("npm", "ms", "2.0.0", "/n/node_modules/ms")
	base := row("npm", "semver", "7", "/n/node_modules/semver")
	with := made("x", []recording.Dependency{base, lazy}, nil)
	bare := made("x", []recording.Dependency{base}, nil)
	check(t, []*recording.Recording{with, bare}, twice(bare), nil, 1, "")
	check(t, twice(with), twice(bare), nil, 1, "ms 2.0.0 (only A)")
	old := made("x", nil, nil)
	check(t, twice(old), twice(with), []settings.FactChange{{Name: "kernel.release", A: "6.1", B: "6.18"},
		{Name: "target.library.libz.so.1", A: "aa", B: "bb"}}, 1, "libz.so.1 (another build); kernel.release 6.1 → 6.18")
}

// A run time comes in packages of the system and with modules: one difference.
func TestRunTime(t *testing.T) {
	side := func(version, packaged, hash string) []*recording.Recording {
		const place = "/usr/bin/python3.11"
		return twice(made("x", []recording.Dependency{row("deb", "python3.11-minimal", packaged, place),
			row(recording.DependencyRuntime, "python", version, place),
			hashed(row(recording.DependencyRuntime, "python modules", "3.11", "/usr/lib/python3.11/_b.so"), hash)}, nil))
	}
	check(t, side("3.11.2", "3.11.2-6", "aa"), side("3.11.9", "3.11.9-1", "bb"), nil, 1, "python 3.11.2 → 3.11.9")
}

func TestCommands(t *testing.T) {
	flags := func(a, b string) settings.FactChange {
		return settings.FactChange{Name: "target.runtime.java.flags", A: a, B: b}
	}
	variable := func(name, a, b string) settings.FactChange {
		return settings.FactChange{Name: "target.environment." + name, A: a, B: b}
	}
	for _, test := range []struct {
		a, b  string
		facts []settings.FactChange
		want  string
	}{
		{"CACHE=0 ./app --depth=3 -v table", "CACHE=1 ./app --depth=4 -v row extra",
			[]settings.FactChange{variable("CACHE", "0", "1")},
			"--depth 3 → 4; CACHE 0 → 1; the command’s table → row; the command’s extra (only B)"},
		{"TZ=UTC ./app", "env -u TZ ./app", nil, "TZ UTC (only A)"},
		// A run time that tells its options tells them once more.
		{"java -Xmx1g -cp x Main", "java -Xmx1g -Xshare:off -cp x Main",
			[]settings.FactChange{flags("-Xmx1g", "-Xmx1g -Xshare:off")}, "the command’s -Xshare:off (only B)"},
		{"java -Xmx1g -XX:G=1 Main", "java -XX:G=2 -Xmx1g Main", []settings.FactChange{
			flags("-Xmx1g -XX:G=1", "-XX:G=2 -Xmx1g")}, "-XX:G 1 → 2"},
		{"java -Xint -Xmx1g Main", "java -Xmx1g -Xint Main", nil, ""},
		{"./app 1 2", "./app 2 1", nil, "the command’s 1 (only A); the command’s 1 (only B)"},
		{"./start 1", "./start 1", []settings.FactChange{flags("-Xmx1g", "-Xmx1g -Xint")},
			"java options -Xint (only B)"},
		// Another option of the run time is another difference.
		{"java -Xint Main", "java Main", []settings.FactChange{flags("-Xint", "-Xmx2g")},
			"java options -Xint → -Xmx2g; the command’s -Xint (only A)"},
		{"python3 main.py", "python3 -X dev main.py", nil, "the command’s -X dev (only B)"},
		{"python3 -X utf8 main.py", "python3 -X dev main.py", nil, "the command’s utf8 → dev"},
		{"./app 'a b' c", "./app 'a c' c", nil, "the command’s b → c"},
		{`JAVA_TOOL_OPTIONS="-Xint -Xmx1g" java Main`, "java Main",
			[]settings.FactChange{variable("JAVA_TOOL_OPTIONS", "-Xint [cut]", "")},
			"JAVA_TOOL_OPTIONS -Xint [cut] (only A)"},
		{`A=1 ./x | env B='2 3' ./y`, `A=1 ./x | env B='2 4' ./y`, nil, "B 2 3 → 2 4"},
		{"env -i GODEBUG=x=1 ./app", "env -i GODEBUG=x=0 ./app",
			[]settings.FactChange{variable("GODEBUG", "x=1", "x=0")}, "GODEBUG x=1 → x=0"},
		{"./app 5", "nice -n 5 ./app 5", []settings.FactChange{{Name: "target.nice", A: "0", B: "5"}},
			"target.nice 0 → 5; nice -n 5 (only B) follows target.nice"},
		{"./app 5", "nice -n 5 ./app 6", nil, "nice -n 5 (only B); the command’s 5 → 6"},
	} {
		check(t, twice(made(test.a, nil, nil)), twice(made(test.b, nil, nil)), test.facts, 1, test.want)
	}
}

// Services that run already differ in how they were called, but for the ports that they answer at.
func TestRunningAs(t *testing.T) {
	side := func(command string, ports ...string) []*recording.Recording {
		group := twice(made("", nil, nil))
		for _, rec := range group {
			rec.Facts = append(rec.Facts, recording.Fact{Name: "target.command", Value: command})
			for _, port := range ports {
				rec.Services = append(rec.Services, recording.Service{Side: recording.SideServer, Service: "tcp port " + port})
			}
		}
		return group
	}
	for _, test := range []struct {
		a, b []*recording.Recording
		want string
	}{
		{side("python3 shop.py 8080 8", "8080"), side("python3 shop.py 8081 1", "8081"), "the command’s 8 → 1"},
		{side("./shop --listen=:8080", "8080"), side("./shop --listen=:8081", "8081"), ""},
		{side("./shop -p8080 18080", "8080"), side("./shop -p8081 18081", "8081"), "the command’s 18080 → 18081"},
		{side("./shop 8080"), side("./shop 8081"), "the command’s 8080 → 8081"}, // nobody saw it answer there
		{side("./shop 8080", "8080"), twice(made("", nil, nil)), ""},
		{append(side("./shop 1"), side("./shop 2")...), side("./shop 3"), ""}, // not the same in all
		{side("./shop 1"), twice(made("./shop 2", nil, nil)), ""},
	} {
		check(t, test.a, test.b, nil, 1, test.want)
	}
}

// Two variants under two names are one difference, which the names in the commands lead to.
func TestVariants(t *testing.T) {
	side := func(name, hash string, ms int64) []*recording.Recording {
		place := "/w/" + name
		return twice(made("./"+name+" 5", []recording.Dependency{row("deb", "libc6", "2", "/lib/libc.so.6"),
			hashed(row(recording.DependencyProgram, name, "", place), hash)},
			map[*recording.Frame]int64{{Kind: recording.KindNative, Name: "work", Module: name, BuildID: hash}: ms}))
	}
	list := check(t, side("fast", "11", 100), side("slow", "22", 200), nil, 0.1,
		"the program’s own fast → slow grown; the command’s ./fast → ./slow follows fast → slow")
	if Only(list) == nil {
		t.Error("one thing differs")
	}
}

// A package that only one side ran came with the other version that calls it; one that the program
// itself calls is a difference of its own.
func TestCameWith(t *testing.T) {
	stacks := func(folder string, below ...string) *recording.Recording {
		rows := []recording.Dependency{row("python", "tables", "1", folder+"/tables")}
		if folder == "/p/new" {
			rows[0].Version = "2"
			rows = append(rows, row("python", "clusters", "0.1", folder+"/clusters"))
		}
		rec := made("x", rows, nil)
		var stack []int32
		for i, file := range below {
			rec.Frames = append(rec.Frames, *python(folder + "/" + file))
			stack = append(stack, int32(i))
		}
		rec.Stacks = []recording.Stack{{Frames: stack}}
		rec.Samples = []recording.Sample{{Signal: recording.SignalCPU, Target: true, Count: 1, ValueNs: 1e8}}
		return rec
	}
	a := twice(stacks("/p/old", "main.py"))
	list := check(t, a, twice(stacks("/p/new", "main.py", "tables/a.py", "clusters/b.py")), nil, 0.1,
		"tables 1 → 2 grown; clusters 0.1 (only B) grown follows tables")
	if Only(list) == nil {
		t.Error("one thing differs, with what it brings")
	}
	check(t, a, twice(stacks("/p/new", "main.py", "clusters/b.py")), nil, 0.1,
		"clusters 0.1 (only B) grown; tables 1 → 2")
}

// A library of the system that one side alone loaded follows from the one thing that was chosen;
// beside two it may have come with either.
func TestLoaded(t *testing.T) {
	a := twice(made("x", []recording.Dependency{row("deb", "zlib1g", "1.3", "/lib/libz.so.1"),
		row("deb", "libc6", "2", "/lib/libc.so.6")}, nil))
	b := twice(made("x", []recording.Dependency{row("deb", "libc6", "2", "/lib/libc.so.6")}, nil))
	facts := []settings.FactChange{{Name: "target.environment.PURE", A: "0", B: "1"}}
	if list := check(t, a, b, facts, 1, "PURE 0 → 1; zlib1g 1.3 (only A) follows PURE"); Only(list) == nil {
		t.Error("one thing was chosen")
	}
	facts = append(facts, settings.FactChange{Name: "thp.enabled", A: "always", B: "never"})
	check(t, a, b, facts, 1, "zlib1g 1.3 (only A); PURE 0 → 1; thp.enabled always → never")
	check(t, a, b, nil, 1, "zlib1g 1.3 (only A)")
}

// Code that only one side ran is changed code where the program is the same.
func TestChangedOnOneSide(t *testing.T) {
	for _, program := range []string{"11", "22"} {
		a := made("x", []recording.Dependency{hashed(row(recording.DependencyProgram, "main.py", "", "/w/main.py"), "11")},
			map[*recording.Frame]int64{python("/w/main.py"): 1})
		b := made("x", []recording.Dependency{row("python", "clusters", "0.1", "/p/clusters"),
			hashed(row(recording.DependencyProgram, "main.py", "", "/w/main.py"), program)},
			map[*recording.Frame]int64{python("/p/clusters/b.py"): 1})
		marks, want := Changed(twice(a), twice(b))(b), "clusters 0.1 (only B)"
		if program == "22" {
			want = ""
		}
		if got := strings.Join(marks, ""); got != want {
			t.Errorf("program %s: %q, want %q", program, got, want)
		}
	}
}

// What lies on both sides in the same version and only one ran follows from the one thing that
// differs, with all that is linked into it; and so does the program of the environment that it is
// in.
func TestIdle(t *testing.T) {
	side := func(version string, ran bool) *recording.Recording {
		folder := "/r/" + version + "/lib/python3.11/site-packages/"
		rows := []recording.Dependency{row("python", "words", version, folder+"words"),
			installed(row("python", "fast", "2.14", folder+"fast"))}
		if ran {
			built := row("crate", "memchr", "2.6", folder+"fast/_fast.so")
			built.Evidence = recording.SeenBuiltIn
			rows = append(rows[:1], row("python", "fast", "2.14", folder+"fast"), built)
		}
		return made("/r/"+version+"/bin/python main.py", rows, nil)
	}
	list := check(t, twice(side("7", true)), twice(side("8", false)), nil, 1, "words 7 → 8; fast 2.14 (only A) follows "+
		"words; memchr 2.6 (only A) follows fast; the command’s /r/7/bin/python → /r/8/bin/python follows words")
	if Only(list) == nil {
		t.Error("one thing differs")
	}
	check(t, twice(side("7", true)), twice(side("7", true)), nil, 1, "")
}
