package shell

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// show writes a command so that a test can hold it in one line: head | words | after.
func show(c Command) string {
	var head []string
	for _, piece := range c.Head {
		head = append(head, fmt.Sprintf("%s(%s)", piece.Name, piece.Value()))
	}
	return strings.Join(head, " ") + "|" + strings.Join(texts(c.Words), "·") + "|" + c.After
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"./x":                                  "|./x|",
		`A=1 B='2 3' C="4 $D" ./x`:             "A(1) B(2 3) C(4 $D)|./x|",
		"A= ./x":                               "A()|./x|",
		"./x A=1":                              "|./x·A=1|",
		"nice -n5 ./x":                         "nice(-n5)|./x|",
		"nice -n 5 ./x 7":                      "nice(-n 5)|./x·7|",
		"nice 5":                               "nice()|5|",
		"taskset -c 0,1 ./x 5":                 "taskset(-c 0,1)|./x·5|",
		"taskset ff ./x":                       "taskset(ff)|./x|",
		"taskset -c $CPUS ./x":                 "taskset(-c $CPUS)|./x|",
		"'taskset' \"-c\" 0 ./x":               `taskset("-c" 0)|./x|`,
		"taskset -cp 0 $$":                     "|taskset·-cp·0·$$|",
		"chrt -f 50 ./x":                       "chrt(-f 50)|./x|",
		"chrt -b ./x 3":                        "chrt(-b)|./x·3|",
		"ionice -c2 -n 7 ./x":                  "ionice(-c2 -n 7)|./x|",
		"ionice -c idle ./x":                   "ionice(-c idle)|./x|",
		"ionice -c3 -p 12":                     "|ionice·-c3·-p·12|",
		"numactl -C 0,1 --membind 0 -- ./x -C": "numactl(-C 0,1 --membind 0 --)|./x·-C|",
		"setarch x86_64 -R ./x":                "setarch(x86_64 -R)|./x|",
		"setarch $(uname -m) -R ./x":           "setarch($(uname -m) -R)|./x|",
		"setarch -R ./x":                       "setarch(-R)|./x|",
		"prlimit --nofile=64:128 -n9 ./x":      "prlimit(--nofile=64:128 -n9)|./x|",
		"env -i A=1 -u ./x":                    "env(-i) A(1)|-u·./x|",
		"env -i -u HOME A=1 nice ./x":          "env(-i -u HOME) A(1) nice()|./x|",
		`env "A=1 2" ./x`:                      "env() A(1 2)|./x|",
		"env -S 'A=1 ./x'":                     "|env·-S·'A=1 ./x'|",
		"nice A=1 ./x":                         "nice()|A=1·./x|",
		"exec -a name ./x":                     "exec(-a name)|./x|",
		"exec nice -3 $JAVA Main":              "exec() nice(-3)|$JAVA·Main|",
		"export A=1 B; ./x":                    "export(B) A(1)||; ./x",
		"./x 2>&1 | ./y":                       "|./x| 2>&1 | ./y",
		"./x >out 5":                           "|./x| >out 5",
		"<in A=1 ./x":                          "A(1)|./x|",
		"A=1 ./x && B=2 ./y":                   "A(1)|./x| && B=2 ./y",
		"./x $(B=2 ./y) `C=3 ./z`":             "|./x·$(B=2 ./y)·`C=3 ./z`|",
		"A=1 ./x <<E\nB=2 ./y\nE\n":            "A(1)|./x| <<E\nB=2 ./y\nE\n",
		"./x a\\ b 'c d'\"e f\"":               "|./x·a\\ b·'c d'\"e f\"|",
		"./x <(./y)":                           "|./x·<(./y)|",
		"strace -f -o /dev/null ./x -o":        "strace(-f -o /dev/null)|./x·-o|",
		"perf stat -e a,b -- taskset 1 ./x":    "perf(stat -e a,b --) taskset(1)|./x|",
		"":                                     "no command is given",
		"# nothing":                            "no command is given",
		"(A=1 ./x)":                            "the command begins with a subshell",
		"{ ./x; }":                             "the command begins with a group",
		"if ./x; then ./y; fi":                 "the command begins with a condition",
		"for i in 1 2; do ./x; done":           "the command begins with a loop",
		"f() { ./x; }; f":                      "the command begins with a function",
		">out":                                 "the command begins with a redirection",
		"! ./x":                                "the command begins with !",
		"env $VARIABLES ./x":                   "what $VARIABLES expands to may be options of env",
		"nice `options` ./x":                   "what `options` expands to may be options of nice",
	} {
		command, err := Parse(text, "")
		got := show(command)
		if err != nil {
			got = err.Error()
		} else if again := command.Text(); len(command.Words) > 0 && again != text {
			t.Errorf("%q came together as %q", text, again)
		}
		if got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
	_, err := Parse(`./x "a`, "")
	if err == nil || !strings.HasPrefix(err.Error(), "sh cannot read the command: ") {
		t.Errorf("an open quote: %v", err)
	}
}

// The options of a tracer end where the other side's command begins.
func TestTracerEndsAtTheOtherCommand(t *testing.T) {
	for other, want := range map[string]string{
		"taskset 1 ./x 9": "perf(record --call-graph dwarf) taskset(1)|./x·9|",
		"./x 9":           "perf(record --call-graph dwarf taskset 1)|./x·9|",
		"./y":             "perf(record --call-graph)|dwarf·taskset·1·./x·9|",
		"(./x 9)":         "perf(record --call-graph)|dwarf·taskset·1·./x·9|",
	} {
		command, err := Parse("perf record --call-graph dwarf taskset 1 ./x 9", other)
		if got := show(command); err != nil || got != want {
			t.Errorf("beside %q: %q, %v; want %q", other, got, err, want)
		}
	}
}

