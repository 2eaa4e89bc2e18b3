package ablate

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"culprit/internal/corpus"
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
	read := func(text string) verdicts {
		var list []corpus.Told
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Fatal(err)
		}
		told := verdicts{}
		for _, one := range list {
			told["verdicts "+one.Pair] = one
		}
		return told
	}
	before := read(`[{"pair": "lock-go", "suspects": [{"cause": "lock.contended", "place": "main.step"}]},
		{"pair": "sleep-node", "missed": "place x, want y", "suspects": [{"cause": "sleep.deliberate", "place": "x"}]},
		{"pair": "same-cpu-c", "outcome": "same"},
		{"pair": "gc-tree-go", "suspects": [{"cause": "runtime.gc", "place": "main.build"}]},
		{"pair": "chatty-read-c", "suspects": [{"cause": "syscall.chatty", "percent": 98, "place": "fill"}]}]`)
	after := read(`[{"pair": "lock-go", "missed": "first suspect code.grew",
			"suspects": [{"cause": "code.grew", "place": "main.step"}]},
		{"pair": "sleep-node", "suspects": [{"cause": "sleep.deliberate", "place": "y"}]},
		{"pair": "same-cpu-c", "outcome": "same"},
		{"pair": "gc-tree-go", "suspects": [{"cause": "runtime.gc", "place": "main.grow"}]},
		{"pair": "chatty-read-c", "suspects": [{"cause": "syscall.chatty", "percent": 97, "place": "fill"}]}]`)
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
