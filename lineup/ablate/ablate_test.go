package ablate

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

const example = `package cause

import "time"

const (
	leastShare = 0.2
	longest = 4 * time.Second
	fewest, pages = 3, 1 << 20
	none = 0
	half = leastShare / 2
	title = "text"
)

const (
	first = iota
	second
)

type Rule string

type transfer struct {
	rule, because Rule
	apply         func(*int, string) (bool, error)
}

var transfers = []transfer{
	{"queue after a wait", "", queue},
	{rule: "code", apply: func(*int, string) (bool, error) { return true, nil }},
	{rule: "none"},
}

var clockNames = []string{"time.Now", "nanoTime"}

func finders() []func() { return []func(){transfers[0].apply, nil} }

func list() []string {
	const shown = 12
	return []string{"no table"}[:shown]
}
`

// parsed reads sources as if they stood in files of one package.
func parsed(t *testing.T, texts ...string) (sources []source) {
	for _, text := range texts {
		files := token.NewFileSet()
		syntax, err := parser.ParseFile(files, "a.go", text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, source{"a.go", text, syntax, files})
	}
	return sources
}

func TestFind(t *testing.T) {
	const nothing = "func(*int, string) (_ bool, _ error) { return }"
	want := []string{
		"threshold cause.leastShare -25 %: ((0.2) * 3 / 4.0)",
		"threshold cause.leastShare +25 %: ((0.2) * 5 / 4.0)",
		"threshold cause.longest -25 %: ((4 * time.Second) / 4 * 3)",
		"threshold cause.longest +25 %: ((4 * time.Second) / 4 * 5)",
		"threshold cause.fewest -25 %: ((3) -1)",
		"threshold cause.fewest +25 %: ((3) +1)",
		"threshold cause.pages -25 %: ((1 << 20) / 4 * 3)",
		"threshold cause.pages +25 %: ((1 << 20) / 4 * 5)",
		"threshold cause.half -25 %: ((leastShare / 2) * 3 / 4.0)",
		"threshold cause.half +25 %: ((leastShare / 2) * 5 / 4.0)",
		`rule cause.transfers {"queue after a wait", "", queue} off: ` + nothing,
		`rule cause.transfers {rule: "code", apply: func(*int, string) (bool, error) { ret… off: ` + nothing,
		`rule cause.transfers {rule: "none"} off: `,
		`name cause.clockNames "time.Now" off: `,
		`name cause.clockNames "nanoTime" off: `,
		"rule cause.finders transfers[0].apply off: ",
		"rule cause.finders nil off: ",
		"threshold cause.shown -25 %: ((12) / 4 * 3)",
		"threshold cause.shown +25 %: ((12) / 4 * 5)",
	}
	var got []string
	for _, v := range find(parsed(t, example)) {
		got = append(got, v.String()+": "+v.with)
		changed := example[:v.start] + v.with + example[v.end:]
		if _, err := parser.ParseFile(token.NewFileSet(), "a.go", changed, 0); err != nil {
			t.Errorf("%s makes no Go of it: %v", v, err)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestChanges(t *testing.T) {
	read := func(text string) map[string]string {
		verdicts := map[string]string{}
		readVerdicts(verdicts, text, "verdicts")
		return verdicts
	}
	before := read("lock-go: worse wall\n  lock.contended 90 % explains at main.step\n" +
		"sleep-node: worse wall (missed: place x, want y)\n  sleep.deliberate 80 % explains at x\n" +
		"same-cpu-c: same cpu\n" +
		"gc-tree-go: worse cpu\n  runtime.gc 99 % explains at main.build\n" +
		"chatty-read-c: worse cpu\n  syscall.chatty 98 % explains at fill\n")
	after := read("lock-go: worse wall (missed: first suspect code.grew)\n  code.grew 90 % explains at main.step\n" +
		"sleep-node: worse wall\n  sleep.deliberate 80 % explains at y\n" +
		"same-cpu-c: same cpu\n" +
		"gc-tree-go: worse cpu\n  runtime.gc 99 % explains at main.grow\n" +
		"chatty-read-c: worse cpu\n  syscall.chatty 97 % observed at fill\n")
	var got []string
	r := Result{Variant: Variant{Kind: Rule, Of: "cause.x", How: "off"}, Changes: changes(before,
		after)}
	for _, change := range r.Changes {
		got = append(got, change.How+" "+change.Pair)
	}
	want := []string{"wrong verdicts lock-go", "mended verdicts sleep-node",
		"first verdicts gc-tree-go", "else verdicts chatty-read-c"}
	if !slices.Equal(got, want) {
		t.Errorf("changes %q, want %q", got, want)
	}
	if text := r.String(); text != "rule cause.x off: 1 wrong, 1 mended, 1 first, 1 else (verdicts lock-go)" {
		t.Error(text)
	}
}

func TestOverlay(t *testing.T) {
	folder := t.TempDir()
	v := find(parsed(t, example))[0]
	v.file = "no-such-file.go"
	if _, err := v.overlay(folder); err == nil {
		t.Error("a file that is gone is no error")
	}
}