func TestSettings(t *testing.T) {
	for text, want := range map[string]string{
		"./x  -a 1":                        "|./x -a 1",
		"GOGC=1 TZ='2' ./x":                "GOGC=1 TZ=2|./x",
		"env -i LANG=C nice -n 10 ./x >o":  "env=-i LANG=C nice=-n 10|./x >o",
		"export A=1; exec ./x":             "export= A=1 exec=|./x",
		"A=1\nexport A\n./x":               "A=1 export=A|./x",
		"export A=1 && ./x | ./y":          "export= A=1|./x | ./y",
		"taskset -cp 0 $$ >/dev/null; ./x": "taskset=-cp 0|./x",
		"A=1 || ./x":                       "A=1||| ./x",
		"A=1 | ./x":                        "A=1|| ./x",
		"A=1 & ./x":                        "A=1|& ./x",
		"taskset -cp 0 77; ./x":            "|taskset -cp 0 77; ./x",
		"cd /; A=1 ./x":                    "|cd /; A=1 ./x",
		"nice strace -c A=1 ./x":           "nice=|strace -c A=1 ./x",
		"(A=1 ./x)":                        "|(A=1 ./x)",
		"./x 'a  b'   \"c\"":               "|./x 'a  b' \"c\"",
		"./x \"a":                          "|./x \"a",
		"exec 3<x; ./y":                    "exec=|3<x; ./y",
		"":                                 "|",
	} {
		settings, rest := Settings(text)
		var list []string
		for _, piece := range settings {
			list = append(list, piece.Name+"="+piece.Value())
		}
		if got := strings.Join(list, " ") + "|" + rest; got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

// What env takes out is told where it does nothing else.
func TestUnsets(t *testing.T) {
	for command, want := range map[string][]string{
		"env -u TZ ./stamp": {"TZ"}, "env -uTZ --unset=LANG --unset LC_ALL ./stamp": {"TZ", "LANG", "LC_ALL"},
		"env ./stamp": nil, "env -C / -u TZ ./stamp": nil, "nice -n 5 ./stamp": nil, "TZ=UTC ./stamp": nil,
	} {
		pieces, _ := Settings(command)
		var got []string
		for _, piece := range pieces {
			got = append(got, piece.Unsets()...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: takes out %q, want %q", command, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"./x  -a '1' >log":                       "./x·-a·1·log",
		`A=1 B="x y" ./x | ./y "$HOME/a b"; ./z`: `A=1·B=x·y·./x·./y·"$HOME/a b"·./z`,
		`sh -c 'java "-Xint" Main' 5`:            "sh·-c·java·-Xint·Main·5",
		`"$A b"`:                                 `"$A b"`,
		"./x \"a b":                              `./x·"a·b`,
		"":                                       "",
	} {
		got := strings.Join(Words(text), "·")
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestDifferingWord(t *testing.T) {
	for _, each := range []struct{ a, b, want string }{
		{"./x --pool 8", "./x  --pool  2", "8 2"},
		{"A=1 ./x", "A=2 ./x", "A=1 A=2"},
		{"./x 'a b'", "./x 'a c'", "'a b' 'a c'"},
		{"./x | ./y 1", "./x | ./y 2", "1 2"},
		{"./x >a", "./x >b", "a b"},
		{"./x 1; ./y", "./x 2 && ./y", ""},
		{"./x 1 2", "./x 2 1", ""},
		{"./x", "./x 1", ""},
		{"./x", "./x", ""},
		{"./x \"", "./y \"", ""},
	} {
		a, b, ok := DifferingWord(each.a, each.b)
		got := a + " " + b
		if !ok {
			got = ""
		}
		if got != each.want {
			t.Errorf("%q against %q: %q, want %q", each.a, each.b, got, each.want)
		}
	}
}

func TestQuote(t *testing.T) {
	for _, words := range [][]string{
		{"./x", "a b"}, {"it's", "$HOME", "`ls`"}, {"A=1", ""}, {"if", "a\nb"},
	} {
		command, err := Parse(Join(words), "")
		if err != nil || len(command.Words) != len(words) {
			t.Fatalf("%q: %q, %v", words, Join(words), err)
		}
		for i, word := range command.Words {
			if word.Value != words[i] {
				t.Errorf("%q became %q", words[i], word.Value)
			}
		}
	}
	for _, changed := range []string{"a b", "$(x)", "a'b", `a\b`, "a;b", "", "if", "~", "a=b"} {
		if IsPlain(changed) {
			t.Errorf("%q is called plain", changed)
		}
	}
	if got := Join([]string{"./x", "-a", "5", "b,c"}); got != "./x -a 5 'b,c'" {
		t.Errorf("plain words: %q", got)
	}
}

// Whatever is typed, taking it apart ends, and putting it together again loses no word.
func FuzzParse(f *testing.F) {
	f.Add("A=1 nice -n 5 strace -o x ./y -z", "./y -z")
	f.Add(`"'\`, "")
	f.Fuzz(func(t *testing.T, text, other string) {
		Settings(text)
		DifferingWord(text, other)
		command, err := Parse(text, other)
		if err != nil || len(command.Words) == 0 {
			return
		}
		again, err := Parse(command.Text(), other)
		if err != nil || show(again) != show(command) {
			t.Errorf("%q became %q: %v", text, command.Text(), err)
		}
	})
}
