package investigate

import (
	"testing"

	"culprit/internal/cause"
)

func TestCommandsComeTogetherAgain(t *testing.T) {
	for _, command := range []string{"./x", "A=1 B='2 3' nice -n 5 ./x --y z",
		`JAVA_TOOL_OPTIONS="-Xmx42m -Xss1m" java -cp a Main`, "strace -f -o /dev/null ./x 1", "./a | ./b",
		"taskset -cp 0 $$; ./x 2>&1 | ./y", "export A=1; ./x", `sh -c "echo \$\$; exec ./x"`, `./x a\ b`, "true"} {
		if got := parseCommand(command, "").text(); got != command {
			t.Errorf("%q became %q", command, got)
		}
	}
}

func TestRestarted(t *testing.T) {
	variables := cause.Flip{What: cause.PartVariable, Names: []string{"GOGC", "JAVA_TOOL_OPTIONS"}}
	options, tracer := cause.Flip{What: cause.PartOption}, cause.Flip{What: cause.PartTracer}
	confining := cause.Flip{What: cause.PartWrapper, Names: []string{"taskset"}}
	head := cause.Flip{What: cause.PartHead}
	for _, each := range []struct {
		name, command, other string
		flip                 cause.Flip
		want                 string // "" for nothing to flip
	}{
		{"a variable that the other side has not", "GOGC=25 ./x 9", "./x 9", variables, "./x 9"},
		{"one of another value", "GOGC=25 X=1 ./x 9", "GOGC=100 ./x 8", variables, "GOGC=100 X=1 ./x 9"},
		{"quoted", `JAVA_TOOL_OPTIONS="-Xmx42m -Xss1m" java M`, `JAVA_TOOL_OPTIONS="-Xmx1g" java M`, variables,
			`JAVA_TOOL_OPTIONS="-Xmx1g" java M`},
		{"exported", "export GOGC=25; ./x", "./x", variables, ""},
		{"another variable", "X=1 ./x", "./x", variables, ""},
		{"within a word of the program", "./x GOGC=25", "./x", variables, ""},
		{"options of a run time", "java -Xint -cp a Main 5", "java -cp a Main 5", options, "java -cp a Main 5"},
		{"options of different programs", "node --jitless a.js", "node20 a.js", options, ""},
		{"options without another side", "java -Xint Main", "", options, ""},
		{"strace around the other command", "strace -f -c -o /dev/null ./x 9", "./x 9", tracer, "./x 9"},
		{"strace, other arguments", "strace -fc -o /dev/null ./x 9", "./x 8", tracer, "./x 9"},
		{"perf", "perf stat -e cs,cs -- taskset -c 1 ./x", "taskset -c 1 ./x", tracer, "taskset -c 1 ./x"},
		{"no tracer", "./strace 9", "./x 9", tracer, ""},
		{"a tracer of the other side is not taken over", "./x 9", "strace ./x 9", tracer, ""},
		{"taskset", "taskset -c 0 ./x 9", "./x 9", confining, "./x 9"},
		{"taskset among others", "A=1 nice -n 3 taskset 0x1 ./x", "taskset 0x3 ./x", confining,
			"taskset 0x3 A=1 nice -n 3 ./x"},
		{"all settings", "A=1 nice -n 3 ./x 5", "B=2 ./x 5", head, "B=2 ./x 5"},
		{"nothing at all", "", "./x", head, ""},
	} {
		got, from, to, ok := restarted(each.command, each.other, each.flip)
		if got != each.want || ok != (each.want != "") {
			t.Errorf("%s: %q, want %q", each.name, got, each.want)
		}
		if ok && (from == to || from == "" || to == "") {
			t.Errorf("%s: the levels are called %q and %q", each.name, from, to)
		}
	}
}

// Whatever is typed, taking it apart ends, and loses no word.
func FuzzParseCommand(f *testing.F) {
	f.Add("A=1 nice -n 5 strace -o x ./y -z", "./y -z")
	f.Add(`"'\`, "")
	f.Fuzz(func(t *testing.T, command, other string) {
		text := parseCommand(command, other).text()
		words, tail := splitWords(command)
		again, tailAgain := splitWords(text)
		if len(words) > 0 && (len(again) != len(words) || tail != tailAgain) {
			t.Errorf("%q became %q", command, text)
		}
	})
}
