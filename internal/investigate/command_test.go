package investigate

import (
	"errors"
	"testing"

	"culprit/internal/cause"
)

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
			"A=1 taskset 0x3 nice -n 3 ./x"},
		{"several wrappers keep their order", "./x", "exec nice -n 3 taskset 1 ./x", head,
			"nice -n 3 taskset 1 ./x"},
		{"behind exec", "A=1 exec ./x", "taskset 1 ./x", confining, "A=1 exec taskset 1 ./x"},
		{"behind env, which clears what was set", "env -i A=1 ./x", "GOGC=9 ./x", variables,
			"env -i GOGC=9 A=1 ./x"},
		{"quotes, pipes and redirections stay", "GOGC=25 ./x 'a  b' 2>&1 | ./y \"$(date)\"", "./x",
			variables,
			"./x 'a  b' 2>&1 | ./y \"$(date)\""},
		{"a here-document stays", "GOGC=25 ./x <<E\nGOGC=25\nE", "./x", variables, "./x <<E\nGOGC=25\nE"},
		{"within a substitution", "./x $(GOGC=25 ./y)", "./x", variables, ""},
		{"behind another command", "./y; GOGC=25 ./x", "./x", variables, ""},
		{"a wrapper of a running process", "taskset -cp 0 77", "./x", confining, ""},
		{"all settings", "A=1 nice -n 3 ./x 5", "B=2 ./x 5", head, "B=2 ./x 5"},
		{"nothing at all", "", "./x", head, ""},
	} {
		got, from, to, err := restarted(each.command, each.other, each.flip)
		if got != each.want || (err == nil) != (each.want != "") {
			t.Errorf("%s: %q, %v; want %q", each.name, got, err, each.want)
		}
		if err == nil && (from == to || from == "" || to == "") {
			t.Errorf("%s: the levels are called %q and %q", each.name, from, to)
		}
	}
}

// A command that is not a simple one is not guessed at: the reason is told with the suspect.
func TestRestartedSaysWhyNot(t *testing.T) {
	variables := cause.Flip{What: cause.PartVariable}
	for _, each := range []struct{ command, other, want string }{
		{"(GOGC=25 ./x)", "./x", "start it with another variable: the command begins with a subshell"},
		{"GOGC=25 ./x", "for i in 1; do ./x; done", "start it with the other side's variable: the " +
			"command begins with a loop"},
		{"env $SETTINGS ./x", "./x", "start it with another variable: what $SETTINGS expands to may be " +
			"options of env"},
	} {
		_, _, _, err := restarted(each.command, each.other, variables)
		if err == nil || err.Error() != each.want {
			t.Errorf("%q: %v, want %q", each.command, err, each.want)
		}
	}
	if _, _, _, err := restarted("./x", "./x", variables); !errors.Is(err, errNoFlip) {
		t.Errorf("nothing to flip: %v", err)
	}
}
